#!/usr/bin/env bats
# raw bytes that are not what they are read as, and s16: raw audio of 16 bits.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    cp "$data"/vad.* .
    # 32 chunks of 512 samples of sound between as much silence.
    sox -R -n -r 16000 -c 1 -b 16 a.wav synth 1.024 sine 440 vol 0.5 pad 1.024 1.024
    sox a.wav a.s16
    sox a.wav -t f32 a.f32
    looks='if it is 16-bit audio, try' takes='--raw-check=never accepts the bytes as they are'
}

# s16 SAMPLE...: on standard output.
s16() {
    perl -e 'binmode STDOUT; print pack("s<*", @ARGV)' -- "$@"
}

# The model twice.xml with its input and output of another type.
twice_of() { # TYPE
    sed "s/element_type=\"f32\"/element_type=\"$1\"/" "$data/copy.xml" >copy.xml
}

# refused_raw BYTE NUMBER HINT ARGUMENT...
refused_raw() {
    answered 65 "byte $1: error: input \"x\": the number here is $2" "$3" "$data/twice.xml" "${@:4}"
}

@test "s16 is audio of 16 bits: what sox makes f32 of it" {
    irrun vad.xml -i raw:a.f32 -o csv:- >want
    irrun vad.xml -i s16:a.s16 -o csv:- | cmp - want
    sox a.wav -t s16 - | irrun vad.xml -i s16:- --axis=1:512 -o csv:- | cmp - want
    [ "$(wc -l <want)" -eq 96 ]
    s16 0 1 -32768 32767 | irrun "$data/twice.xml" -i s16:- -o csv:- >got
    [ "$(cat got)" = "0,6.1035156e-05
-2,1.999939" ]
}

@test "s16 goes wherever raw goes" {
    irrun vad.xml -i raw:a.f32 -o csv:want
    irrun vad.xml -i raw:a.f32 -n 200 -o csv:want200 --emit=all
    printf 'u\tx=s16:a.s16\nv\ts16:a.s16\n' >list
    irrun vad.xml --manifest=list --jobs=2 -o csv:%k.csv
    cmp u.csv want
    cmp v.csv want
    irrun vad.xml -i s16:a.s16 -n 200 -o csv:got --emit=all # cycles
    cmp got want200
    irrun vad.xml -i s16:a.s16 -o csv:got --checkpoint=ck --checkpoint-every=10
    cmp got want
    irrun vad.xml -i s16:/dev/stdin -o csv:- <a.s16 | cmp - want
    irrun vad.xml -i s16:a.s16 --expect=csv:want
    # A first value for --feed, and what --expect compares with.
    s16 16384 >x
    [ "$(irrun "$data/sum.xml" -i s16:x --feed=sum=x -n 2 --emit=all -o csv:- | lines)" = "0.5 1" ]
    npy '<f4' '2,' 0.25 -0.5 >half.npy
    s16 16384 -32768 >x
    irrun "$data/twice.xml" -i half.npy --expect=s16:x
    usage_error "format s16 is only for inputs" "$data/twice.xml" --random -o s16:y
    usage_error "s16 does not hold one number per record" "$data/sum.xml" --random --reset=if:go -i go=s16:x
}

@test "s16 that ends early, or is not s16" {
    s16 1 2 3 >x
    answered 65 "x: error: ends 1 number into record 1, which takes 2" \
        "--partial=pad pads the last record with zeros, --partial=drop drops it" "$data/twice.xml" -i s16:x -o none:
    [ "$(irrun "$data/twice.xml" -i s16:x -o csv:- --partial=pad | wc -l)" -eq 2 ]
    [ "$(irrun "$data/twice.xml" -i s16:x -o csv:- --partial=drop | wc -l)" -eq 1 ]
    printf '\1' >>x
    answered 65 "x: byte 7: error: the input ends inside a sample: its number of bytes is odd" \
        "s16 is raw 16-bit audio, little-endian, without a header" "$data/twice.xml" -i s16:x -o none:
    answered 65 "a.wav: byte 0: error: is a sound file with a header, not s16" \
        "read it as wav:a.wav" \
        vad.xml -i s16:a.wav -o none:
    run_apart irrun vad.xml -i s16:- -o none: < <(cat a.wav)
    [ "$status" -eq 65 ]
    [[ $stderr == *"standard input: byte 0: error: is a sound file with a header, not s16"* ]]
    local head
    for head in 'OggS\0\02..........' 'fLaC\0\0\0\042' 'FORM\0\0\0\020AIFFCOMM'; do
        printf '%b' "$head" >a.sound
        answered 65 "a.sound: byte 0: error: is a sound file with a header, not s16" \
            "read it as wav:a.sound" vad.xml -i s16:a.sound --partial=pad
    done
    seq 30 >lines
    answered 65 "lines: byte 0: error: is text, not s16" "if it holds numbers, read it as csv:lines" vad.xml -i s16:lines --partial=pad
    answered 65 "standard input: byte 0: error: is text, not s16" "if it holds numbers, read it as csv:-" \
        vad.xml -i s16:- --partial=pad < <(cat lines)
    gzip -nk a.s16
    answered 65 "is compressed with gzip, not s16" "gunzip -c a.s16.gz | irrun ... -i s16:-" vad.xml -i s16:a.s16.gz
}

@test "s16 for inputs of other types" {
    local type
    s16 16384 -8192 >x
    for type in f64 f16 bf16; do
        twice_of $type
        [ "$(irrun copy.xml -i a=s16:x --shape=a=2 --random --shape=fresh=1 -o a=csv:- --cast=any)" = "0.5,-0.25" ]
    done
    [ "$(twice_of f64 && irrun copy.xml -i a=s16:x --shape=a=2 --random --shape=fresh=1 -o a=csv:-)" = "0.5,-0.25" ]
    twice_of f16
    refused 65 'input "in_a" is f16, but this array is f32' copy.xml -i a=s16:x --shape=a=2 --random --shape=fresh=1
    for type in i16 i32 u8 boolean; do # --cast=any would make zeros of them
        twice_of $type
        refused 65 "x: error: input \"in_a\" is $type, but s16 gives numbers from -1 to 1" \
            copy.xml -i a=s16:x --shape=a=2 --random --shape=fresh=1 --cast=any
        [ $type != i16 ] || [[ $stderr == *"hint: raw:x reads the samples unchanged" ]]
        [ $type = i16 ] || [[ $stderr == *'numpy.fromfile("x", "<i2").astype(TYPE)'* ]]
    done
    twice_of i16
    [ "$(irrun copy.xml -i a=raw:x --shape=a=2 --random --shape=fresh=1 -o a=csv:-)" = "16384,-8192" ]
}

@test "16-bit audio that is read as f32 is refused, and s16 named" {
    local type
    answered 65 'a.s16: byte 4: error: input "x": the number here is nan, read as f32' \
        "$looks -i s16:a.s16; $takes" vad.xml -i raw:a.s16 -o y.csv --partial=drop
    [ ! -e y.csv ]
    cp a.s16 a.raw
    printf 'k\ta.raw\n' >list
    answered 65 'a.raw: byte' "$looks s16:a.raw; $takes" vad.xml --manifest=list -o none:
    run_apart irrun vad.xml -i raw:- -o none: < <(cat a.s16)
    [ "$status" -eq 65 ]
    [[ $stderr == "irrun: standard input: byte "*"hint: $looks -i s16:-; $takes" ]]
    head -c 514 a.s16 >short # half of a f32, before a record is there to be looked at
    answered 65 'short: byte 514: error: the input ends inside an element of type f32: 2 of its 4 bytes' \
        "if it is 16-bit audio: -i s16:short" vad.xml -i raw:short -o none:
    run_apart irrun vad.xml -i raw:a.s16 -o none: --raw-check=never --partial=drop
    [ "$status$stderr" = 0 ]
    for type in f16 bf16; do
        twice_of $type
        refused 65 "hint: $looks -i in_a=s16:a.s16 --cast=any; $takes" \
            copy.xml -i a=raw:a.s16 -i fresh=raw:a.s16 --shape=a=512 --shape=fresh=512 -o none:
    done
    twice_of f64
    refused 65 "hint: $looks -i in_a=s16:a.s16; $takes" \
        copy.xml -i a=raw:a.s16 -i fresh=raw:a.s16 --shape=a=512 --shape=fresh=512 -o none:
}

@test "what raw is refused for: nan, and numbers beyond 1e20" {
    raw 1 2 nan 3 >x.raw
    refused_raw 8 nan "$looks -i s16:x.raw; $takes" -i x.raw -o y.npy --raw-check=auto
    raw 1 2 3 -1e21 >x.raw
    refused_raw 12 -1e+21 "$looks -i s16:x.raw; $takes" -i x.raw -o y.npy
    raw 1 2 inf 3 >x.raw
    refused_raw 8 inf "$looks -i s16:x.raw; $takes" -i x.raw -o y.npy
    [ ! -e y.npy ]
    [ "$(irrun "$data/twice.xml" -i x.raw --raw-check=never -o csv:- | lines)" = "2,4 inf,6" ]
    raw 1e20 -1e20 1e-45 -0 >x.raw
    irrun "$data/twice.xml" -i x.raw -o none:
    raw nan >x.raw # what is there is looked at before its length is
    refused_raw 0 nan "$looks -i s16:x.raw; $takes" -i x.raw
    usage_error "--raw-check takes auto or never, not 'no'" "$data/twice.xml" -i x.raw --raw-check=no
}

@test "the first 4096 elements of an input are looked at, in records of any size" {
    local size
    { raw $(seq 4095) && raw nan && raw $(seq 4096); } >in.raw
    { raw $(seq 4096) && raw nan && raw $(seq 4095); } >out.raw
    for size in 1 2 512 8192; do
        sed "s/shape=\"2\"/shape=\"$size\"/; s/<dim>2</<dim>$size</g" "$data/twice.xml" >m.xml
        refused 65 'byte 16380: error: input "x": the number here is nan, read as f32' m.xml -i in.raw -o y.csv
        [ ! -e y.csv ]
        irrun m.xml -i out.raw -o none:
        irrun m.xml -i out.raw -n 20000 -o none: # cycled
    done
    refused 65 'byte 16380: error' vad.xml -i raw:in.raw --axis=1:512 -o none:
}

@test "a pipe is answered record by record until the first bad one comes" {
    mkfifo questions answers
    timeout 20 "$IRRUN" "$data/twice.xml" -i raw:questions -o csv:- >answers 2>stderr &
    exec 8<answers 7>questions
    raw 1 2 >&7
    read -r -t 5 line <&8
    [ "$line" = 2,4 ]
    raw 3 nan >&7
    status=0
    wait $! || status=$?
    [ "$status" -eq 65 ]
    grep -q 'byte 12: error: input "x": the number here is nan' stderr
    [ -z "$(cat <&8)" ]
    exec 7>&- 8<&-
}

@test "only raw inputs of floats are looked at" {
    printf 'nan,1e30\n' >x.csv
    irrun "$data/twice.xml" -i x.csv -o y.npy -o y=y.raw 2>/dev/null
    irrun "$data/twice.xml" -i y.npy -o none:
    irrun "$data/twice.xml" '--random=uniform(1e30,1e31)' -o none:
    irrun "$data/twice.xml" -i x.csv --expect=y.raw # what is expected may be nan
    twice_of i32
    perl -e 'print pack("l<*", -1, 0x7fc00000)' >x.raw # nan, if it were f32
    irrun copy.xml -i a=x.raw -i fresh=x.raw --shape=a=2 --shape=fresh=2 -o none:
}

@test "a resumed run does not look again, nor does its checkpoint depend on it" {
    raw $(seq 3000) >x.raw
    run_apart timeout 20 "$IRRUN" "$data/sum.xml" -i x.raw -o y.csv --checkpoint=ck --checkpoint-every=1 --timeout=0.005
    irrun "$data/sum.xml" -i x.raw -o y.csv --checkpoint=ck --raw-check=never
    [ "$(tail -n 1 y.csv)" = 4501500 ]
}

@test "what else raw bytes may be: f64, another order of bytes" {
    local numbers
    mapfile -t numbers < <(seq 1 0.37 20)
    perl -e 'print pack("d<*", @ARGV)' "${numbers[@]}" >x.raw
    refused 65 'the bytes look like little-endian f64, which NumPy converts: numpy.fromfile("x.raw", "<f8").astype("f4").tofile("y.raw"); --raw-check=never accepts them as they are' \
        "$data/copy.xml" -i a=x.raw -i fresh=x.raw --shape=a=52 --shape=fresh=52 -o none:
    perl -e 'print pack("f>*", @ARGV)' "${numbers[@]}" >x.raw
    refused 65 'look like big-endian f32, which NumPy converts: numpy.fromfile("x.raw", ">f4").astype("f4")' \
        "$data/copy.xml" -i a=x.raw -i fresh=x.raw --shape=a=52 --shape=fresh=52 -o none:
    perl -e 'print pack("d>*", @ARGV)' "${numbers[@]}" >x.raw
    twice_of f64
    refused 65 'look like big-endian f64, which NumPy converts: numpy.fromfile("x.raw", ">f8").astype("f8")' \
        copy.xml -i a=x.raw -i fresh=x.raw --shape=a=52 --shape=fresh=52 -o none:
    raw "${numbers[@]}" >x.raw
    twice_of bf16
    refused 65 'look like little-endian f32: read them as npy with --cast=any' \
        copy.xml -i a=x.raw -i fresh=x.raw --shape=a=104 --shape=fresh=104 -o none:
}

@test "text is not raw floats" {
    local text='byte 0: error: input "x": the bytes are text, read as f32'
    seq 512 >t.csv
    answered 65 "t.csv: $text" "if it holds numbers, read it as csv:t.csv; $takes" vad.xml -i raw:t.csv --partial=pad
    run_apart irrun vad.xml -i raw:- --partial=pad <t.csv
    [ "$status" -eq 65 ]
    [[ $stderr == *"$text"*"csv:-; $takes" ]]
    irrun vad.xml -i raw:t.csv --partial=drop -o none: --raw-check=never
    perl -e 'print "333?" x 512' >same.raw # 0.7
    irrun vad.xml -i same.raw -o none:
    printf 'Text is u8 as well.\n' >t.raw
    twice_of u8
    irrun copy.xml -i a=t.raw -i fresh=t.raw --shape=a=20 --shape=fresh=20 -o a=raw:- | cmp - t.raw
}
