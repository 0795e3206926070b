#!/usr/bin/env bats
# wav: sound files through libsndfile.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2046,SC2154 # lists of numbers; common.bash sets the names
load common

setup() {
    common_setup
    [[ ${LDFLAGS-} != *-static* ]] || skip "a static program loads no library"
}

# wav RATE CHANNELS SAMPLE...: a file of 16 bits on standard output.
wav() {
    perl -e '
        my ($rate, $channels, @samples) = @ARGV;
        my $data = pack("s<*", @samples);
        binmode STDOUT;
        print "RIFF", pack("V", 36 + length $data), "WAVEfmt ",
            pack("VvvVVvv", 16, 1, $channels, $rate, 2 * $channels * $rate, 2 * $channels, 16),
            "data", pack("V", length $data), $data;
    ' -- "$@"
}

@test "wav is what s16 is of its samples, whole, in slices, skipped and cycled" {
    wav 16000 1 $(seq -8000 3 8000) >a.wav
    perl -e 'print pack("s<*", @ARGV)' -- $(seq -8000 3 8000) >a.s16
    local how
    for how in "" "--axis=1:512:128:384" "-n 30 --emit=all" "--axis=1 --rate=16000"; do
        # shellcheck disable=SC2086 # several options
        irrun "$data/vad.xml" -i s16:a.s16 --partial=pad $how -o csv:want
        # shellcheck disable=SC2086
        irrun "$data/vad.xml" -i a.wav --partial=pad $how -o csv:got
        cmp want got
    done
    irrun "$data/vad.xml" -i s16:a.s16 --partial=pad -o csv:want
    irrun "$data/vad.xml" -i wav:- --partial=pad -o csv:- <a.wav | cmp - want
    printf 'a\ta.wav\nb\twav:a.wav\n' >list
    irrun "$data/vad.xml" --manifest=list --partial=pad -o %k.csv
    cmp a.csv want
    cmp b.csv want
}

@test "other files that libsndfile reads" {
    wav 16000 1 $(seq -8000 3 8000) >a.wav
    irrun "$data/vad.xml" -i a.wav --partial=pad -o csv:want
    sox a.wav a.flac
    sox a.wav a.aiff
    irrun "$data/vad.xml" -i a.flac --partial=pad -o csv:- | cmp - want
    irrun "$data/vad.xml" -i wav:a.aiff --partial=pad -o csv:- | cmp - want
}

@test "channels are averaged, or kept where the last dimension is theirs" {
    wav 8000 2 8192 16384 -8192 0 0 0 >a.wav
    [ "$(irrun "$data/sum.xml" -i a.wav -o csv:- | lines)" = "0.375 0.25 0.25" ]
    [ "$(irrun "$data/twice.xml" -i a.wav -o csv:- | lines)" = "0.5,1 -0.5,0 0,0" ]
    [ "$(irrun "$data/twice_open.xml" -i a.wav --axis=0:3 -o csv:- | lines)" = "0.5,1 -0.5,0 0,0" ]
}

@test "a truncated file, and one from a pipe, which has no length" {
    wav 16000 1 $(seq 1000) >a.wav
    head -c 1044 a.wav >cut.wav
    answered 65 "cut.wav: byte 1044: error: the file is truncated: 1000 of the 2000 bytes of its samples are missing" \
        "it ends after 1044 of 2044 bytes: was a copy interrupted? sox cut.wav rest.wav saves what is there" \
        "$data/sum.xml" -i cut.wav -o csv:-
    sox cut.wav rest.wav 2>sox.log
    [ "$(irrun "$data/sum.xml" -i rest.wav -o csv:- | wc -l)" -eq 500 ]
    # With a chunk of an odd length before the samples.
    { head -c 36 a.wav && printf 'note\3\0\0\0abc\0' && tail -c +37 a.wav; } >note.wav
    [ "$(irrun "$data/sum.xml" -i note.wav -o csv:- | wc -l)" -eq 1000 ]
    head -c 1055 note.wav >cut.wav
    refused 65 "byte 1055: error: the file is truncated: 1001 of the 2000 bytes" "$data/sum.xml" -i cut.wav -o csv:-
    local length
    for length in '\377\377\377\377' '\0\360\377\177' '\0\0\0\200'; do
        # shellcheck disable=SC2059 # bytes
        { head -c 40 a.wav && printf "$length" && tail -c +45 a.wav; } >piped.wav
        [ "$(irrun "$data/sum.xml" -i piped.wav -o csv:- | wc -l)" -eq 1000 ]
    done
    sox a.wav -t wav - 2>sox.log | cat >piped.wav
    [ "$(irrun "$data/sum.xml" -i piped.wav -o csv:- | wc -l)" -eq 1000 ]
}

@test "a truncated RF64, whose lengths may be beyond 4 GB" {
    wav 16000 1 $(seq 1000) >a.wav
    perl -e '
        local $/;
        my $wav = <STDIN>;
        binmode STDOUT;
        print "RF64", pack("V", 0xffffffff), "WAVEds64", pack("VQ<Q<Q<V", 28, 2072, $ARGV[0], 1000, 0),
            substr($wav, 12, 28), pack("V", 0xffffffff), substr($wav, 44);
    ' 2000 <a.wav >long.wav
    [ "$(irrun "$data/sum.xml" -i long.wav -o csv:- | wc -l)" -eq 1000 ]
    head -c 1080 long.wav >cut.wav
    refused 65 "byte 1080: error: the file is truncated: 1000 of the 2000 bytes" "$data/sum.xml" -i cut.wav -o csv:-
}

@test "truncated AIFF and Ogg" {
    wav 16000 1 $(seq 20000) >a.wav
    sox a.wav a.aiff
    sox a.wav a.ogg
    local i n rest='was a copy interrupted? sox cut.ogg rest.wav saves what is there'
    n=$(stat -c %s a.aiff)
    head -c $((n - 999)) a.aiff >cut.aiff
    answered 65 "cut.aiff: byte $((n - 999)): error: the file is truncated: 999 of the 40008 bytes of its samples are missing" \
        "it ends after $((n - 999)) of $n bytes: was a copy interrupted? sox cut.aiff rest.wav saves what is there" \
        "$data/sum.xml" -i wav:cut.aiff -o csv:-
    sox a.wav -t aiff - 2>sox.log | cat >piped.aiff
    [ "$(irrun "$data/sum.xml" -i wav:piped.aiff -o csv:- | wc -l)" -eq 20000 ]

    n=$(stat -c %s a.ogg)
    [ "$(irrun "$data/sum.xml" -i a.ogg -o csv:- | wc -l)" -eq 20000 ]
    # In the last page, in its head, in another page.
    i=$(LC_ALL=C grep -abo OggS a.ogg | tail -n 1 | cut -d : -f 1)
    for i in 1 100 $((n - i - 20)) $((n / 2)); do
        head -c $((n - i)) a.ogg >cut.ogg
        answered 65 "cut.ogg: byte $((n - i)): error: the file is truncated: its last Ogg page is not complete" \
            "$rest" "$data/sum.xml" -i cut.ogg -o csv:-
    done
    # The last page need not say that it is the last.
    cp "$root/models/speech_watch/minute.ogg" .
    head -c "$(LC_ALL=C grep -abo OggS minute.ogg | tail -n 1 | cut -d : -f 1)" minute.ogg >live.ogg
    [ "$(irrun "$data/sum.xml" -i live.ogg -o csv:- | wc -l)" -gt 900000 ]
    { cat a.ogg && head -c 128 /dev/zero; } >tag.ogg # a tag behind the stream
    [ "$(irrun "$data/sum.xml" -i tag.ogg -o csv:- | wc -l)" -eq 20000 ]
}

@test "--rate without --axis: the samples of a record count" {
    wav 16000 1 $(seq 1024) >a.wav
    wav 8000 2 $(seq 16) >two.wav
    perl -e 'print pack("s<*", @ARGV)' -- $(seq 1024) >a.s16
    # frames RATE ARGUMENT...: of all records, from the real-time factor.
    frames() {
        irrun "${@:2}" --rate="$1" -o none: --report=- |
            jq "(.latency_s.mean * .run.iterations * $1 / .throughput.real_time_factor) | round"
    }
    [ "$(frames 16000 "$data/vad.xml" -i a.wav)" -eq 1024 ]
    [ "$(frames 16000 "$data/vad.xml" -i a.wav --axis=1)" -eq 1024 ]
    [ "$(frames 16000 "$data/vad.xml" -i s16:a.s16)" -eq 1024 ]
    [ "$(frames 8000 "$data/sum.xml" -i two.wav)" -eq 8 ]
    [ "$(frames 8000 "$data/twice.xml" -i two.wav)" -eq 8 ]
    answered 65 "a.wav: error: has 16000 samples a second, but --rate=8000" \
        "--rate is what the model expects; sox a.wav -r 8000 other.wav converts the file" \
        "$data/vad.xml" -i a.wav --rate=8000 -o none:
    answered 65 "but --rate=16" "--rate counts samples a second: 16 kHz is --rate=16000" "$data/vad.xml" -i a.wav --rate=16
    answered 65 "but --rate=44.1" "--rate counts samples a second: 44.1 kHz is --rate=44100" "$data/vad.xml" -i a.wav --rate=44.1
}

@test "what is refused" {
    wav 8000 2 1 2 3 4 >a.wav
    refused 65 "a.wav: error: has 8000 samples a second, but --rate=16000" \
        "$data/vad.xml" -i a.wav --axis=1 --rate=16000 -o none:
    [[ $stderr == *"sox a.wav -r 16000 other.wav"* ]]
    refused 65 'has 2 channels, which must be the last dimension, but input "x" is [2,?]' \
        "$data/twice_axis.xml" -i a.wav --axis=1:1 -o none:
    cp a.wav "b c.wav"
    answered 65 "has 2 channels" "sox 'b c.wav' -c 1 mono.wav joins the channels" "$data/twice_axis.xml" -i "b c.wav" --axis=1:1 -o none:
    refused 65 'but wav gives numbers from -1 to 1' "$data/twice_i32.xml" -i a.wav -o none:
    echo 1 >b.wav
    local format
    for format in '' wav:; do
        answered 65 "b.wav: error: is not a sound file that libsndfile reads: " "-i s16:FILE reads raw samples of 16 bits" \
            "$data/vad.xml" -i "${format}b.wav" -o none:
        [[ ${stderr%%$'\n'*} != *. ]]
    done
    : >empty.wav
    refused 65 "empty.wav: error: is empty; a wav file was expected" "$data/vad.xml" -i empty.wav -o none:
    refused 66 "c.wav: error: cannot be opened" "$data/vad.xml" -i c.wav -o none:
    refused 2 "wav is read from files, not from a pipe" "$data/vad.xml" -i wav:- -o none: < <(cat a.wav)
    [[ $stderr == *"sox FILE.wav -r RATE -c 1 -t s16 - | irrun MODEL.xml -i s16:-"* ]]
    refused 2 "wav is read from files" "$data/vad.xml" -i wav:- -o none: --rate=16000 < <(cat a.wav)
    [[ $stderr == *"hint: sox FILE.wav -r 16000 -c 1 -t s16 - | irrun MODEL.xml -i s16:-" ]]
    sox a.wav -r 16000 -c 1 -t s16 - | irrun "$data/vad.xml" -i s16:- -o none: --rate=16000 --partial=pad
}

@test "-v says the rate and the channels of a sound" {
    sox -R -n -r 8000 -c 2 two.wav synth 0.1 sine 440
    irrun "$data/vad.xml" -i two.wav --partial=pad -o none: -v 2>said
    grep -q 'from two.wav, record by record, 8000 samples a second, 2 channels averaged$' said
}

@test "wav is written with --rate, and read back" {
    printf '%s\n' '0.5 0.25' '-1 0' '0.125 1' >x.csv
    irrun "$data/twice.xml" -i x.csv -o y.wav --rate=8000
    [ "$(soxi -r y.wav) $(soxi -c y.wav) $(soxi -s y.wav) $(soxi -e y.wav)" = "8000 1 6 Floating Point PCM" ]
    [ "$(irrun "$data/sum.xml" -i y.wav --reset -o csv:- | lines)" = "1 0.5 -2 0 0.25 2" ]
    irrun "$data/twice_open.xml" -i x.csv --shape=x=3,2 -o y.wav --rate=8000
    [ "$(soxi -c y.wav) $(soxi -s y.wav)" = "2 3" ]
    irrun "$data/twice_open.xml" -i x.csv --shape=x=1,2 -o y.wav --rate=8000
    [ "$(soxi -c y.wav) $(soxi -s y.wav)" = "1 6" ]
    answered 2 "y.wav: a wav file needs the samples per second" "add --rate=HZ" "$data/twice.xml" -i x.csv -o y.wav
    usage_error "wav cannot be written to standard output" "$data/twice.xml" -i x.csv -o wav:- --rate=8000
    usage_error "npz cannot be written to standard output" "$data/twice.xml" -i x.csv -n 0 -o npz:-
    usage_error "the rate of a wav file is a whole number" "$data/twice.xml" -i x.csv -o z.wav --rate=0.5
    usage_error "--rate counts frames along --axis" "$data/twice.xml" -i x.csv -o none: --rate=8000
    npy '<f4' '2, 1, 2' 1 2 3 4 >three.npy
    refused 2 'but a wav file takes [frames], [1,frames] or [frames,channels]' "$data/twice_any.xml" -i three.npy -o z.wav --rate=1
    [ ! -e z.wav ]
    nothing_left
}

@test "without libsndfile" {
    wav 8000 1 1 2 >a.wav
    cat >none.c <<'END'
#include <stddef.h>
#include <string.h>
void *dlopen(const char *name, int flags);
void *dlopen(const char *name, int flags)
{
    (void)name, (void)flags;
    return NULL;
}
END
    [[ ${BUILD-} != *sanitize* ]] || skip "sanitizers come before any preloaded library"
    ${CC:-cc} -shared -fPIC -o none.so none.c
    LD_PRELOAD=$PWD/none.so run_apart irrun "$data/twice.xml" -i a.wav -o none:
    [ "$status" -eq 71 ]
    [[ $stderr == *"cannot load libsndfile, which reads a.wav: libsndfile.so.1"* ]]
    [[ $stderr == *"libsndfile1 on Debian"*"sox a.wav -t f32 - | irrun ... -i raw:-"* ]]
    LD_PRELOAD=$PWD/none.so irrun "$data/twice.xml" --random -o none:
}
