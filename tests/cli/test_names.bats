#!/usr/bin/env bats
# What inputs and outputs are called on the command line: primary names, aliases, LAYER:PORT, @K.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '4,' 1 2 3 4 >x.npy
    npy '<f4' '2,' 1 2 >one.npy
    split_model >split.xml
}

# x, f32 [4], is split in halves: the port "halves:0" without a tensor name and one called "low,bottom"; the second
# goes to two Results, the last of which has an output_names of its own.
split_model() {
    cat <<'XML'
<net name="split" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="4" element_type="f32"/>
    <output><port id="0" precision="FP32" names="in_x,the_x"><dim>4</dim></port></output></layer>
<layer id="1" name="axis" type="Const" version="opset1"><data shape="" element_type="i64" offset="0" size="8"/>
    <output><port id="0" precision="I64"/></output></layer>
<layer id="2" name="halves" type="Split" version="opset1"><data num_splits="2"/>
    <input><port id="0"/><port id="1"/></input>
    <output><port id="2" precision="FP32"><dim>2</dim></port>
    <port id="3" precision="FP32" names="low,bottom"><dim>2</dim></port></output></layer>
<layer id="3" name="r0" type="Result" version="opset1"><input><port id="0"/></input></layer>
<layer id="4" name="r1" type="Result" version="opset1"><input><port id="0"/></input></layer>
<layer id="5" name="r2" type="Result" version="opset1" output_names="own,other"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
<edge from-layer="2" from-port="3" to-layer="4" to-port="0"/>
<edge from-layer="2" from-port="3" to-layer="5" to-port="0"/>
</edges></net>
XML
    head -c 8 /dev/zero >split.bin
}

# The names in the headers of text output.
headers() {
    grep '^#' | cut -d ' ' -f 2 | tr '\n' ' '
}

@test "the primary name: tensor name, else layer:PORT, else the second Result's own" {
    [ "$(irrun split.xml -i x.npy | headers)" = "halves:0 low r2 " ]
    irrun split.xml -i x.npy -o '%n.csv'
    [ "$(cat halves:0.csv low.csv r2.csv | tr '\n' ' ')" = "1,2 3,4 3,4 " ]
    irrun split.xml -i x.npy -o y.npz
    run_apart irrun "$data/copy.xml" -i in_a=y.npz -i fresh=one.npy
    [ "$(sed -n 's/.*only //p' <<<"$stderr")" = '"halves:0", "low", "r2"' ]
    # One output and no tensor name: the layer's name alone.
    sed 's/ names="y"//' "$data/twice.xml" >plain.xml
    [ "$(irrun plain.xml -i one.npy | headers)" = "add " ]
}

@test "every other alias binds too" {
    local name
    for name in halves:0 r0 @0; do
        [ "$(irrun split.xml -i x.npy -o "$name=csv:-")" = "1,2" ]
    done
    # "bottom" and "halves:1" are names of two outputs, "low" is the first one's primary name.
    for name in low r1 @1 r2 @2 own other; do
        [ "$(irrun split.xml -i x.npy -o "$name=csv:-")" = "3,4" ]
    done
    for name in x in_x the_x @0; do
        [ "$(irrun split.xml -i "$name=x.npy" -o @0=csv:-)" = "1,2" ]
        irrun split.xml "--random=$name=ones" -o none:
        irrun split.xml -i x.npy --shape="$name=4" -o none:
    done
    # The same names hold for --expect, --atol, --concat, --feed, --until, --reset=if: and --axis.
    npy '<f4' '2,' 3 4 >low.npy
    irrun split.xml -i x.npy --expect=low=low.npy --atol=own=0 --rtol=r1=0
    [ "$(irrun "$data/sum.xml" --random=ones --feed=@0=a -n 3 --emit=all -o csv:- | tr '\n' ' ')" = "1 2 4 " ]
    [ "$(irrun "$data/sum.xml" --random=ones --until=result=2 -o csv:- | tr '\n' ' ')" = "1 2 " ]
    [ "$(irrun "$data/sum.xml" -i x:0=x.npy --axis=a=0 --reset=if:@0 -o csv:- | tr '\n' ' ')" = "1 2 3 4 " ]
    irrun "$data/sum.xml" -i x.npy --axis=x=0 --concat=result=0 -o y.npy
    [ "$(shape y.npy)" = "4," ]
}

@test "outputs of one name do not go to one file of names" {
    sed 's/names="diff"/names="all\/plus"/; s/names="minus[^"]*"/names="all\/plus"/' "$data/pair.xml" >same.xml
    local file
    for file in y.npz ark,t:- jsonl:-; do
        answered 2 "-o $file: outputs @0 and @1 are both named \"all/plus\"" \
            "-o @0=FILE -o @1=FILE writes each to its own file" same.xml -i a=one.npy -i b=one.npy -o $file
    done
    irrun same.xml -i a=one.npy -i b=one.npy -o @0=csv:sum -o @1=csv:difference
    [ "$(lines <sum) $(lines <difference)" = "2,4 0,0" ]
    [ "$(irrun same.xml -i a=one.npy -i b=one.npy | grep -c '^#')" -eq 2 ]
}

@test "percent signs in the name of an output are not fields" {
    sed 's/names="low,bottom"/names="%k%%n%"/' split.xml >percent.xml
    irrun percent.xml split.bin -i x.npy -o r1=%n.csv -o @0=none:
    [ "$(cat '%k%%n%.csv')" = "3,4" ]
}

@test "npz members bind by every name" {
    local name
    for name in x in_x the_x @0; do
        sed "s/names=\"a\"/names=\"$name\"/" "$data/copy.xml" >member.xml
        irrun member.xml -i in_a=x.npy -i fresh=x.npy -o "$name=x.npz"
        [ "$(irrun split.xml -i x.npz -o low=csv:-)" = "3,4" ]
        [ "$(irrun split.xml -i the_x=x.npz -o low=csv:-)" = "3,4" ]
    done
}

@test "messages say the friendly name of an input" {
    run_apart irrun split.xml -i the_x=one.npy
    [ "$status" -eq 65 ]
    [[ $stderr == *'input "x" is f32 [4]'* ]]
}

@test "an exact match wins over the :PORT reading" {
    sed 's/names="low,bottom"/names="halves:0"/' split.xml >exact.xml
    cp split.bin exact.bin
    [ "$(irrun exact.xml -i x.npy -o halves:0=csv:-)" = "3,4" ]
    [ "$(irrun exact.xml -i x.npy -o r0=csv:-)" = "1,2" ]
    # So does a further tensor name.
    sed 's/names="low,bottom"/names="low,halves:0"/; s/<port id="2" precision="FP32">/<port id="2" precision="FP32" names="high">/' split.xml >exact.xml
    [ "$(irrun exact.xml -i x.npy -o high=csv:-)" = "1,2" ]
    sed 's/output_names="own,other"/output_names="halves:0"/' split.xml >exact.xml
    [ "$(irrun exact.xml -i x.npy -o halves:0=csv:-)" = "3,4" ]
    [ "$(irrun exact.xml -i x.npy -o r2=csv:-)" = "3,4" ]
}

@test "an alias that fits two outputs lists them" {
    run_apart irrun split.xml -i x.npy -o halves:1=y.csv
    [ "$status" -eq 2 ]
    [[ $stderr == *'"halves:1" is the name of 2 outputs:'*"@1 low"*"@2 r2"*"as @1"* ]]
    run_apart irrun split.xml -i x.npy -o bottom=csv:-
    [ "$status" -eq 2 ]
    [[ $stderr == *'"bottom" is the name of 2 outputs:'*"@1 low"*"@2 r2"* ]]
    deflated want.npz bottom 2, 2
    refused 65 'want.npz: error: member: "bottom" is the name of 2 outputs:' split.xml -i x.npy --expect=want.npz
    [[ $stderr != *"fits 2"*"fits 2"* ]]
}

@test "unknown names are usage errors that list what there is" {
    local arguments
    # shellcheck disable=SC2086 # several arguments
    for arguments in "-o y=csv:-" "--expect=y=x.npy" "--atol=y=1 --expect=low=one.npy" "--concat=y=0 -o low=z.npy" \
        "--until=y=1" "--feed=y=x"; do
        echo "$arguments"
        run_apart irrun split.xml -i x.npy $arguments
        [ "$status" -eq 2 ]
        [[ $stderr == *'no output "y"; the model has:'*"@0 halves:0"*"@1 low"*"@2 r2"* ]]
    done
    # shellcheck disable=SC2086
    for arguments in "-i y=x.npy" "--random=y=ones" "-i x.npy --shape=y=4" "-i x.npy --axis=y=0" \
        "-i x.npy --feed=low=y" "-i @1=x.npy"; do
        echo "$arguments"
        run_apart irrun split.xml $arguments
        [ "$status" -eq 2 ]
        [[ $stderr == *'no input "'?*'"; the model has:'*"@0 x"* ]]
    done
}

@test "an output named by its layer keeps that name, and 0, when it is computed in integers" {
    # the Result of the case moves to the ReLU, which has no tensor name
    sed 's/ names="[^"]*"//; s/from-layer="18" from-port="5" to-layer="19"/from-layer="13" from-port="1" to-layer="19"/' \
        "$root/tests/cases/int8/convolution/model.xml" >relu.xml
    cp "$root/tests/cases/int8/convolution/model.bin" relu.bin
    irrun --inspect relu.xml | grep -q '^  ReLU_13 '
    irrun relu.xml -i "$root/tests/cases/int8/convolution/in.npz" -o ReLU_13=text:got
    irrun relu.xml -i "$root/tests/cases/int8/convolution/in.npz" --no-fuse -o ReLU_13=text:want
    grep -qwF 0 want
    [ "$(tr ' ' '\n' <got | grep -cx -- -0)" -eq 0 ]
    [ "$(tr ' ' '\n' <got | grep -cx 0)" -eq "$(tr ' ' '\n' <want | grep -cx 0)" ]
}
