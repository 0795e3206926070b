#!/usr/bin/env bats
# --diff: the first op that differs from a reference.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    transformer=("$root/models/tiny_transformer/model.xml" --random "--shape=tokens=2,8" --shape=beam_idx=2 -n 5 --reset=2)
}

# differs WORDS ARGUMENT...: exit status 1, nothing on standard output, and a message that says the words.
differs() {
    local words=$1
    run_apart irrun "${@:2}"
    echo "$stderr"
    [ "$status" -eq 1 ]
    [ "$output" = "" ]
    [[ $stderr == *"$words"* ]]
}

@test "--diff=scalar, plain, unfused: irrun equals its specification, with variables and resets" {
    local word
    for word in scalar plain unfused; do
        irrun "$root/models/lstm_tagger/model.xml" --random -n 5 --diff=$word -o got.csv
        irrun "${transformer[@]}" --diff=$word -o none: -j2
        irrun "$root/models/sensor_watch/model.xml" --random -n 7 --reset=3 --warmup=2 --diff=$word -o none:
    done
    irrun "$root/models/lstm_tagger/model.xml" --random -n 5 -o want.csv
    cmp got.csv want.csv
    local reference='--diff=FILE.npz reads a file of --tap-records; --diff=scalar, plain, unfused and f64 need no file'
    seq 9 >y.npz
    answered 65 'y.npz: byte 0: error: is text, not npz' "$reference" "$data/sum.xml" --random --diff=y.npz
    answered 66 'scalr: error: cannot be opened' "$reference" \
        "$data/sum.xml" --random --diff=scalr -o none:
    npy '<f4' '3, 1' 1 2 3 >value.npy
    printf '%s\tvalue.npy\n' a b c d >list
    irrun "$data/sum.xml" --manifest=list --jobs=2 --diff=scalar -o none:
    irrun "$data/sum.xml" -i value.npy --state-out=s.npz -o none:
    irrun "$data/sum.xml" -i value.npy --state-in=s.npz --diff=scalar -o none:
}

@test "--diff reads tensors of one name, and another with the name that one of them gets" {
    sed 's|names="minus,diff"|names="all/plus"|; s|names="first"|names="all/plus~2"|' "$data/pair.xml" >same.xml
    irrun same.xml --random --tap-records=r.npz -o none:
    irrun same.xml --random --diff=r.npz -o none:
}

@test "--diff names the op, its line, the record, the element, its inputs and how the difference grew" {
    npy '<f4' '2, 2' 1 2 3 4 >x.npy
    npy '<f4' '2, 2' 1 2 3 4.0625 >other.npy
    irrun "$data/chain.xml" -i x.npy --tap-records=r.npz -o none:
    differs "$data/chain.xml:16:5: error: Multiply \"square\" differs from r.npz in record 1: worst in record 1 at [1]: got 66.015625, expected 64; 1 of 2 elements differ by more than atol 0.5, rtol 0" \
        "$data/chain.xml" -i other.npy --diff=r.npz --atol=0.5 --rtol=0 -o none:
    [ "$(tail -n +2 <<<"$stderr")" = '  its inputs:
    "doubled" (line 12): differs by at most 0.125
    "doubled" (line 12): differs by at most 0.125
  on the way there:
    "x" (line 6): differs by at most 0.0625
    "doubled" (line 12): differs by at most 0.125' ]
    differs 'Parameter "x" differs' "$data/chain.xml" -i other.npy --diff=r.npz -o none:
    [ "$(tail -n 1 <<<"$stderr")" = '  hint: the inputs differ: give both runs the same -i' ]
    # a model that was edited since
    sed '16s/Multiply/Add/' "$data/chain.xml" >edited.xml
    differs 'edited.xml:16:5: error: Add "square" differs' edited.xml -i x.npy --diff=r.npz -o none:
    [[ $stderr == *'"doubled" (line 12): equal'* ]]
    [ "$(tail -n 1 <<<"$stderr")" = '  hint: --atol=NUMBER and --rtol=NUMBER allow larger differences' ]
}

@test "--diff: differences that f32 does not hold, and the last operators of a long way" {
    sed 's/f32/f64/; s/FP32/FP64/' "$data/chain.xml" >f64.xml
    npy '<f8' '1, 2' 1e-60 1e-60 >x.npy
    npy '<f8' '1, 2' 1e-60 3e-60 >other.npy
    irrun f64.xml -i x.npy --tap-records=r.npz -o none:
    differs 'Add "doubled" differs' f64.xml -i other.npy --diff=r.npz --atol=3e-60 --rtol=0 -o none:
    [[ $stderr == *'"x" (line 6): differs by at most 2'*'e-60'* ]]
    # ten sums of a value with itself
    local i port='<port id="0"><dim>1</dim></port>' edges='' out=0
    {
        echo '<net name="long" version="11"><layers>'
        echo "<layer id=\"0\" name=\"x\" type=\"Parameter\" version=\"opset1\">"
        echo "<data element_type=\"f32\" shape=\"1\"/><output>$port</output></layer>"
        for i in $(seq 10); do
            echo "<layer id=\"$i\" name=\"sum$i\" type=\"Add\" version=\"opset1\"><input>$port${port/0/1}</input>"
            echo "<output>${port/0/2}</output></layer>"
            edges+="<edge from-layer=\"$((i - 1))\" from-port=\"$out\" to-layer=\"$i\" to-port=\"0\"/>"
            edges+="<edge from-layer=\"$((i - 1))\" from-port=\"$out\" to-layer=\"$i\" to-port=\"1\"/>"
            out=2
        done
        echo "<layer id=\"11\" name=\"y\" type=\"Result\" version=\"opset1\"><input>$port</input></layer></layers><edges>"
        echo "$edges<edge from-layer=\"10\" from-port=\"2\" to-layer=\"11\" to-port=\"0\"/></edges></net>"
    } >long.xml
    npy '<f4' '1, 1' 1 >x.npy
    npy '<f4' '1, 1' 2 >other.npy
    irrun long.xml -i x.npy --tap-records=r.npz -o none:
    differs 'Add "sum10" differs' long.xml -i other.npy --diff=r.npz --atol=1000 --rtol=0 -o none:
    [ "$(sed '1,/on the way there/d' <<<"$stderr" | grep -o 'sum[0-9]*' | lines)" = "sum2 sum3 sum4 sum5 sum6 sum7 sum8 sum9" ]
    [[ $stderr == *'  on the way there (only the last 8 operators):'* ]]
}

@test "--diff=scalar names --diff=f64 where it finds a difference" {
    local model=$root/tests/cases/matmul/const_weights_48_columns/model.xml allow='--atol=NUMBER and --rtol=NUMBER allow larger differences'
    differs 'MatMul "y" differs from scalar' "$model" '--random=uniform(-1e6,1e6)' --diff=scalar -o none:
    [ "$(tail -n 1 <<<"$stderr")" = "  hint: $allow; if --diff=f64 passes, the difference is rounding" ]
    differs 'MatMul "y" differs from f64' "$model" '--random=uniform(-1e6,1e6)' --diff=f64 -o none:
    [ "$(tail -n 1 <<<"$stderr")" = "  hint: $allow" ]
}

@test "--diff=f64 names the op where rounding matters" {
    printf '16777216\n1\n1\n' >x.csv # f32 does not hold 16777217
    differs "$data/sum.xml:14:5: error: Add \"sum\" differs from f64 in record 1: worst in record 1 at [0]: got 16777216, expected 16777217;" \
        "$data/sum.xml" -i x.csv --diff=f64 --atol=0.5 --rtol=0 -o none:
    # a large number that is subtracted again
    npy '<f4' '1, 2' 0.5 0.2500003 >x.npy # 4 x * x - x: what is left has few digits
    differs "$data/chain.xml:20:5: error: Subtract \"y\" differs from f64 in record 0: worst in record 0 at [1]" \
        "$data/chain.xml" -i x.npy --diff=f64 --atol=0 --rtol=1e-7 -o none:
    [[ $stderr == *'"square" (line 16): differs by at most '*'e-'* ]]
    [[ $stderr == *'"x" (line 6): equal'* ]]
    local word=convolution/conv1d model=$root/models/lstm_tagger/model.xml
    irrun "$root/tests/cases/$word/model.xml" -i "$root/tests/cases/$word/in.npz" --diff=f64 -o none:
    differs 'Convolution "y" differs from f64 in record 0' \
        "$root/tests/cases/$word/model.xml" -i "$root/tests/cases/$word/in.npz" --diff=f64 --atol=0 --rtol=0 -o none:
    irrun "$model" --random -n 5 --diff=f64 -o none:
    differs 'LSTMSequence "lstm:0" differs from f64 in record 0' "$model" --random -n 5 --diff=f64 --atol=0 --rtol=0 -o none:
    irrun "${transformer[@]}" --diff=f64 -o none: # variables, bodies, compressed weights
    model=$root/tests/cases/loop/nested
    irrun "$model/model.xml" -i "$model/in.npz" --diff=f64 -o none:
    irrun "$data/twice_f16.xml" --random -n 3 --diff=f64 --rtol=1e-3 -o none:
    irrun "$data/sum.xml" -i x.csv --state-out=s.npz -o none:
    irrun "$data/sum.xml" -i x.csv --state-in=s.npz --diff=f64 --rtol=1e-6 -o none: # the state becomes f64
}

@test "--diff=FILE: what --tap-records saved, record by record" {
    local sums
    seq 20 >x.csv
    irrun "$data/sum.xml" -i x.csv --tap-records=r.npz -o none:
    irrun "$data/sum.xml" -i x.csv --diff=r.npz -o none:
    sed 's/^18$/18.5/' x.csv >other.csv
    differs 'Parameter "x:0" differs from r.npz in record 17: worst in record 17 at [0]: got 18.5, expected 18' "$data/sum.xml" -i other.csv --diff=r.npz -o none:
    irrun "$data/sum.xml" -i other.csv --diff=r.npz --atol=1 -o none:
    irrun "$data/sum.xml" -i x.csv --tap-all=last.npz -o none:
    irrun "$data/sum.xml" -i x.csv --diff=last.npz -o none:
    differs 'differs from last.npz in record 19' "$data/sum.xml" -i x.csv --reset=10 --diff=last.npz -o none:
    # another program's tensors: those that are there
    mapfile -t sums < <(seq 20 | awk '{ s += $1; print s + ($1 == 7) }')
    npy '<f4' '20, 1' "${sums[@]}" >want.npy
    perl -MIO::Compress::Zip=zip -e 'zip "want.npy" => "sum.npz", Name => "sum.npy" or die'
    differs '"sum" differs from sum.npz in record 6: worst in record 6 at [0]: got 28, expected 29' "$data/sum.xml" -i x.csv --diff=sum.npz -o none:
}

@test "--check takes --diff, and compares nothing" {
    irrun "$data/sum.xml" --random --check --diff=scalar
}

@test "--diff: what it cannot do" {
    seq 3 >x.csv
    irrun "$data/sum.xml" -i x.csv --tap-records=r.npz -o none:
    refused 66 nosuch.npz "$data/sum.xml" -i x.csv --diff=nosuch.npz -o none:
    seq 4 >x.csv
    refused 65 'ends after 3 records of "' "$data/sum.xml" -i x.csv --diff=r.npz -o none:
    refused 65 "contains no tensor of the model" "$root/models/sensor_watch/model.xml" --random --diff=r.npz -o none:
    usage_error "--diff=FILE works with one sequence only" "$data/sum.xml" --manifest=/dev/null --diff=r.npz
    usage_error "r.npz is also what --diff compares with" "$data/sum.xml" -i x.csv --diff=r.npz -o none: --tap-all=r.npz
    run_apart irrun - --random --diff=scalar <"$data/sum.xml"
    [ "$status" -eq 2 ]
    [[ $stderr == *"--diff=scalar reads the model twice"* ]]
}
