#!/usr/bin/env bats
# Streams of npy documents, archives with keys, joined outputs, --feed, --until, --warmup.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '2,' 1 2 >one.npy
    npy '<f4' '3, 2' 1 2 3 4 5 6 >three.npy
    printf 'u1  [\n  1 2\n  3 4 ]\nu2  [\n  5 6 ]\n' >f.ark
}

@test "documents one after the other are the records of one sequence" {
    cat one.npy three.npy one.npy >many.npy
    [ "$(irrun "$data/twice.xml" -i many.npy -o csv:- | lines)" = "2,4 2,4 6,8 10,12 2,4" ]
    [ "$(irrun "$data/twice.xml" -i npy:- -o csv:- < <(cat one.npy one.npy) | lines)" = "2,4 2,4" ]
    [ "$(irrun "$data/twice.xml" -i npy:- -o csv:- < <(cat three.npy) | lines)" = "2,4 6,8 10,12" ]
    irrun "$data/twice.xml" -i many.npy -o y.npy
    [ "$(shape y.npy)" = "5, 2" ]
    irrun "$data/twice.xml" -i npy:- -o y.npy < <(cat one.npy)
    [ "$(shape y.npy)" = "2," ]
    irrun "$data/twice.xml" -i npy:- -o y.npy < <(cat one.npy one.npy)
    [ "$(shape y.npy)" = "2, 2" ]
}

@test "documents may change their shape where the model allows it" {
    npy '<f4' '1, 2' 1 2 >a.npy
    npy '<f4' '2, 2' 3 4 5 6 >b.npy
    cat a.npy b.npy a.npy >many.npy
    [ "$(irrun "$data/twice_open.xml" -i many.npy | grep -c '^#')" -eq 3 ]
    [ "$(irrun "$data/twice_open.xml" -i many.npy -o csv:- | lines)" = "2,4 6,8 10,12 2,4" ]
    run_apart irrun "$data/twice_open.xml" -i many.npy -o y.npy
    [ "$status" -eq 65 ]
    [[ $stderr == *"[2,2]"*"[1,2]"* ]]
    [ ! -e y.npy ]
    irrun "$data/twice_open.xml" -i many.npy --concat=0 -o y.npy
    [ "$(shape y.npy)" = "4, 2" ]
}

@test "a stack without records among documents of other shapes" {
    npy '<f4' '2, 2' 1 2 3 4 >a.npy
    npy '<f4' '0, 1, 2' >none.npy
    npy '<f4' '1, 1, 2' 7 8 >b.npy
    [ "$(cat a.npy none.npy b.npy | irrun "$data/twice_open.xml" -i npy:- -o csv:- | lines)" = "2,4 6,8 14,16" ]
    npy '<f4' '0, 4, 2' >none.npy
    npy '<f4' '1, 4, 2' 1 2 3 4 5 6 7 8 >b.npy
    [ "$(cat a.npy none.npy b.npy | irrun "$data/twice_open.xml" -i npy:- --emit=last -o csv:- | lines)" = "2,4 6,8 10,12 14,16" ]
    npy '<f4' '0, 100000, 2' >none.npy
    cat a.npy none.npy >end.npy
    [ "$(irrun "$data/twice_open.xml" -i end.npy --tap=x --emit=last -o x=csv:- | lines)" = "1,2 3,4" ]
}

@test "one document at a time goes through two processes" {
    [ "$(irrun "$data/twice.xml" -i three.npy -o npy:- | irrun "$data/twice.xml" -i npy:- -o csv:- | lines)" = "4,8 12,16 20,24" ]
    [ "$(irrun "$data/twice.xml" -i three.npy -o raw:- | irrun "$data/twice.xml" -i raw:- -o csv:- | lines)" = "4,8 12,16 20,24" ]
}

@test "a key whose array is one record, and no stack" {
    printf 'u1  [ 1 2 ]\nu2  [ 3 4 ]\n' >singles.ark
    [ "$(irrun "$data/twice.xml" -i singles.ark -o csv:- | lines)" = "2,4 6,8" ]
    [ "$(irrun "$data/twice.xml" -i ark:- -o csv:- < <(cat singles.ark) | lines)" = "2,4 6,8" ]
    [ "$(irrun "$data/twice.xml" -i singles.ark -n 2 --emit=all -o csv:- | lines)" = "2,4 2,4 6,8 6,8" ]
}

@test "the keys of an ark are sequences" {
    [ "$(irrun "$data/twice.xml" -i f.ark | grep '^#' | cut -d ' ' -f 5- | lines)" = "seq=u1 rec=0 seq=u1 rec=1 seq=u2 rec=0" ]
    [ "$(irrun "$data/twice.xml" -i f.ark -o ark,t:- | tr -s ' \n' ' ')" = "u1 [ 2 4 6 8 ] u2 [ 10 12 ] " ]
    irrun "$data/twice.xml" -i f.ark -o y.ark
    [ "$(irrun "$data/twice.xml" -i y.ark -o csv:- | lines)" = "4,8 12,16 20,24" ]
}

@test "every sequence starts with the initial values" {
    printf 'a  [ 1 2 3 ]\nb  [ 4 5 ]\n' >x.ark
    [ "$(irrun "$data/sum.xml" -i x.ark --axis=0 -o csv:- | lines)" = "1 3 6 4 9" ]
    [ "$(irrun "$data/sum.xml" -i x.ark --axis=0 -o csv:- --reset=never | lines)" = "1 3 6 10 15" ]
    [ "$(irrun "$data/sum.xml" -i x.ark --axis=0 -o csv:- --reset=2 | lines)" = "1 3 3 4 9" ]
    [ "$(irrun "$data/sum.xml" -i x.ark --axis=0 -n 4 --emit=all -o csv:- | lines)" = "1 3 6 7 4 9 13 18" ]
    [ "$(irrun "$data/sum.xml" -i x.ark --axis=0 --emit=last -o csv:- | lines)" = "6 9" ]
}

@test "several arks are matched by key" {
    printf 'u2  [\n  10 20 ]\nu1  [\n  1 1\n  2 2 ]\n' >g.ark
    [ "$(irrun "$data/pair.xml" -i a=f.ark -i b=g.ark -o @0=csv:- | lines)" = "2,3 5,6 15,26" ]
    [ "$(irrun "$data/pair.xml" -i a=f.ark -i b=one.npy -o @0=csv:- | lines)" = "2,4 4,6 6,8" ]
    printf 'u1  [\n  1 1\n  2 2 ]\n' >g.ark
    run_apart irrun "$data/pair.xml" -i a=f.ark -i b=g.ark -o @0=csv:-
    [ "$status" -eq 65 ]
    [[ $stderr == *'g.ark: error: has no key "u2"'* ]]
    run_apart irrun "$data/pair.xml" -i a=g.ark -i b=f.ark -o @0=csv:-
    [ "$status" -eq 65 ]
    [[ $stderr == *'f.ark: error: has key "u2", which g.ark lacks'* ]]
}

@test "a shard of several arks" {
    printf 'k0 [ 1 2 ]\nk1 [ 3 4 ]\nk2 [ 5 6 ]\n' >a.ark
    printf 'k2 [ 1 1 ]\nk1 [ 2 2 ]\nk0 [ 3 3 ]\n' >b.ark
    local pair=("$data/pair.xml" -i a=a.ark -i b=b.ark -o minus=csv:-)
    [ "$(irrun "${pair[@]}" --shard=0/2 | lines)" = "-2,-1 4,5" ]
    [ "$(irrun "${pair[@]}" --shard=1/2 | lines)" = "1,2" ]
    printf 'k3 [ 0 0 ]\n' >>b.ark
    refused 65 'b.ark: error: has key "k3", which a.ark lacks' "${pair[@]}" --shard=3/4
}

@test "several sequences in one file, or one file each" {
    irrun "$data/twice.xml" -i f.ark -o y.npy
    [ "$(shape y.npy)" = "3, 2" ]
    irrun "$data/twice.xml" -i f.ark -o %k.npy
    [ "$(shape u1.npy)" = "2, 2" ]
    [ "$(shape u2.npy)" = "1, 2" ]
    irrun "$data/pair.xml" -i a=f.ark -i b=one.npy -o %k_%n.csv
    [ "$(lines <u1_all_plus.csv)" = "2,4 4,6" ]
    run_apart irrun "$data/twice.xml" -i f.ark -o y.npz
    [ "$status" -eq 2 ]
    [[ $stderr == *%k* ]]
    run_apart irrun "$data/twice_open.xml" -i f.ark --concat=0 -o y.npy
    [ "$status" -eq 2 ]
}

@test "--concat joins along an axis of the records" {
    npy '<f4' '2, 4' 1 2 3 4 5 6 7 8 >wide.npy
    irrun "$data/twice_axis.xml" -i wide.npy --axis=1 --concat=1 -o y.npy
    [ "$(shape y.npy)" = "2, 4" ]
    [ "$(irrun "$data/twice_axis.xml" -i y.npy -o csv:- | lines)" = "4,8,12,16 20,24,28,32" ]
    irrun "$data/twice.xml" -i three.npy --concat=y=0 -o y.npy
    [ "$(shape y.npy)" = "6," ]
    [ "$(irrun "$data/twice_open.xml" -i f.ark --axis 0 --concat 0 -o ark,t:- | tr -s ' \n' ' ')" = "u1 [ 2 4 6 8 ] u2 [ 10 12 ] " ]
    run_apart irrun "$data/twice.xml" -i three.npy --concat=1 -o y.npy
    [ "$status" -eq 2 ]
    run_apart irrun "$data/pair.xml" --random --concat=@0=0 -o y.npz
    [ "$status" -eq 2 ]
    [[ $stderr == *'are joined along different axes, but both go to'* ]]
}

@test "--partial: error, drop, pad" {
    npy '<f4' '5,' 1 2 3 4 5 >five.npy
    raw 1 2 3 4 5 >five.raw
    printf '1\n2\n3\n4\n5\n' >five.csv
    npy '<f4' '2, 3' 1 2 3 4 5 6 >deep.npy
    local file
    for file in five.npy five.raw five.csv; do
        run_apart irrun "$data/twice.xml" -i $file --axis=0 -o none:
        [ "$status" -eq 65 ]
        [ "$(irrun "$data/twice.xml" -i $file --axis=0 --partial=drop -o csv:- | lines)" = "2,4 6,8" ]
        [ "$(irrun "$data/twice.xml" -i $file --axis=0 --partial=pad -o csv:- | lines)" = "2,4 6,8 10,0" ]
    done
    [ "$(irrun "$data/twice_axis.xml" -i deep.npy --axis=1:2 --partial=pad -o csv:- | lines)" = "2,4 8,10 6,0 12,0" ]
    [ "$(irrun "$data/twice_axis.xml" -i deep.npy --axis=1:2 --partial=drop -o csv:- | lines)" = "2,4 8,10" ]
}

@test "--cast: none, safe, any with one warning" {
    npy '<f8' '3, 2' 1 2 0.1 4 5 6 >x.npy
    run_apart irrun "$data/twice.xml" -i x.npy -o none:
    [ "$status" -eq 65 ]
    [[ $stderr == *--cast=any* ]]
    run_apart irrun "$data/twice.xml" -i x.npy -o csv:- --cast=any
    [ "$status" -eq 0 ]
    [ "$(lines <<<"$output")" = "2,4 0.2,8 10,12" ]
    [ "$(grep -c warning <<<"$stderr")" -eq 1 ]
    npy '|u1' '2,' 1 2 >u8.npy
    run_apart irrun "$data/twice.xml" -i u8.npy -o none: --cast=none
    [ "$status" -eq 65 ]
    run_apart irrun "$data/twice.xml" -i one.npy -o none: --cast=none
    [ "$status" -eq 0 ]
    npy '<f4' '2,' 2.7 -3.7 >x.npy
    [ "$(irrun "$data/twice_i32.xml" -i x.npy -o csv:- --cast=any -q)" = "4,-6" ]
}

@test "--cast=any warns only of values that it changes, in whichever record" {
    npy '<f8' '3, 2' 1 2 nan 4 inf 6 >x.npy
    run_apart irrun "$data/twice.xml" -i x.npy -o none: --cast=any
    [ "$status" -eq 0 ]
    [ "$stderr" = "" ]
    npy '<f8' '3, 2' 1 2 3 4 5 0.1 >x.npy
    run_apart irrun "$data/twice.xml" -i x.npy -o none: --cast=any
    [ "$stderr" = 'irrun: warning: values of f64 are narrowed to f32 (input "x")' ]
    npy '<f4' '2,' 2147483648 1 >x.npy
    run_apart irrun "$data/twice_i32.xml" -i x.npy -o none: --cast=any
    [[ $stderr == *"values of f32 are narrowed to i32"* ]]
}

@test "--shape fills what model and file leave open" {
    raw 1 2 3 4 >x.raw
    [ "$(irrun "$data/twice_open.xml" -i x.raw --shape=x=1,2 | grep '^#' | lines)" = \
        "# y f32 [1,2] seq=x rec=0 # y f32 [1,2] seq=x rec=1" ]
    [ "$(irrun "$data/twice_open.xml" -i x.raw --shape=x=2,2 | head -n 1)" = "# y f32 [2,2] seq=x rec=0" ]
    [ "$(irrun "$data/twice_open.xml" --random --shape=x=3,2 | head -n 1)" = "# y f32 [3,2] seq=- rec=0" ]
    [ "$(irrun "$data/twice_any.xml" --random=ones --shape=x=4 -o csv:-)" = "2,2,2,2" ]
    run_apart irrun "$data/twice_open.xml" --random --shape=x=3,3
    [ "$status" -eq 2 ]
    [[ $stderr == *"[?,2]"*"[3,3]"* ]]
    run_apart irrun "$data/twice_open.xml" --random --shape=x=3,z
    [ "$status" -eq 2 ]
    run_apart irrun "$data/twice_open.xml" -i three.npy --shape=x=2,2
    [ "$status" -eq 65 ]
}

@test "--feed gives an output back as the next input" {
    [ "$(irrun "$data/sum.xml" --random=ones --feed=sum=x -n 5 --emit=all -o csv:- | lines)" = "1 2 4 8 16" ]
    [ "$(irrun "$data/sum.xml" -i csv:- --feed=sum=x -n 3 --emit=all -o csv:- <<<5 | lines)" = "5 10 20" ]
    [ "$(irrun "$data/sum.xml" --feed=sum=x -n 3 --emit=all -o csv:- | lines)" = "0 0 0" ]
    [ "$(irrun "$data/pair.xml" -i a=three.npy --feed=minus=b -o minus=csv:- | lines)" = "1,2 2,2 3,4" ]
    run_apart irrun "$data/sum.xml" --feed=sum=x
    [ "$status" -eq 2 ]
    [[ $stderr == *--until* ]]
    run_apart irrun "$data/sum.xml" -i three.npy --feed=sum=x -n 3
    [ "$status" -eq 65 ]
    npy '<f4' '2, 1' 1 2 >two.npy
    [ "$(irrun "$data/sum.xml" -i two.npy --feed=sum=x -n 4 --emit=all -o csv:- | lines)" = "1 3 6 12" ]
    run_apart irrun "$data/sum.xml" --feed=sum=y -n 3
    [ "$status" -eq 2 ]
}

@test "--until ends the sequence when a scalar is reached" {
    [ "$(irrun "$data/sum.xml" --random=ones --feed=sum=x --until=sum=8 -o csv:- | lines)" = "1 2 4 8" ]
    [ "$(irrun "$data/sum.xml" --random=ones --until=sum=3 -o csv:- | lines)" = "1 2 3" ]
    printf '0.1\n0.2\n' >tenths.csv # in f32, 0.1 is not the f64 nearest to 0.1
    [ "$(irrun "$data/sum.xml" -i tenths.csv --until=sum=0.1 -o csv:- | lines)" = "0.1" ]
    printf '1\n2\n3\n4\n' >x.csv
    [ "$(irrun "$data/sum.xml" -i x.csv --until=sum=3 -o csv:- | lines)" = "1 3" ]
    [ "$(irrun "$data/sum.xml" -i x.csv --until=sum=100 -o csv:- | lines)" = "1 3 6 10" ]
    # Integers as integers, beyond what a double tells apart.
    sed 's/f32/i64/' "$data/copy.xml" >copy.xml
    printf '%s\n' 1152921504606846977 1152921504606846976 1152921504606846975 >x.csv
    [ "$(irrun copy.xml -i in_a=x.csv --shape=in_a=1 --random --shape=in_fresh=1 --until=a=1152921504606846976 -o a=csv:- | lines)" = "1152921504606846977 1152921504606846976" ]
    printf '%s\n' 1 2 3 >x.csv
    [ "$(irrun copy.xml -i in_a=x.csv --shape=in_a=1 --random --shape=in_fresh=1 --until=a=2.0 -o a=csv:- | lines)" = "1 2" ]
    [ "$(irrun copy.xml -i in_a=x.csv --shape=in_a=1 --random --shape=in_fresh=1 --until=a=1.5 -o a=csv:- | lines)" = "1 2 3" ]
    [ "$(irrun "$data/sum.xml" --random=ones --until=sum=100 -n 2 --emit=all -o csv:- | lines)" = "1 2" ]
    run_apart irrun "$data/twice.xml" -i three.npy --until=y=1
    [ "$status" -eq 65 ]
    run_apart irrun "$data/twice.xml" -i three.npy --until=z=1
    [ "$status" -eq 2 ]
    run_apart irrun "$data/twice.xml" -i three.npy --until=y
    [ "$status" -eq 2 ]
}

@test "--warmup changes no output byte" {
    printf '1\n2\n3\n4\n' >x.csv
    irrun "$data/sum.xml" -i x.csv -o a.npy
    irrun "$data/sum.xml" -i x.csv -o b.npy --warmup 5
    cmp a.npy b.npy
    [ "$(irrun "$data/sum.xml" -i csv:- -o csv:- --warmup=3 < <(cat x.csv) | lines)" = "1 3 6 10" ]
    run_apart irrun "$data/sum.xml" -i x.csv -o none: --warmup=7 -s
    [[ $stderr == *"iterations         4"* ]]
}

@test "a stack larger than memory would allow is read record by record" {
    [[ ${BUILD-} != *sanitize* ]] || skip "sanitizers keep freed memory"
    npy '<f4' '100000000, 2' >big.npy
    truncate -s $((128 + 800000000)) big.npy
    run_apart irrun "$data/twice_open.xml" -i big.npy --axis=0:1000000 -o none: -s
    [ "$status" -eq 0 ]
    [[ $stderr == *"iterations         100"* ]]
    [ "$(sed -n 's/^peak RSS *\([0-9]*\)\.*[0-9]* MB/\1/p' <<<"$stderr")" -lt 50 ]
}
