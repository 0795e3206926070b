#!/usr/bin/env bats
# --key, --max-keys, --spill, --batch: variables of their own for interleaved streams.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    seq 6 >x.csv
    printf '7\n-8\n7\n7\n-8\n9\n' >k.csv
    keyed=("$data/sum.xml" -i x=x.csv -i id=k.csv --key=id -o csv:-)
}

sums() {
    irrun "${keyed[@]}" "$@" | lines
}

@test "each key has variables of its own, and outputs come in the order of the records" {
    [ "$(sums)" = "1 2 4 8 7 6" ]
    npy '<i4' '6, 1' 7 -8 7 7 -8 9 >k.npy
    [ "$(irrun "$data/sum.xml" -i x=x.csv -i id=k.npy --key=id -o csv:- | lines)" = "1 2 4 8 7 6" ]
    npy '<f4' '6, 1' 1 2 3 4 5 6 >x.npy
    npy '|u1' '6,' 255 0 255 255 0 1 >id.npy
    perl -MIO::Compress::Zip=zip -e 'zip ["x.npy", "id.npy"] => "in.npz" or die'
    [ "$(irrun "$data/sum.xml" -i in.npz --key=id -o csv:- | lines)" = "1 2 4 8 7 6" ]
    [ "$(irrun "${keyed[@]}" -n 12 --emit=all | lines)" = "1 2 4 8 7 6 9 9 12 16 14 12" ] # cycled, not reset
    [ "$(irrun "${keyed[@]}" --warmup=3 | lines)" = "1 2 4 8 7 6" ]
    [ "$(sums --diff=scalar)" = "1 2 4 8 7 6" ]
}

@test "the key may be an input of the model" {
    sed 's/"f32"/"i64"/g; s/FP32/I64/g' "$data/sum.xml" >sum64.xml
    [ "$(irrun sum64.xml -i csv:k.csv --key=x -o csv:- | lines)" = "7 -8 14 21 -16 9" ]
}

@test "--reset counts the records of a key" {
    [ "$(sums --reset=2)" = "1 2 4 4 7 6" ]
    [ "$(sums --reset)" = "1 2 3 4 5 6" ]
    printf '0\n0\n1\n0\n1\n0\n' >f.csv
    [ "$(sums -i f=f.csv --reset=if:f)" = "1 2 3 7 5 6" ]
    [ "$(sums --reset=if:id)" = "1 2 3 4 5 6" ]
}

@test "states are loaded and saved for each key" {
    sums --state-out=s_%k.npz
    [ "$(ls s_*)" = "$(printf 's_%s.npz\n' -8 7 9)" ]
    [ "$(sums --state-in=s_%k.npz)" = "9 9 12 16 14 12" ]
    [ "$(sums --state-in=s_%k.npz --state-out=s_%k.npz)" = "9 9 12 16 14 12" ]
    [ "$(sums --state-in=s_%k.npz)" = "17 16 20 24 21 18" ]
    [ "$(sums --state-in=s_%k.npz --reset=2 --reset-to=state)" = "17 16 20 20 21 18" ]
    rm s_7.npz
    [ "$(sums --state-in=s_%k.npz)" = "1 16 4 8 21 18" ]
    [ "$(sums --state-in=s_9.npz)" = "13 14 16 20 19 18" ] # one start for all
    echo damaged >s_7.npz
    refused 65 's_7.npz: byte 0: error: is text, not npz' "${keyed[@]}" --state-in=s_%k.npz
}

@test "the least recently used go to a file without a name" {
    refused_output() {
        run_apart irrun "${keyed[@]}" "$@"
        [ "$status" -eq 71 ]
        [[ $stderr == *"more than 2 keys (--max-keys)"*"--spill=DIR keeps the variables of other keys in a file"* ]]
    }
    refused_output --max-keys=2
    mkdir spilled
    local n
    for n in 1 2 3; do
        [ "$(sums --max-keys=$n --spill=spilled --state-out=%k.npz)" = "1 2 4 8 7 6" ]
        [ "$(sums --state-in=%k.npz)" = "9 9 12 16 14 12" ]
        [ -z "$(ls -A spilled)" ]
    done
    [ "$(irrun "${keyed[@]:0:6}" -o none: --max-keys=1 --spill=spilled -r - | jq -c '.run | [.keys, .keys_held, .keys_spilled]')" = "[3,1,4]" ]
    refused 73 'nowhere: error: cannot create a file in this directory' "${keyed[@]}" --spill=nowhere
}

@test "a cache that grows is kept for each key, in memory and in the file" {
    local model=$root/models/tiny_transformer/model.xml key
    perl -e 'srand 1; print join("\n", map { int rand 5 } 1 .. 60), "\n"' >k.csv
    perl -e 'srand 2; print join("\n", map { int rand 50 } 1 .. 60), "\n"' >t.csv
    local how=("$model" "--shape=tokens=1,1" --shape=beam_idx=1 -i beam_idx=value:0)
    irrun "${how[@]}" -i tokens=t.csv -i id=k.csv --key=id -o logits=csv:rows
    irrun "${how[@]}" -i tokens=t.csv -i id=k.csv --key=id -o logits=csv:spilled --max-keys=2 --spill=.
    cmp rows spilled
    for key in 0 1 2 3 4; do
        paste k.csv t.csv | awk -v k=$key '$1 == k { print $2 }' >own.csv
        paste -d: k.csv rows | sed -n "s/^$key://p" >want
        irrun "${how[@]}" -i tokens=own.csv -o logits=csv:- | cmp - want
    done
}

@test "a fed input is a variable of the key" {
    npy '<f4' '6, 2' 1 2 3 4 5 6 7 8 9 10 11 12 >a.npy
    local fed=("$data/pair.xml" --feed=minus=b -i a=a.npy -o minus=csv:-)
    printf '1\n2\n1\n2\n1\n2\n' >two.csv
    # Its own run: 1-0, 5-1, 9-4; 3-0, 7-3, 11-4.
    [ "$(irrun "${fed[@]}" -i id=two.csv --key=id | lines)" = "1,2 3,4 4,4 4,4 5,6 7,8" ]
    npy '<f4' '2,' 1 1 >b.npy
    [ "$(irrun "${fed[@]}" -i id=two.csv --key=id -i b=b.npy | lines)" = "0,1 2,3 5,5 5,5 4,5 6,7" ]
    npy '<f4' '3, 1' 1 2 3 >prompt.npy
    usage_error '--key=id: prompt.npy gives fed input "x" several records, and every key begins with one' \
        "$data/sum.xml" -i x=prompt.npy -i id=k.csv --feed=sum=x --key=id
    sed 's/"f32"/"i64"/g; s/FP32/I64/g' "$data/sum.xml" >sum64.xml
    usage_error '--key=x: --feed fills this input' sum64.xml --feed=sum=x --key=x -n 3
}

@test "--key and what does not go with it" {
    printf 'x=x.csv\n' >list
    usage_error '--key and --manifest cannot be used together' "$data/sum.xml" --manifest=list --key=id
    usage_error '--key and --checkpoint cannot be used together' "${keyed[@]}" --checkpoint=c
    usage_error '--key and --until cannot be used together' "${keyed[@]}" --until=sum=3
    usage_error '--max-keys needs --key' "$data/sum.xml" -i x.csv --max-keys=3
    usage_error '--spill needs --key' "$data/sum.xml" -i x.csv --spill=.
    usage_error '--state-out=s.npz: every key has variables of its own' "${keyed[@]}" --state-out=s.npz
    irrun "$data/sum.xml" -i x=x.csv -o ark:x.ark
    usage_error 'works with one sequence only' "$data/sum.xml" -i x=x.ark -i id=k.csv --key=id
    usage_error '--key=x is f32, but must be an integer' "$data/sum.xml" -i x=x.csv --key=x
    usage_error '--key needs the name of an input' "$data/sum.xml" -i x=x.csv --key=
    answered 2 '--key=id: no -i and no npz member has that name' '-i id=FILE gives one number per record' \
        "$data/sum.xml" -i x=x.csv --key=id
    answered 2 'no input "id"' 'did you mean --key=id?' "$data/sum.xml" -i x=x.csv -i id=k.csv --key=ids
    printf '1.5\n' >half.csv
    refused 65 '"1.5" is not a whole number' "$data/sum.xml" -i x=x.csv -i id=half.csv --key=id
    npy '<i8' '6, 2' 1 2 3 4 5 6 7 8 9 10 11 12 >pairs.npy
    refused 65 'must be one number per record' "$data/sum.xml" -i x=x.csv -i id=pairs.npy --key=id
    raw 1 2 3 >k.raw
    usage_error '--key=id cannot be read from k.raw' "$data/sum.xml" -i x=x.csv -i id=k.raw --key=id
    run_apart irrun "$data/twice.xml" -i x=x.csv -i id=k.csv --key=id -o none:
    [[ $stderr == *"--key: the model has no variable"* ]]
}

@test "many keys take memory for their variables only" {
    perl -e 'print join("\n", map { $_ * 7919 % 20011 } 1 .. 60000), "\n"' >k.csv
    seq 60000 >x.csv
    irrun "${keyed[@]:0:6}" -o got.csv -r r.json
    perl -e 'open K, "k.csv"; open G, "got.csv"; for my $x (1 .. 60000) {
        my $k = <K>; $s{$k} += $x; $n += $s{$k} == <G>; } exit($n != 60000)'
    [ "$(jq .run.keys r.json)" -eq 20011 ]
    # An entry of the tables, doubled as they grow, and 24 bytes of the variable.
    [ "$(jq .memory_bytes.keys r.json)" -lt $((20011 * (2 * 88 + 24))) ]
    irrun "$data/sum_open.xml" "${keyed[@]:1:5}" --shape=x=1,1 -o joined=none: -o sum=got2.csv --batch=16 -r r.json
    cmp got.csv got2.csv
    [ "$(jq .memory_bytes.keys r.json)" -lt $((20011 * (2 * 88 + 32))) ]
}

# In batches of up to N, with further options: the sums.
batches() { # N OPTION...
    irrun "$data/sum_open.xml" -i x=x.csv --shape=x=1,1 -i id=k.csv --key=id -o joined=none: -o sum=csv:- --batch="$1" "${@:2}" | lines
}

@test "--batch gives the same outputs, in the order of the records" {
    local n
    for n in 1 2 3 4 65536; do
        [ "$(batches $n --max-keys=65536)" = "1 2 4 8 7 6" ]
        [ "$(batches $n --reset=2)" = "1 2 4 4 7 6" ]
        [ "$(batches $n --reset)" = "1 2 3 4 5 6" ]
        [ "$(batches $n -n 12 --emit=all)" = "1 2 4 8 7 6 9 9 12 16 14 12" ]
        [ "$(batches $n -n 10)" = 16 ]
        [ "$(batches $n --warmup=2 --state-out=%k.npz)" = "1 2 4 8 7 6" ]
        [ "$(batches $n --state-in=%k.npz)" = "9 9 12 16 14 12" ]
        [ "$(batches $n --state-in=%k.npz --reset=2 --reset-to=state)" = "9 9 12 12 14 12" ]
        [ "$(batches $n --state-in=7.npz)" = "9 10 12 16 15 14" ]
    done
    [ "$(batches 3 --max-keys=3 --spill=.)" = "1 2 4 8 7 6" ]
    [ "$(batches 2 --max-keys=2 --spill=.)" = "1 2 4 8 7 6" ]
    # Where the model gives one row to begin with, new keys run alone.
    sed 's/from-layer="1" from-port="2"/from-layer="7" from-port="0"/' "$data/sum_open.xml" >sum_one.xml
    head -c 4 /dev/zero >sum_one.bin
    mv sum_one.xml sum_open.xml
    mv sum_one.bin sum_open.bin
    [ "$(data=. batches 4)" = "1 2 4 8 7 6" ]
    # So they do where several keys together fit the initial value, and one has all of its rows.
    sed -i 's/shape="1,1"/shape="3,1"/; s/size="4"/size="12"/
        s/from-layer="2" from-port="1" to-layer="6"/from-layer="0" from-port="0" to-layer="6"/' sum_open.xml
    head -c 12 /dev/zero >sum_open.bin
    printf '1\n2\n3\n1\n2\n3\n' >k.csv
    data=. batches 1 >got.1
    data=. batches 3 | cmp - got.1
    data=. batches 4 | cmp - got.1
}

@test "--batch waits for no record" {
    mkfifo in out
    irrun "$data/sum_open.xml" -i x=csv:in --shape=x=1,1 -i id=k.csv --key=id -o joined=none: -o sum=csv:out --batch=4 &
    exec 5>in 6<>out
    local x sum
    for x in 1 2 3 4 5 6; do
        echo "$x" >&5
        read -r -t 20 sum <&6
        echo "$sum"
        [ "$sum" -eq "$(cut -d' ' -f$x <<<"1 2 4 8 7 6")" ]
    done
    exec 5>&-
    wait $!
    exec 6<&-
}

@test "--batch fills, and says how well" {
    seq 400 >x.csv
    perl -e 'print join("\n", map { $_ % 40 } 1 .. 400), "\n"' >k.csv
    batches 16 -r r.json >got
    batches 1 | cmp - got
    [ "$(jq -c '[.run.iterations, .run.batches]' r.json)" = '[400,27]' ] # new keys are apart from the others, and the first from all
}

@test "a fed input is a row of the batch" {
    local n
    sed 's/name="x" type/name="y" type/; s/x:0/y:0/' "$data/sum_open.xml" >fed.xml
    for n in 1 2 4; do
        irrun fed.xml --feed=sum=y --shape=y=1,1 -i id=k.csv --random=ones --key=id -o joined=none: \
            -o sum=csv:- -o y=fed.csv --batch=$n | lines >sums.$n
        cmp sums.1 sums.$n
        [ "$(lines <fed.csv)" = "$(cat sums.1)" ]
    done
    [ "$(cat sums.1)" = "1 1 2 4 2 1" ]
}

@test "--batch and what does not go with it" {
    refused 69 '--batch=2: axis 0 must be dynamic: input "x" [1], output "sum" [1], variable "total" [1]' \
        "${keyed[@]}" --batch=2
    usage_error '--batch needs --key' "$data/sum.xml" -i x.csv --batch=3
    usage_error '--batch=3 must not be above --max-keys=2' "${keyed[@]}" --batch=3 --max-keys=2
    usage_error '--batch and --tap-records cannot be used together' "${keyed[@]}" --batch=3 --tap-records=t.npz
    usage_error '--batch and --diff cannot be used together' "${keyed[@]}" --batch=3 --diff=scalar
    usage_error '--batch and -i count: cannot be used together' "$data/pair.xml" -i b=x.csv -i a=count:b -i id=k.csv --key=id --batch=3
}
