#!/usr/bin/env bats
# How files become records: single ones, stacks, cut axes, files without a shape.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '2,' 1 2 >one.npy
    npy '<f4' '3, 2' 1 2 3 4 5 6 >three.npy
}

@test "an array of the Parameter's rank is one record" {
    run_apart irrun "$data/twice.xml" -i one.npy
    [ "$output" = "# y f32 [2] seq=one rec=0
2 4" ]
    [ "$stderr" = "" ]
}

@test "one more leading axis makes a stack" {
    run_apart irrun "$data/twice.xml" -i three.npy
    [ "$output" = "# y f32 [2] seq=three rec=0
2 4
# y f32 [2] seq=three rec=1
6 8
# y f32 [2] seq=three rec=2
10 12" ]
}

@test "empty input has no records, or lacks a header" {
    local format
    for format in raw s16 csv ark; do
        [ "$(: | irrun "$data/sum.xml" -i "$format:-" -o csv:-)" = "" ]
        : | irrun "$data/sum.xml" -i "$format:-" -o y.npy
        [ "$(shape y.npy)" = "0, 1" ]
    done
    for format in npy npz; do
        refused 65 "standard input: " "$data/sum.xml" -i "$format:-" -o csv:- < <(:)
    done
}

@test "an empty stack is not an iteration" {
    npy '<f4' '0, 2' >none.npy
    run_apart irrun "$data/twice.xml" -i none.npy
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
    irrun "$data/twice.xml" -i none.npy -o y.npy
    [ "$(shape y.npy)" = "0, 2" ]
}

@test "a file of raw or csv without a record is not an iteration, and a warning" {
    : >none.raw
    printf '# sensor 7\n\n' >none.csv
    printf '1\n' >half.csv
    local file
    for file in none.raw none.csv; do
        run_apart irrun "$data/twice.xml" -i "$file"
        [ "$status" -eq 0 ]
        [ "$output" = "" ]
        [ "$stderr" = "irrun: warning: input \"x\": $file contains no record" ]
    done
    run_apart irrun "$data/twice.xml" -i half.csv --partial=drop
    [[ $stderr == *"half.csv contains no record"* ]]
    run_apart irrun "$data/twice.xml" -i csv:- <none.csv
    [[ $stderr == *"standard input contains no record"* ]]
    printf 'one\tnone.csv\ntwo\tx.csv\n' >list
    printf '1,2\n' >x.csv
    run_apart irrun "$data/twice.xml" --manifest=list -o csv:-
    [ "$output" = "2,4" ]
    [ "$stderr" = 'irrun: warning: input "x": none.csv contains no record' ]
    # Through a pipe nothing may come: grep has found no line.
    run_apart irrun "$data/twice.xml" -i csv:- < <(grep 5 x.csv)
    [ "$status$output$stderr" = 0 ]
    run_apart irrun "$data/twice.xml" -i none.csv -q
    [ "$status$output$stderr" = 0 ]
    refused 65 "none.csv contains no record" "$data/twice.xml" -i none.csv -n 3
    [[ $stderr != *warning* ]]
}

@test "the warnings of many sequences are all printed, and a thousand reported" {
    seq -f '%g.csv' 1100 >list
    xargs touch <list
    irrun "$data/sum.xml" --manifest=list -o none: --report=r.json 2>warnings
    [ "$(wc -l <warnings)" -eq 1100 ]
    [ "$(jq '.warnings | length' r.json)" -eq 1000 ]
}

@test "a single record beside a stack is repeated" {
    [ "$(irrun "$data/pair.xml" -i a=three.npy -i b=one.npy -o @0=csv:- | lines)" = "2,4 4,6 6,8" ]
    [ "$(irrun "$data/pair.xml" -i a=one.npy -i b=three.npy -o minus=csv:- | lines)" = "0,0 -2,-2 -4,-4" ]
}

@test "different counts are refused, naming both" {
    npy '<f4' '2, 2' 1 2 3 4 >two.npy
    run_apart irrun "$data/pair.xml" -i a=three.npy -i b=two.npy -o y.npz
    [ "$status" -eq 65 ]
    [[ $stderr == *'"b" (two.npy) has 2 records'*'"a" (three.npy) has more'* ]]
    [ ! -e y.npz ]
    [ -z "$(find . -name '.irrun*')" ]
}

@test "a wrong shape names the file and both sides" {
    npy '<f4' '3,' 1 2 3 >bad.npy
    run_apart irrun "$data/twice.xml" -i bad.npy
    [ "$status" -eq 65 ]
    [[ $stderr == "bad.npy: error: input \"x\" is f32 [2], but this array is f32 [3]"* ]]
    npy '<f4' '1, 1, 2' 1 2 >deep.npy
    run_apart irrun "$data/twice.xml" -i deep.npy
    [ "$status" -eq 65 ]
    [[ $stderr == *"f32 [1,1,2]"*"hint"* ]]
}

@test "open dimensions are filled by the first record" {
    npy '<f4' '1, 3, 2' 1 2 3 4 5 6 >x.npy
    [ "$(irrun "$data/twice_open.xml" -i three.npy | head -n 1)" = "# y f32 [3,2] seq=three rec=0" ]
    [ "$(irrun "$data/twice_open.xml" -i x.npy | head -n 1)" = "# y f32 [3,2] seq=x rec=0" ]
    printf '1,2\n' >x.csv
    usage_error 'input "x" is [0,2], which has no elements: the number of records in x.csv is unknown' \
        "$data/twice_any.xml" --shape=x=0,2 -i x.csv
}

@test "a Parameter of any rank takes the whole array" {
    [ "$(irrun "$data/twice_any.xml" -i three.npy | head -n 1)" = "# y f32 [3,2] seq=three rec=0" ]
    [ "$(irrun "$data/twice_any.xml" -i three.npy --axis=0 | grep -c '\[1,2\]')" -eq 3 ]
}

@test "a model without inputs runs once, or -n times" {
    [ "$(irrun "$data/read.xml" | grep -c '^#')" -eq 1 ]
    [ "$(irrun "$data/read.xml" -n 3 --emit=all | grep -c '^#')" -eq 3 ]
}

@test "safe casts happen by themselves, others are refused" {
    npy '|u1' '2,' 7 255 >u8.npy
    [ "$(irrun "$data/twice.xml" -i u8.npy -o csv:-)" = "14,510" ]
    [ "$(irrun "$data/twice_f64.xml" -i one.npy -o csv:-)" = "2,4" ]
    [ "$(irrun "$data/twice_i32.xml" -i u8.npy -o csv:-)" = "14,510" ]
    [ "$(irrun "$data/twice_f16.xml" -i u8.npy -o csv:-)" = "14,510" ]
    npy '|b1' '2,' 1 0 >bool.npy
    [ "$(irrun "$data/twice_u8.xml" -i bool.npy -o csv:-)" = "2,0" ]
    npy '<f8' '2,' 1 2 >f64.npy
    npy '<i4' '2,' 1 2 >i32.npy
    npy '<i8' '2,' 1 2 >i64.npy
    local pair
    for pair in twice:f64 twice:i32 twice:i64 twice_f64:i64 twice_i32:one twice_i32:i64 twice_f16:one twice_u8:i32; do
        run_apart irrun "$data/${pair%:*}.xml" -i "${pair#*:}.npy" -o none:
        [ "$status" -eq 65 ]
        [[ $stderr == "${pair#*:}.npy: error: input \"x\" is "* ]]
    done
}

@test "both byte orders are read" {
    npy '>f4' '2,' 1 2 >big.npy
    [ "$(irrun "$data/twice.xml" -i big.npy -o csv:-)" = "2,4" ]
}

@test "raw is records of the Parameter's shape without end" {
    raw 1 2 3 4 5 6 >x.raw
    [ "$(irrun "$data/twice.xml" -i x.raw -o csv:- | lines)" = "2,4 6,8 10,12" ]
    [ "$(irrun "$data/twice.xml" -i raw:- -o csv:- <x.raw | lines)" = "2,4 6,8 10,12" ]
    raw 1 2 3 >x.bin
    run_apart irrun "$data/twice.xml" -i x.bin -o y.npy
    [ "$status" -eq 65 ]
    [[ $stderr == "x.bin"*"1 number into record 1"* ]]
    [ ! -e y.npy ]
}

@test "raw needs a static shape" {
    raw 1 2 >x.raw
    run_apart irrun "$data/twice_open.xml" -i x.raw
    [ "$status" -eq 2 ]
    [[ $stderr == *'"x" is [?,2]'* ]]
}

@test "csv: a record takes whole lines" {
    printf '1,2\n3 4\n5\t6\n' >x.csv
    [ "$(irrun "$data/twice.xml" -i x.csv -o csv:- | lines)" = "2,4 6,8 10,12" ]
    printf '# a heading\n1\n2\n3\n4\n' >x.csv
    [ "$(irrun "$data/twice.xml" -i x.csv -o csv:- | lines)" = "2,4 6,8" ]
    printf '1,2,3\n4\n' >x.csv
    run_apart irrun "$data/twice.xml" -i x.csv -o none:
    [ "$status" -eq 65 ]
    [[ $stderr == x.csv:1:* ]]
    printf '1,2\ntime,value\n' >x.csv
    run_apart irrun "$data/twice.xml" -i x.csv -o none:
    [ "$status" -eq 65 ]
    [[ $stderr == x.csv:2:* ]]
    printf '1,2\n3\n' >x.csv
    run_apart irrun "$data/twice.xml" -i x.csv -o none:
    [ "$status" -eq 65 ]
}

@test "text output is read back as csv" {
    irrun "$data/twice.xml" -i three.npy -o y.txt
    [ "$(irrun "$data/twice.xml" -i csv:y.txt -o csv:- | lines)" = "4,8 12,16 20,24" ]
}

@test "--axis cuts an array into records" {
    npy '<f4' '2, 6' 1 2 3 4 5 6 7 8 9 10 11 12 >wide.npy
    [ "$(irrun "$data/twice_axis.xml" -i wide.npy --axis=1:3 -o text:- | lines)" = \
        "# y f32 [2,3] seq=wide rec=0 2 4 6 14 16 18 # y f32 [2,3] seq=wide rec=1 8 10 12 20 22 24" ]
    [ "$(irrun "$data/twice_axis.xml" -i wide.npy --axis=-1:6 -o csv:- | wc -l)" -eq 2 ]
    [ "$(irrun "$data/twice_axis.xml" -i x=wide.npy --axis=x=1 -o text:- | grep -c 'f32 \[2,1\]')" -eq 6 ]
    [ "$(irrun "$data/twice.xml" -i csv:- --axis 0 -o csv:- <<<"1 2" | lines)" = "2,4" ]
}

@test "an array that does not fit is refused before it is unpacked" {
    deflated x.npz x '3, 20000000' 60000000
    refused_scarcely 65 'input "x" is f32 [2,?], but this array is f32 [3,20000000]' "$data/twice_axis.xml" -i x.npz
    refused_scarcely 65 'input "x" is f32 [2,?], but this array is f32 [3,20000000]' "$data/twice_axis.xml" -i x.npz --axis=1
}

@test "a member that says it is longer than it can be is refused" {
    deflated x.npz x '2, 50000000' 1000
    perl -0777 -i -pe 's/PK\x01\x02.{20}\K.{4}/pack("V", 128 + 400000000)/se' x.npz
    refused_scarcely 65 'shorter than the size given in the directory' "$data/twice_axis.xml" -i x.npz
}

@test "--axis along the first axis takes the Parameter's own length" {
    npy '<f4' '6,' 1 2 3 4 5 6 >long.npy
    [ "$(irrun "$data/twice.xml" -i long.npy --axis=0 -o csv:- | lines)" = "2,4 6,8 10,12" ]
    irrun "$data/twice.xml" -i long.npy --axis=0 -o y.npy
    [ "$(shape y.npy)" = "3, 2" ]
}

@test "--axis cuts raw as an unbounded stream" {
    raw 1 2 3 4 >x.raw
    [ "$(irrun "$data/twice_open.xml" -i x.raw --axis=0:2 -o csv:- | lines)" = "2,4 6,8" ]
    run_apart irrun "$data/twice_axis.xml" -i x.raw --axis=1:2
    [ "$status" -eq 2 ]
    [[ $stderr == *"after dimensions of 1"* ]]
}

@test "--axis: what does not fit" {
    npy '<f4' '5,' 1 2 3 4 5 >five.npy
    npy '<f4' '4,' 1 2 3 4 >four.npy
    run_apart irrun "$data/twice.xml" -i five.npy --axis=0
    [ "$status" -eq 65 ]
    [[ $stderr == *"length 5: slices of 2 leave 1 over"* ]]
    run_apart irrun "$data/twice.xml" -i five.npy --axis=1
    [ "$status" -eq 2 ]
    [[ $stderr == *"its only axis is 0"* ]]
    run_apart irrun "$data/twice.xml" -i three.npy --axis=0
    [ "$status" -eq 65 ]
    run_apart irrun "$data/pair.xml" -i a=four.npy -i b=four.npy --axis=0
    [ "$status" -eq 2 ]
    [[ $stderr == *"--axis=NAME=0"* ]]
    run_apart irrun "$data/pair.xml" -i a=four.npy --random --axis=b=0 --axis=a=0
    [ "$status" -eq 2 ]
}

@test "-n cycles records; a pipe that ends early is 65 with the count" {
    [ "$(irrun "$data/twice.xml" -i three.npy -n 5 --emit=all -o csv:- | lines)" = "2,4 6,8 10,12 2,4 6,8" ]
    [ "$(irrun "$data/twice.xml" -i three.npy -n 2 --emit=all -o csv:- | lines)" = "2,4 6,8" ]
    printf '1,2\n3,4\n' >x.csv
    [ "$(irrun "$data/twice.xml" -i x.csv -n 3 --emit=all -o csv:- | lines)" = "2,4 6,8 2,4" ]
    run_apart irrun "$data/twice.xml" -i npy:- -n 5 -o none: < <(cat three.npy)
    [ "$status" -eq 65 ]
    [[ $stderr == *"after 3 records"* ]]
    run_apart irrun "$data/twice.xml" -i npy:- -n 5 --emit=all -o csv:- < <(cat one.npy)
    [ "$(lines <<<"$output")" = "2,4 2,4 2,4 2,4 2,4" ]
}

@test "-n 0 is everything but the run" {
    run_apart irrun "$data/twice.xml" -i three.npy -n 0 -o y.npy
    [ "$status" -eq 0 ]
    [ ! -e y.npy ]
    run_apart irrun "$data/twice_i32.xml" -i three.npy -n 0
    [ "$status" -eq 65 ]
}

@test "names: friendly name, tensor name, @K; what fits none lists what there is" {
    local name
    for name in a first @0; do
        [ "$(irrun "$data/pair.xml" -i "$name=one.npy" -i second=three.npy -o diff=csv:- | lines)" = "0,0 -2,-2 -4,-4" ]
    done
    run_apart irrun "$data/pair.xml" -i c=one.npy -i b=one.npy
    [ "$status" -eq 2 ]
    [[ $stderr == *'"a"'*'"b"'* || $stderr == *a*b* ]]
    run_apart irrun "$data/pair.xml" -i @2=one.npy -i b=one.npy
    [ "$status" -eq 2 ]
    run_apart irrun "$data/pair.xml" -i one.npy
    [ "$status" -eq 2 ]
    [[ $stderr == *'"a", "b"'*"-i a=one.npy"* ]]
    run_apart irrun "$data/pair.xml" -i a=one.npy -i first=one.npy -i b=one.npy
    [ "$status" -eq 2 ]
    [[ $stderr == *"two sources"* ]]
    run_apart irrun "$data/pair.xml" -i a=one.npy
    [ "$status" -eq 2 ]
    [[ $stderr == *'"b" (f32 [2])'* ]]
}

@test "npz members bind by name; missing and further ones are refused" {
    irrun "$data/copy.xml" -i a=three.npy -i fresh=one.npy -o in.npz
    [ "$(irrun "$data/pair.xml" -i in.npz -o @0=csv:- | lines)" = "2,4 4,6 6,8" ]
    npy '<f4' '3, 1' 1 2 3 >x.npy
    irrun "$data/copy.xml" -i a=x.npy -i fresh=one.npy -o x.npz
    run_apart irrun "$data/sum.xml" -i x.npz
    [ "$status" -eq 65 ]
    [[ $stderr == 'x.npz: error: member: no input "fresh"'* ]]
    irrun "$data/copy.xml" -i a=three.npy -i fresh=one.npy -o a=a.npz
    run_apart irrun "$data/pair.xml" -i a.npz
    [ "$status" -eq 65 ]
    [[ $stderr == 'a.npz: error: has no member for input "b"'* ]]
    [ "$(irrun "$data/pair.xml" -i a.npz -i b=one.npy -o @0=csv:- | lines)" = "2,4 4,6 6,8" ]
    [ "$(irrun "$data/pair.xml" -i a.npz --random=zeros -o @0=csv:- | lines)" = "1,2 3,4 5,6" ]
    [ "$(irrun "$data/pair.xml" -i b=in.npz -i a=one.npy -o @0=csv:- | lines)" = "2,4" ]
    [ "$(irrun "$data/twice.xml" -i x=a.npz -o csv:- | lines)" = "2,4 6,8 10,12" ]
    run_apart irrun "$data/twice.xml" -i x=in.npz
    [ "$status" -eq 65 ]
    [[ $stderr == *'no member "x", only "a", "fresh"'* ]]
}

@test "--random fills what nothing else does, by name or not" {
    [ "$(irrun "$data/pair.xml" -i a=one.npy --random=ones -o @0=csv:-)" = "2,3" ]
    [ "$(irrun "$data/pair.xml" --random=arange --random=b=ones -o @0=csv:-)" = "1,2" ]
    [ "$(irrun "$data/pair.xml" --random=zeros --random='b=int(7,7)' -o @0=csv:-)" = "7,7" ]
    [ "$(irrun "$data/twice_i32.xml" --random -o csv:-)" = "0,0" ]
    run_apart irrun "$data/pair.xml" --random=a=ones
    [ "$status" -eq 2 ]
    run_apart irrun "$data/pair.xml" --random=c=ones
    [ "$status" -eq 2 ]
    answered 2 '--random: no lengths for the open dimensions of input "x" [?,2]' \
        "write --shape=x=D,2 with a number for D" "$data/twice_open.xml" --random
    local two=("$root/models/tiny_transformer/model.xml" --feed=next=tokens:argmax -n 2)
    answered 2 '--random: no lengths for the open dimensions of input "tokens" [?,?], "beam_idx" [?]' \
        "write --shape=tokens=D,D --shape=beam_idx=D with a number for D" "${two[@]}" --random
    answered 2 '--feed: no lengths for the open dimensions of input "tokens" [?,?]' \
        "write --shape=tokens=D,D with a number for D" "${two[@]}" -i beam_idx=value:0 --shape=beam_idx=1
    seq 4 >p.csv
    answered 2 'p.csv contains no shape: the open dimensions are unknown' "write --shape=x=D,2 with a number for D" \
        "$data/twice_open.xml" -i p.csv
}

@test "--random: one seed, the same bytes everywhere" {
    irrun "$data/pair.xml" --random -o %n.csv
    [ "$(cat all_plus.csv minus.csv)" = "-0.39477104,0.16537365
0.47195667,0.96255493" ]
    irrun "$data/pair.xml" '--random=normal(0,1)' --seed=7 -o %n.csv
    [ "$(cat all_plus.csv minus.csv)" = "0.079245865,-1.0365154
0.78213775,1.3827964" ]
}

@test "random numbers lie where they should" {
    npy '<f4' '4000, 2' $(seq 8000) >n.npy
    irrun "$data/twice_open.xml" --random='int(3,5)' -i n.npy -o none: # -i wins
    cat >"wide.xml" <"$data/twice_axis.xml"
    sed -i 's/shape="2,?"/shape="2,4000"/; s/<dim>-1/<dim>4000/g' wide.xml
    irrun wide.xml '--random=uniform(10,12)' -o csv:- | tr , '\n' >u
    irrun wide.xml '--random=normal(10,2)' -o csv:- | tr , '\n' >g
    irrun wide.xml '--random=int(-3,5)' -o csv:- | tr , '\n' | sort -n | uniq >i
    awk '{ x = $1 / 2; s += x; if (x < 10 || x > 12) bad = 1 } END { m = s / NR; exit bad || NR != 8000 || m < 10.95 || m > 11.05 }' u
    awk '{ x = $1 / 2; s += x; q += x * x } END { m = s / NR; v = q / NR - m * m; exit m < 9.9 || m > 10.1 || v < 3.8 || v > 4.2 }' g
    [ "$(tr '\n' ' ' <i)" = "-6 -4 -2 0 2 4 6 8 10 " ]
}
