#!/usr/bin/env bats
# --axis=K:CHUNK:HOP:LEAD: slices that overlap, or leave gaps, with zeros before the first.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2046,SC2154 # lists of numbers; common.bash sets the names
load common

setup() {
    common_setup
}

# windows N CHUNK HOP LEAD: the slices of 1 ... N, times two, a line each.
windows() {
    perl -e '
        my ($n, $chunk, $hop, $lead) = @ARGV;
        my @x = ((0) x $lead, 1 .. $n);
        my $held = 0;
        for (my $start = 0; $n > 0; $start += $hop) {
            my $end = $start + $chunk < @x ? $start + $chunk : scalar @x;
            last if $start >= @x || $end <= $held;
            $held = $end;
            print join(" ", map { $_ < @x ? 2 * $x[$_] : 0 } $start .. $start + $chunk - 1), "\n";
        }' "$@"
}

# Frames of two numbers in a file without a shape, in one with it, and rows of an array in memory.
compare() { # N CHUNK HOP LEAD
    local how=(--axis="0:$2:$3:$4" --partial=pad)
    windows "$@" >want
    for i in $(seq "$1"); do echo "$i $i"; done >x.csv
    irrun "$data/twice_open.xml" -q -i x.csv "${how[@]}" -o csv:y.csv
    cut -d, -f1 y.csv | xargs -r -n "$2" | diff want -
    npy '<f4' "$1, 2" $(cat x.csv) >x.npy
    irrun "$data/twice_open.xml" -i x.npy "${how[@]}" -o csv:y.csv
    cut -d, -f1 y.csv | xargs -r -n "$2" | diff want -
    npy '<f4' "2, $1" $(seq "$1") $(seq "$1") >x.npy
    irrun "$data/twice_axis.xml" -i x.npy --axis="1:$2:$3:$4" --partial=pad -o csv:y.csv
    sed -n 'p;n' y.csv | tr , ' ' | diff want -
}

@test "every slice, for all ways in which slices and gaps can lie" {
    local n chunk hop lead
    for n in 0 1 4 7; do
        for chunk in 1 2 5; do
            for hop in 1 2 3 6; do
                for ((lead = 0; lead < chunk && lead < 4; lead += 2)); do
                    echo "$n elements, slices of $chunk every $hop after $lead"
                    compare "$n" "$chunk" "$hop" "$lead"
                done
            done
        done
    done
}

@test "slices of a pipe that are converted, and of 16-bit audio" {
    seq 6 | awk '{ print $1, $1 }' >x.csv
    npy '<i4' '6, 2' $(cat x.csv) |
        irrun "$data/twice_open.xml" -i npy:- --cast=any --axis=0:3:2:1 --partial=pad -o csv:y.csv
    [ "$(cut -d, -f1 y.csv | lines)" = "0 2 4 4 6 8 8 10 12" ]
    perl -e 'print pack("s<*", map { 8192 * $_ } -2 .. 3)' >x.s16
    [ "$(irrun "$data/twice_open.xml" -i s16:x.s16 --axis=0:2:1 -o csv:- | lines)" = "-1,-0.5 0,0.5 0,0.5 1,1.5" ]
}

@test "what is left over is an error, dropped or padded" {
    npy '<f4' '8, 2' $(seq 16) >x.npy
    answered 65 "axis 0 has length 8: slices of 4 every 3 leave 1 over" \
        "--partial=drop drops the rest, --partial=pad pads it with zeros" "$data/twice_open.xml" -i x.npy --axis=0:4:3
    answered 65 "axis 0 has length 8: slices of 16 every 16 leave 8 over" \
        "--partial=drop drops the rest, --partial=pad pads it with zeros" "$data/twice_open.xml" -i x.npy --axis=0:16:16:2
    [ "$(irrun "$data/twice_open.xml" -i x.npy --axis=0:4:3 --partial=drop -o csv:- | wc -l)" -eq 8 ]
    [ "$(irrun "$data/twice_open.xml" -i x.npy --axis=0:4:3 --partial=pad -o csv:- | wc -l)" -eq 12 ]
    [ "$(irrun "$data/twice_open.xml" -i x.npy --axis=0:4:4 -o csv:- | wc -l)" -eq 8 ]
    [ "$(irrun "$data/twice_open.xml" -i x.npy --axis=0:4:2 -o csv:- | wc -l)" -eq 12 ]
    seq 16 | xargs -n 2 >x.csv
    refused 65 "ends 4 numbers into record 2, which takes 8" "$data/twice_open.xml" -i x.csv --axis=0:4:3 -o none:
}

@test "the last record of outputs that are views of the input" {
    raw 1 2 3 4 5 >x.raw
    printf '1 2\n3 4\n5\n' >x.csv
    local last=("$data/chain.xml" --tap=x --emit=last -o x=csv:-)
    [ "$(irrun "${last[@]}" -i x.raw --partial=drop)" = "3,4" ]
    [ "$(irrun "${last[@]}" -i x.csv --partial=drop)" = "3,4" ]
    [ "$(irrun "${last[@]}" -i x.raw --axis=0:2:1)" = "4,5" ]
    [ "$(irrun "${last[@]}" -i x.raw --axis=0:2:2 --partial=drop)" = "3,4" ]
    irrun "$data/chain.xml" -i x.raw --partial=drop -o none: --tap-all=all.npz
    [ "$(irrun "$data/twice.xml" -i x=all.npz -o csv:-)" = "6,8" ]
}

@test "lengths that cannot be" {
    npy '<f4' '8, 2' $(seq 16) >x.npy
    npy '<f4' '2, 16' $(seq 32) >wide.npy
    usage_error "--axis: HOP must be a whole number from 1 up, not '0'" "$data/twice_open.xml" -i x.npy --axis=0:4:0
    usage_error "--axis: LEAD must be a whole number from 0 up, not '-1'" "$data/twice_open.xml" -i x.npy --axis=0:4:2:-1
    usage_error "--axis: CHUNK must be a whole number from 1 up, not ''" "$data/twice_open.xml" -i x.npy --axis=0::2
    usage_error "--axis: HOP is too large for elements of 64 bytes" "$data/twice_any.xml" -i x=wide.npy \
        --axis=0:1:1152921504606846975
    usage_error "nothing may follow LEAD" "$data/twice_open.xml" -i x.npy --axis=0:4:2:1:7
    usage_error "LEAD is 4, but must be below CHUNK, which is 4" "$data/twice_open.xml" -i x.npy --axis=0:4:2:4
    usage_error "--concat: '0:4' is not an axis" "$data/twice_open.xml" -i x.npy --concat=0:4
}

@test "a run that was interrupted continues in the middle of overlapping slices" {
    local n_interrupted=0
    seq 100000 | awk '{ print $1 % 17, $1 % 13 }' >x.csv
    irrun "$data/twice_open.xml" -i x.csv --axis=0:5:2:3 --partial=pad -o want.csv
    local seconds
    for seconds in 0.02 0.05 0.1 0.2 0.5 1 2 5 20; do
        status=0
        "$IRRUN" "$data/twice_open.xml" -i x.csv --axis=0:5:2:3 --partial=pad -o got.csv \
            --checkpoint=ck --checkpoint-every=50 --timeout="$seconds" 2>stderr || status=$?
        [ "$status" -eq 75 ] || break
        n_interrupted=$((n_interrupted + 1))
    done
    [ "$status" -eq 0 ]
    [ "$n_interrupted" -ge 1 ]
    cmp want.csv got.csv
}

@test "--rate counts the frames that are new in a slice" {
    perl -e 'print pack("f<*", (0.5) x 16000)' >x.raw
    irrun "$data/vad.xml" -i x.raw --axis=1:512:128:384 --partial=pad --rate=16000 --report=r.json -o none:
    [ "$(sed -n 's/.*"iterations": *\([0-9]*\).*/\1/p' r.json | head -n 1)" -eq 125 ]
}
