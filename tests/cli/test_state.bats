#!/usr/bin/env bats
# --state-in, --state-out, --reset-to, --state-any-model.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    printf '1\n2\n3\n4\n5\n' >five.csv
    printf '10\n20\n' >two.csv
}

sum() {
    irrun "$data/sum.xml" -o csv:- "$@" | numbers
}

@test "a state goes from one run to the next" {
    [ "$(sum -i five.csv --state-out=s.npz)" = "1 3 6 10 15" ]
    [ "$(sum -i two.csv --state-in=npz:s.npz --state-out=npz:s.npz)" = "25 45" ]
    [ "$(sum -i two.csv --state-in=s.npz)" = "55 75" ]
    [ "$(sum -i two.csv)" = "10 30" ]
}

# cut_in_two MODEL INPUT.csv LINES: at LINES, then at random places; a record is a line.
cut_in_two() {
    local cut all=$2
    irrun "$1" -i "$all" -o whole_%n.csv
    for cut in "$3" $(shuf -i 1-$(($(wc -l <"$all") - 1)) -n 20); do
        head -n "$cut" "$all" >head.csv
        tail -n +$((cut + 1)) "$all" >tail.csv
        irrun "$1" -i head.csv -o a_%n.csv --state-out=s.npz
        irrun "$1" -i tail.csv -o b_%n.csv --state-in=s.npz
        for file in whole_*.csv; do
            cat "a_${file#whole_}" "b_${file#whole_}" | cmp - "$file" || return
        done
    done
}

@test "a run cut in two anywhere equals the whole, bit for bit" {
    cut_in_two "$root/models/sensor_watch/model.xml" "$root/models/sensor_watch/readings.csv" 1
    od -An -v -tu1 -w16 "$root/models/lstm_tagger/text.txt" | awk 'NF == 16' >codes.csv
    [ "$(wc -l <codes.csv)" -gt 15 ]
    cut_in_two "$root/models/lstm_tagger/model.xml" codes.csv 1
}

@test "--reset-to=state resets to what was loaded" {
    sum -i two.csv --state-out=s.npz
    [ "$(sum -i five.csv --state-in=s.npz --reset=2)" = "31 33 3 7 5" ]
    [ "$(sum -i five.csv --state-in=s.npz --reset=2 --reset-to=state)" = "31 33 33 37 35" ]
    [ "$(sum -i five.csv --state-in=s.npz --reset --reset-to=init)" = "31 2 3 4 5" ]
    run_apart irrun "$data/sum.xml" -i five.csv --reset-to=state
    [ "$status" -eq 2 ]
}

@test "the first iteration starts from the state; only if: may reset before it" {
    sum -i two.csv --state-out=s.npz
    [ "$(sum -i five.csv --state-in=s.npz --reset)" = "31 2 3 4 5" ]
    [ "$(sum -i five.csv --state-in=s.npz --reset=never)" = "31 33 36 40 45" ]
    printf '1\n0\n0\n0\n0\n' >f.csv
    [ "$(sum -i x=five.csv -i f=f.csv --state-in=s.npz --reset=if:f)" = "1 3 6 10 15" ]
}

@test "a state of another model is refused, unless that is allowed" {
    sum -i two.csv --state-out=s.npz
    sed 's/name="sum"/name="sum2"/' "$data/sum.xml" >sum2.xml
    run_apart irrun sum2.xml -i two.csv --state-in=s.npz
    [ "$status" -eq 65 ]
    [[ $stderr == "s.npz: error: was saved with a different model"*"hint: it holds total; --state-any-model loads it anyway" ]]
    [ "$(irrun sum2.xml -i two.csv --state-in=s.npz --state-any-model -o csv:- | numbers)" = "40 60" ]
    sed 's/"total"/"other"/' "$data/sum.xml" >other.xml
    answered 65 "s.npz: error: was saved with a different model" \
        'it does not fit this model: member "total" is not a variable of the model; the variables are other' other.xml -i two.csv --state-in=s.npz
}

@test "a file that NumPy could have made is checked by name, type and shape" {
    npy '<f4' '1,' 5 >a.npy
    sed 's/names="a"/names="total"/; s/names="fresh"/names="other"/' "$data/copy.xml" >copy.xml
    irrun copy.xml -i in_a=a.npy -i in_fresh=a.npy -o total=good.npz
    [ "$(sum -i two.csv --state-in=good.npz)" = "15 35" ]
    irrun copy.xml -i in_a=a.npy -i in_fresh=a.npy -o extra.npz
    run_apart irrun "$data/sum.xml" -i two.csv --state-in=extra.npz
    [ "$status" -eq 65 ]
    [[ $stderr == *"hint: the variables are total" ]]
    [[ $stderr == *'"other"'* ]]
    irrun copy.xml -i in_a=a.npy -i in_fresh=a.npy -o other=missing.npz
    run_apart irrun "$data/sum.xml" -i two.csv --state-in=missing.npz
    [ "$status" -eq 65 ]
    npy '<f4' '2,' 5 6 >b.npy
    irrun copy.xml -i in_a=b.npy -i in_fresh=a.npy -o total=shape.npz
    run_apart irrun "$data/sum.xml" -i two.csv --state-in=shape.npz
    [ "$status" -eq 65 ]
    [ "$stderr" = 'shape.npz: error: variable "total" is f32 [1], but this array is f32 [2]' ]
    npy '<i4' '1,' 5 >c.npy
    sed 's/precision="FP32"/precision="I32"/; s/element_type="f32"/element_type="i32"/' copy.xml >copy_i32.xml
    irrun copy_i32.xml -i in_a=c.npy -i in_fresh=c.npy -o total=type.npz
    refused 65 'variable "total" is f32 [1], but this array is i32 [1]' "$data/sum.xml" -i two.csv --state-in=type.npz
    run_apart irrun "$data/sum.xml" -i two.csv --state-in=nowhere.npz
    [ "$status" -eq 66 ]
}

@test "an npz of inputs as a state: the hint lists the variables" {
    npy '<f4' '2, 1' 5 6 >x.npy
    perl -MIO::Compress::Zip=zip -e 'zip "x.npy" => "in.npz", Name => "x.npy" or die'
    answered 65 'in.npz: error: member "x" is not a variable of the model' "the variables are total" \
        "$data/sum.xml" -i in.npz --state-in=in.npz
}

@test "a state of bf16 and 8-bit floats may hold any nan" {
    local type
    for type in bf16 f8e4m3 f8e5m2; do
        cat >keep.xml <<XML
<net name="keep" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="4" element_type="$type"/><output><port id="0"/></output></layer>
<layer id="1" name="last" type="ReadValue" version="opset6"><data variable_id="v" variable_type="$type" variable_shape="4"/>
    <output><port id="0"/></output></layer>
<layer id="2" name="keep" type="Assign" version="opset6"><data variable_id="v" variable_type="$type" variable_shape="4"/>
    <input><port id="0"/></input></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="3" to-port="0"/></edges></net>
XML
        case $type in
            bf16) printf '\201\177\300\377\201\377\200\077' ;; # 0x7f81 0xffc0 0xff81 1
            f8e4m3) printf '\177\377\377\070' ;;
            f8e5m2) printf '\175\376\377\074' ;;
        esac >x.raw
        irrun keep.xml -i x.raw --raw-check=never --state-out=s.npz -o none:
        [ "$(irrun keep.xml -i x.raw -q --raw-check=never --state-in=s.npz -o csv:-)" = "nan,nan,nan,1" ]
    done
}

@test "a state of another shape is refused before it is unpacked" {
    deflated large.npz total 64000000, 64000000
    refused_scarcely 65 'variable "total" is f32 [1], but this array is f32 [64000000]' "$data/sum.xml" -i two.csv --state-in=large.npz
}

@test "a failure leaves the old state file as it was" {
    sum -i two.csv --state-out=s.npz
    cp s.npz old.npz
    printf '1\nx\n' >bad.csv
    run_apart irrun "$data/sum.xml" -i bad.csv -o none: --state-in=s.npz --state-out=s.npz
    [ "$status" -eq 65 ]
    cmp s.npz old.npz
    run_apart irrun "$data/sum.xml" -i two.csv -o none: --state-out=nowhere/s.npz
    [ "$status" -eq 73 ]
}

@test "several sequences: a file each, or --reset=never" {
    printf 'a  [ 1 2 3 ]\nb  [ 4 5 ]\n' >x.ark
    run_apart irrun "$data/sum.xml" -i x.ark --axis=0 --state-out=s.npz -o none:
    [ "$status" -eq 2 ]
    [[ $stderr == *%k* ]]
    irrun "$data/sum.xml" -i x.ark --axis=0 --state-out=s_%k.npz -o none:
    [ "$(irrun "$data/sum.xml" -i x.ark --axis=0 --state-in=s_%k.npz -o csv:- | numbers)" = "7 9 12 13 18" ]
    [ "$(irrun "$data/sum.xml" -i x.ark --axis=0 --state-in=s_a.npz --reset=never -o csv:- | numbers)" = "7 9 12 16 21" ]
    run_apart irrun "$data/sum.xml" --random --state-out=%n.npz
    [ "$status" -eq 2 ]
}

@test "the same state gives the same file" {
    sum -i two.csv --state-out=a.npz
    sleep 1.1
    sum -i two.csv --state-out=b.npz
    cmp a.npz b.npz
}

@test "--warmup leaves no trace in the state" {
    sum -i two.csv --state-out=a.npz
    sum -i two.csv --state-out=b.npz --warmup=3
    cmp a.npz b.npz
}

@test "shapes are inferred with the state that a sequence begins with" {
    # y = kept + x, of equal shapes: no x fits the empty state
    local add='<layer id="4" name="add" type="Add" version="opset1"><data auto_broadcast="none"/><input><port id="0"/><port id="1"/></input><output><port id="9"/></output></layer>'
    sed -e '/from-layer="0" from-port="9" to-layer="1"/d' -e '/name="read"/s|<input>.*</input>||' -e "s|^</layers>|$add&|" \
        -e 's|from-layer="1" from-port="9" to-layer="3"|from-layer="4" from-port="9" to-layer="3"|' \
        -e 's|^</edges>|<edge from-layer="1" from-port="9" to-layer="4" to-port="0"/><edge from-layer="0" from-port="9" to-layer="4" to-port="1"/>&|' \
        "$data/keeps_open.xml" >adds.xml
    npy '<f4' '3,2' 1 2 3 4 5 6 >three.npy
    npy '<f4' '1,2' 7 8 >one.npy
    local name
    for name in three one; do
        irrun "$data/keeps_open.xml" -i x=$name.npy --state-out=$name.npz -o none:
    done
    printf '%s.npy\n' three one >list
    [ "$(irrun adds.xml --manifest=list --state-in=%k.npz --state-any-model -o csv:- | lines)" = "2,4 6,8 10,12 14,16" ]
    irrun adds.xml -i x=one.npy --state-in=one.npz --state-any-model --check
    refused 65 'Add "add"' adds.xml -i x=three.npy -o csv:-
}

@test "without a sequence that was run, the state stays as it was" {
    sum -i two.csv --state-out=s.npz
    cp s.npz before.npz
    : >list
    : >done.csv
    local how
    for how in "--manifest=list --reset=never -o none:" "-i five.csv --shard=1/2 -o none:" \
        "-i five.csv --skip-existing -o done.csv"; do
        # shellcheck disable=SC2086 # options
        irrun -q "$data/sum.xml" $how --state-in=s.npz --state-out=s.npz
        cmp before.npz s.npz
    done
}

@test "a state of one sequence comes after its outputs" {
    irrun "$data/sum.xml" -i two.csv --state-out=%k.npz -o none:
    cp two.npz before.npz
    local status=0
    irrun "$data/sum.xml" -i two.csv --state-in=%k.npz --state-out=%k.npz -o csv:- >/dev/full || status=$?
    [ "$status" -eq 74 ]
    cmp before.npz two.npz
}
