#!/usr/bin/env bats
# What fills an input: sources and their names, npz members, --random and its seed, axes of several inputs.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '2,' 1 2 >one.npy
    npy '<f4' '3, 2' 1 2 3 4 5 6 >three.npy
}

@test "an input that no data for is a usage error that lists them" {
    refused 2 'no data for input "a" (f32 [2]), "b" (f32 [2])' "$data/pair.xml"
    refused 2 '"b"' "$data/pair.xml" -i a=one.npy
    refused 2 'no data for input "x"' "$data/sum.xml" -n 3 # --random is never implied
    irrun "$data/pair.xml" -i a=one.npy --random -o none:
    irrun "$data/pair.xml" -i a=one.npy --random=b=zeros -o none:
    irrun "$data/pair.xml" -i a=one.npy --feed=minus=b -o none:
}

@test "one input takes one source" {
    refused 2 '"a"' "$data/pair.xml" -i a=one.npy -i first=three.npy --random
    refused 2 'needs a name, one of "a", "b"' "$data/pair.xml" -i one.npy -i b=one.npy
    refused 2 'write -i a=raw:-' "$data/pair.xml" -i raw:-
    refused 2 "write -i a='one two.npy'" "$data/pair.xml" -i 'one two.npy'
    refused 2 'the model has no inputs' "$data/read.xml" -i one.npy
}

@test "the first = splits; a path may hold others" {
    cp one.npy b=c.npy
    [ "$(irrun "$data/pair.xml" -i a=b=c.npy -i b=one.npy -o minus=csv:-)" = "0,0" ]
    refused 2 'no input "./b"' "$data/twice.xml" -i ./b=c.npy
    [ "$(irrun "$data/twice.xml" -i x=npy:b=c.npy -o csv:-)" = "2,4" ]
    mkdir d=e
    irrun "$data/twice.xml" -i x=one.npy -o y=d=e/f=g.csv
    [ "$(cat d=e/f=g.csv)" = "2,4" ]
}

@test "the ending says the format, a word in front of the path has the last say" {
    local ending
    raw 1 2 >x.raw
    cp x.raw x.bin
    printf '1 2\n' >x.csv
    cp x.csv x.txt
    printf 'u [ 1 2 ]\n' >x.ark
    irrun "$data/copy.xml" -i a=one.npy -i fresh=one.npy -o a=x.npz
    for ending in raw bin csv txt; do
        [ "$(irrun "$data/twice.xml" -i "x.$ending" -o csv:-)" = "2,4" ]
    done
    [ "$(irrun "$data/twice.xml" -i x.ark --axis=0 -o csv:-)" = "2,4" ]
    [ "$(irrun "$data/twice.xml" -i x=x.npz -o csv:-)" = "2,4" ]
    cp one.npy odd.csv
    [ "$(irrun "$data/twice.xml" -i npy:odd.csv -o csv:-)" = "2,4" ]
    for ending in raw bin csv txt npy npz ark; do
        irrun "$data/twice.xml" -i one.npy --concat=0 -o "y.$ending"
    done
    cmp y.raw y.bin
    [ "$(cat y.csv)" = "2,4" ]
    [ "$(head -n 1 y.txt)" = "# y f32 [2] seq=one rec=0" ]
    answered 2 'format of "-"' 'csv:- is numbers as text; write FORMAT:- with one of: npy npz raw csv ark s16 wav' "$data/twice.xml" -i - </dev/null
    answered 2 'format of "-"' 'csv:- is numbers as text; write FORMAT:- with one of: text npy npz raw csv ark wav jsonl none' "$data/twice.xml" -i one.npy -o -
    refused 2 'y.odd' "$data/twice.xml" -i one.npy -o y.odd
}

@test "npz: every member has an input, every input a member or another source" {
    irrun "$data/copy.xml" -i a=one.npy -i fresh=three.npy -o a=a.npz -o fresh=fresh.npz
    irrun "$data/copy.xml" -i a=one.npy -i fresh=one.npy -o both.npz
    [ "$(irrun "$data/pair.xml" -i both.npz -o @0=csv:-)" = "2,4" ]
    refused 65 'has no member for input "b"' "$data/pair.xml" -i a.npz
    [ "$(irrun "$data/pair.xml" -i a.npz -i b=one.npy -o @0=csv:-)" = "2,4" ]
    [ "$(irrun "$data/pair.xml" -i a.npz --random=ones -o @0=csv:-)" = "2,3" ]
    [ "$(irrun "$data/pair.xml" -i a.npz -i fresh.npz -o @0=csv:- | lines)" = "2,4 4,6 6,8" ]
    refused 2 'two sources' "$data/pair.xml" -i both.npz -i b=one.npy
    refused 65 'fresh.npz: error: member: no input "fresh"; the model has:' "$data/twice_any.xml" -i fresh.npz
    # Two names of one input, and one name twice.
    sed 's/names="a"/names="first"/; s/names="fresh"/names="a"/' "$data/copy.xml" >two.xml
    irrun two.xml --random=ones --shape=in_a=2 --shape=in_fresh=2 -o doubled.npz
    refused 65 '"a"' "$data/pair.xml" -i doubled.npz --random
    LC_ALL=C sed 's/first\.npy/a.npy\x00\x00\x00\x00/g' doubled.npz >broken.npz
    run_apart irrun "$data/pair.xml" -i broken.npz --random
    [ "$status" -eq 65 ]
}

@test "npz: a member that comes twice is an error" {
    # The names "a.npy" and "b.npy" have one length: one becomes the other.
    sed 's/names="fresh"/names="b"/' "$data/copy.xml" >ab.xml
    irrun ab.xml -i in_a=one.npy -i in_fresh=one.npy -o ab.npz
    irrun "$data/pair.xml" -i ab.npz -o none:
    LC_ALL=C sed 's/b\.npy/a.npy/g' ab.npz >aa.npz
    refused 65 'a' "$data/pair.xml" -i aa.npz --random
}

@test "--random: distributions, and the types they are for" {
    local any="$data/twice_any.xml"
    drawn() { # type, distribution: 1000 numbers, one a line
        sed "s/element_type=\"f32\"/element_type=\"$1\"/" "$data/copy.xml" >drawn.xml
        irrun drawn.xml "$2" --shape=a=1000 --shape=fresh=1 -o a=csv:- | tr ',' '\n'
    }
    within() { # low, high, least number of different ones
        sort -u >drawn
        awk -v low="$1" -v high="$2" '$1 < low || $1 > high { bad = 1 } END { exit bad }' drawn
        [ "$(wc -l <drawn)" -ge "$3" ]
    }
    drawn f32 --random | within -1 1 900
    drawn f64 '--random=uniform(2,2.5)' | within 2 2.5 900
    drawn f16 --random=uniform | within -1 1 500
    drawn f32 '--random=normal(100,0.1)' | within 99 101 900
    drawn f32 '--random=normal(100,2)' | awk '{ s += $1; q += $1 * $1 } END { m = s / NR; d = sqrt(q / NR - m * m); exit !(m > 99.7 && m < 100.3 && d > 1.8 && d < 2.2) }'
    drawn i32 '--random=int(-2,2)' | within -2 2 5
    [ "$(lines <drawn)" = "-1 -2 0 1 2" ]
    drawn u8 '--random=int(250,255)' | within 250 255 6
    drawn i64 --random | within 0 0 1
    drawn boolean --random | within 0 1 2
    drawn f32 --random=zeros | within 0 0 1
    drawn i8 --random=ones | within 1 1 1
    [ "$(irrun "$any" --random=arange --shape=x=2,3 -o csv:- | lines)" = "0,2,4 6,8,10" ]
    [ "$(irrun "$data/pair.xml" --random=a=ones --random=zeros -o minus=csv:-)" = "1,1" ]
    refused 2 'twice' "$data/pair.xml" --random=a=ones --random=a=zeros
}

@test "one seed gives one and the same numbers, everywhere" {
    # As the generator that the manual names gives them: made apart from irrun, with whole numbers.
    irrun "$data/pair.xml" --random --tap=a --tap=b -o a=a.csv -o b=b.csv
    [ "$(cat a.csv b.csv | lines)" = "0.038592808,0.5639643 -0.43336385,-0.39859065" ]
    irrun "$data/pair.xml" --random --seed=7 --tap=a --tap=b -o a=a.csv -o b=b.csv
    [ "$(cat a.csv b.csv | lines)" = "0.8791751,0.35343343 0.7688278,0.8291599" ]
    [ "$(irrun "$data/twice_any.xml" '--random=int(-3,3)' --shape=x=8 --tap=x -o x=csv:-)" = "-1,-3,-1,-3,-1,0,-1,3" ]
    [ "$(irrun "$data/twice.xml" --random -o csv:-)" = "$(irrun "$data/twice.xml" --random --seed=0 -o csv:-)" ]
    [ "$(irrun "$data/twice.xml" --random -o csv:-)" != "$(irrun "$data/twice.xml" --random --seed=1 -o csv:-)" ]
}

@test "--random is one record: cycled with -n, repeated beside a stack" {
    [ "$(irrun "$data/twice.xml" --random | grep -c '^#')" -eq 1 ]
    irrun "$data/twice.xml" --random -o y.npy
    [ "$(shape y.npy)" = "2," ]
    [ "$(irrun "$data/twice.xml" --random -n 3 --emit=all -o csv:- | sort -u | wc -l)" -eq 1 ]
    [ "$(irrun "$data/pair.xml" -i a=three.npy --random=b=ones -o minus=csv:- | lines)" = "0,1 2,3 4,5" ]
}

@test "--axis of several inputs: names, and as many slices of each" {
    npy '<f4' '6,' 1 2 3 4 5 6 >six.npy
    npy '<f4' '4,' 1 2 3 4 >four.npy
    [ "$(irrun "$data/pair.xml" -i a=six.npy -i b=six.npy --axis=a=0 --axis=b=-1 -o @0=csv:- | lines)" = "2,4 6,8 10,12" ]
    [ "$(irrun "$data/pair.xml" -i a=six.npy -i b=one.npy --axis=a=0 -o @0=csv:- | lines)" = "2,4 4,6 6,8" ]
    refused 65 '"b" (four.npy)' "$data/pair.xml" -i a=six.npy -i b=four.npy --axis=a=0 --axis=b=0 -o none:
    [[ $stderr == *'"a" (six.npy)'* ]]
    refused 2 'twice' "$data/pair.xml" -i a=six.npy -i b=six.npy --axis=a=0 --axis=first=0 --axis=b=0
    # Without a length: the Parameter's own, else 1.
    npy '<f4' '2, 3' 1 2 3 4 5 6 >wide.npy
    [ "$(irrun "$data/twice_axis.xml" -i wide.npy --axis=1 | grep -c 'f32 \[2,1\]')" -eq 3 ]
    [ "$(irrun "$data/twice_axis.xml" -i wide.npy --axis=-1:3 | grep -c 'f32 \[2,3\]')" -eq 1 ]
    [ "$(irrun "$data/twice_axis.xml" -i wide.npy --axis=0 | grep -c 'f32 \[2,3\]')" -eq 1 ]
    # The array has the Parameter's rank.
    refused 65 'six.npy' "$data/twice_axis.xml" -i six.npy --axis=0 -o none:
}

@test "--shape fills what raw leaves open; what still is open is a usage error" {
    raw 1 2 3 4 >x.raw
    refused 2 '--shape' "$data/twice_open.xml" -i x.raw -o none:
    refused 2 '--shape' "$data/twice_any.xml" --random -o none:
    [ "$(irrun "$data/twice_any.xml" -i x.raw --shape=x=2,2 -o csv:- | lines)" = "2,4 6,8" ]
    refused 2 'twice' "$data/twice_any.xml" -i x.raw --shape=x=4 --shape=@0=4
}

@test "--cast=any rounds floats to the nearest, ties to even, and warns once" {
    # 2049 and 2051 lie halfway between numbers of f16; 1 + 2^-24 + 2^-40 is just above halfway in f32.
    npy '<f4' '2, 2' 2049 2051 4097 4099 >x.npy
    sed 's/"f32"/"f16"/g' "$data/copy.xml" >copy16.xml
    run_apart irrun copy16.xml -i a=x.npy --random=fresh=ones --shape=fresh=1 --cast=any -o a=csv:-
    [ "$(lines <<<"$output")" = "2048,2052 4096,4100" ]
    [ "$(grep -c warning <<<"$stderr")" -eq 1 ]
    npy '<f8' '3,' 1.000000059604644775390625 1.00000005960555 16777217 >x.npy
    [ "$(irrun "$data/copy.xml" -i a=x.npy --random=fresh=ones --shape=fresh=1 --cast=any -q -o a=csv:-)" = "1,1.0000001,16777216" ]
    # -0 and NaN survive.
    printf -- '-0 nan -inf\n' >x.csv
    [ "$(irrun copy16.xml -i a=x.csv --shape=a=3 --random=fresh=ones --shape=fresh=1 -o a=csv:-)" = "-0,nan,-inf" ]
}
