#!/usr/bin/env bats
# -i NAME=count:REF and -i NAME=ones:REF: positions, and a mask, of what has come so far; and a text
# generated with them.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

parameter() { # ID NAME TYPE
    echo "<layer id='$1' name='$2' type='Parameter' version='opset1'>"
    echo "<data element_type='$3' shape='?,?'/><output><port id='0'/></output></layer>"
}

op() { # ID TYPE DATA INPUTS
    local port
    echo "<layer id='$1' name='layer$1' type='$2' version='opset1'><data $3/><input>"
    for ((port = 0; port < $4; port++)); do echo "<port id='$port'/>"; done
    echo "</input>"
    [ "$2" = Result ] || echo "<output><port id='9'/></output>"
    echo "</layer>"
}

edge() { # FROM PORT TO PORT
    echo "<edge from-layer='$1' from-port='$2' to-layer='$3' to-port='$4'/>"
}

# model TYPE: sum = ids + positions, minus = -mask, where the mask is of that type.
model() {
    echo "<net name='counted' version='11'><layers>"
    parameter 0 ids i64 && parameter 1 positions i64 && parameter 2 mask "$1"
    op 3 Add "auto_broadcast='numpy'" 2 && op 4 Negative "" 1
    op 5 Result "" 1 && op 6 Result "" 1
    echo "</layers><edges>"
    edge 0 0 3 0 && edge 1 0 3 1 && edge 2 0 4 0 && edge 3 9 5 0 && edge 4 9 6 0
    echo "</edges></net>"
}

setup() {
    common_setup
    model i64 >m.xml
    counted=(m.xml -i positions=count: -i mask=ones:)
    outputs=(-o layer3=csv:sum -o layer4=csv:minus)
    npy '<i8' '1, 3' 10 20 30 >1.npy
    npy '<i8' '1, 1' 40 >2.npy
    npy '<i8' '1, 2' 50 60 >3.npy
}

# What a run gave.
given() {
    echo "$(lines <sum) / $(lines <minus)"
}

@test "positions continue, and the mask grows, with every record" {
    cat 1.npy 2.npy 3.npy | irrun "${counted[@]}" -i ids=npy:- "${outputs[@]}"
    [ "$(given)" = "10,21,32 43 54,65 / -1,-1,-1 -1,-1,-1,-1 -1,-1,-1,-1,-1,-1" ]
    cat 1.npy 2.npy 3.npy | irrun m.xml -i ids=npy:- -i positions=count:ids -i mask=ones:ids "${outputs[@]}" --warmup=2
    [ "$(given)" = "10,21,32 43 54,65 / -1,-1,-1 -1,-1,-1,-1 -1,-1,-1,-1,-1,-1" ]
    model f32 >m.xml
    npy '<i8' '2, 2' 10 20 30 40 >two.npy
    irrun "${counted[@]}" -i ids=two.npy "${outputs[@]}" -n 2 --emit=all
    [ "$(given)" = "10,21 30,41 12,23 32,43 / -1,-1 -1,-1 -1,-1,-1,-1 -1,-1,-1,-1" ]
}

@test "a reset begins at 0, a saved state continues" {
    cat 1.npy 2.npy 3.npy | irrun "${counted[@]}" -i ids=npy:- "${outputs[@]}" --reset=2
    [ "$(given)" = "10,21,32 43 50,61 / -1,-1,-1 -1,-1,-1,-1 -1,-1" ]
    run_apart irrun "${counted[@]}" -i ids=npy:- -o none: --state-out=s.npz < <(cat 1.npy 2.npy)
    [ "$stderr" = "" ]
    [ "$(unzip -Z1 s.npz | lines)" = "positions.npy mask.npy" ]
    irrun "${counted[@]}" -i ids=3.npy "${outputs[@]}" --state-in=s.npz
    [ "$(given)" = "54,65 / -1,-1,-1,-1,-1,-1" ]
}

@test "a state with a count that cannot continue is refused" {
    mkdir state
    npy '<i8' '' 9223372036854775806 >state/positions.npy
    npy '<i8' '' 0 >state/mask.npy
    (cd state && perl -MIO::Compress::Zip=zip -e 'zip [glob "*"] => "../s.npz" or die')
    refused 65 'the count "positions" is too large' "${counted[@]}" -i ids=1.npy -o none: --state-in=s.npz
}

@test "every sequence begins at 0, with --reset=never they continue" {
    printf 'one\tids=1.npy\ntwo\tids=3.npy\n' >list
    irrun "${counted[@]}" --manifest=list "${outputs[@]}"
    [ "$(given)" = "10,21,32 50,61 / -1,-1,-1 -1,-1" ]
    irrun "${counted[@]}" --manifest=list "${outputs[@]}" --reset=never
    [ "$(given)" = "10,21,32 53,64 / -1,-1,-1 -1,-1,-1,-1,-1" ]
}

@test "what count: and ones: refuse" {
    usage_error "-i count: name the input, as in NAME=count:" m.xml -i ids=1.npy -i count: -i mask=ones:
    usage_error "-i mask=ones: the input has two sources" "${counted[@]}" -i ids=1.npy -i mask=ones:
    usage_error "-i positions=count:mask: the input after the colon is also generated" \
        m.xml -i ids=1.npy -i positions=count:mask -i mask=ones:
    answered 2 "-i mask=ones: name the input to count after the colon" "write mask=ones:ids or mask=ones:positions" \
        m.xml -i ids=1.npy -i positions=1.npy -i mask=ones:
    usage_error "-i positions=count: no input is read or fed, so none can be counted" m.xml -i ids=value:1 -i positions=count: -i mask=ones:
    usage_error "-i ids=count:mask: --feed fills this input" m.xml -i ids=count:mask --feed=layer3=ids -n 2
    usage_error 'no input "id"' m.xml -i ids=1.npy -i positions=count:id
    usage_error 'input "mask" is filled by ones:' "${counted[@]}" -i ids=1.npy --axis=mask=1:1
    usage_error "format ones is only for inputs" m.xml --random -o ones:
}

@test "the only input that is fed is counted, also if it begins with value:" {
    local prompt=(-i "ids=value:10,20,30" "--shape=ids=1,3" --feed=layer3=ids -n 2 --emit=all "${outputs[@]}") ref
    for ref in "" ids; do
        irrun m.xml "${prompt[@]}" -i positions=count:$ref -i mask=ones:$ref
        [ "$(given)" = "10,21,32 13,25,37 / -1,-1,-1 -1,-1,-1,-1,-1,-1" ]
    done
}

@test "a model of positions and a mask generates a text from the command line" {
    model=$root/models/tiny_transformer_int8/model.xml
    npy '<i8' '1, 4' 21 46 55 75 >prompt.npy
    generate=("$model" -i beam_idx=value:0 --shape=beam_idx=1 --feed=logits=tokens:argmax --emit=all)
    irrun "${generate[@]}" -i tokens=prompt.npy -n 20 -o next=csv:whole -o logits=none:
    irrun "${generate[@]}" -i tokens=prompt.npy -n 20 -o next=csv:again -o logits=none:
    cmp whole again
    [ "$(lines <whole | wc -w)" -eq 20 ]
    # --shape is that of the prompt; the tokens that are fed have another one.
    printf '%s\n' 21 46 55 75 >prompt.csv
    local prompt
    for prompt in prompt.csv value:21,46,55,75; do
        irrun "${generate[@]}" -i tokens=$prompt --shape=tokens=1,4 -n 20 -o next=csv:again -o logits=none:
        cmp whole again
    done
    # A state also gives the shape of what is fed.
    irrun "${generate[@]}" -i tokens=prompt.npy -n 7 -o next=csv:again -o logits=none: --state-out=s.npz
    irrun "${generate[@]}" -n 13 -o next=csv:rest -o logits=none: --state-in=s.npz
    cat again rest | cmp whole -
    answered 2 '--feed: no lengths for the open dimensions of input "tokens" [?,?]' \
        "write --shape=tokens=D,D with a number for D" "${generate[@]}" -n 13 -o none:
}
