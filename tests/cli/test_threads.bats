#!/usr/bin/env bats
# --threads: what it takes, what --stats says, the same bytes for every number.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    select_model 500000 >large.xml
}

# A model of one Select over N floats.
select_model() {
    local layers='' edges='' i types=(boolean f32 f32)
    for i in 0 1 2; do
        layers+="<layer id='$i' name='p$i' type='Parameter' version='opset1'>
            <data shape='$1' element_type='${types[i]}'/>
            <output><port id='0'><dim>$1</dim></port></output></layer>"
        edges+="<edge from-layer='$i' from-port='0' to-layer='3' to-port='$i'/>"
    done
    cat <<XML
<net name="select" version="11"><layers>$layers
<layer id="3" name="s" type="Select" version="opset1">
    <input><port id="0"/><port id="1"/><port id="2"/></input>
    <output><port id="3"><dim>$1</dim></port></output></layer>
<layer id="4" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>$edges<edge from-layer="3" from-port="3" to-layer="4" to-port="0"/></edges></net>
XML
}

@test "the outputs are the same bytes for every number of threads" {
    local n
    irrun large.xml --random -o npy:1.npy
    for n in 1 2 3 auto; do
        irrun large.xml --random -j "$n" -o "npy:$n-threads.npy"
        cmp 1.npy "$n-threads.npy"
    done
}

# layer NAME TYPE OPSET DATA INPUT...: one more layer, and a Result. An input is the number of a layer.
layer() {
    local n=$n_layers in='' from k=0
    for from in "${@:5}"; do
        in+="<port id='$k'/>"
        edges+="<edge from-layer='$from' from-port='9' to-layer='$n' to-port='$((k++))'/>"
    done
    layers+="<layer id='$n' name='$1' type='$2' version='$3'><data $4/><input>$in</input>
        <output><port id='9'/></output></layer>"
    n_layers=$((n + 1))
    [[ $2 != @(Parameter|Const) ]] || return 0
    layers+="<layer id='$n_layers' name='r$n' type='Result' version='opset1'>
        <input><port id='0'/></input></layer>"
    edges+="<edge from-layer='$n' from-port='9' to-layer='$n_layers' to-port='0'/>"
    n_layers=$((n + 2))
}

# One op of each kind that shares elements, rows or loops, on 97 x 41 x 53 numbers.
shared_model() {
    local layers='' edges='' n_layers=0
    layer x Parameter opset1 "shape='97,41,53' element_type='f32'"
    layer axis Const opset1 "element_type='i64' shape='1' offset='0' size='8'"
    layer order Const opset1 "element_type='i64' shape='3' offset='8' size='24'"
    layer bias Const opset1 "element_type='f32' shape='41,1' offset='32' size='164'"
    layer tanh Tanh opset1 '' 0
    layer add Add opset1 '' 0 4
    layer by_row Multiply opset1 '' 0 3
    layer less Less opset1 '' 0 4
    layer select Select opset1 '' 10 4 6
    layer softmax SoftMax opset8 "axis='2'" 0
    layer log_softmax LogSoftmax opset5 "axis='1'" 0
    layer mvn MVN opset2 "across_channels='false'" 0
    layer mvn_all MVN opset6 "eps='1e-6' eps_mode='inside_sqrt' normalize_variance='true'" 0 1
    layer l2 NormalizeL2 opset1 "eps='1e-6' eps_mode='add'" 0 1
    layer mean ReduceMean opset1 '' 0 1
    layer max ReduceMax opset1 "keep_dims='true'" 0 1
    layer transpose Transpose opset1 '' 0 2
    layer gelu Gelu opset7 "approximation_mode='ERF'" 0
    layer concat Concat opset1 "axis='1'" 0 4 6
    layer whole Concat opset1 "axis='0'" 0 4
    layer sizes Const opset1 "element_type='i64' shape='2' offset='196' size='16'"
    layer axes Const opset1 "element_type='i64' shape='2' offset='212' size='16'"
    layer nearest Interpolate opset11 "mode='nearest' shape_calculation_mode='sizes'" 0 36 37
    layer linear Interpolate opset11 "mode='linear_onnx' shape_calculation_mode='sizes'" 0 36 37
    layer scale Const opset1 "element_type='f32' shape='41' offset='32' size='164'"
    layer group GroupNormalization opset12 "num_groups='1' epsilon='1e-5'" 0 42 42
    echo "<net name='shared' version='11'><layers>$layers</layers><edges>$edges</edges></net>"
}

@test "steps that threads share give the same bytes for every number of threads" {
    local n fuse
    shared_model >shared.xml
    perl -e 'binmode STDOUT; print pack("q<*", 2, 2, 0, 1), pack("f<*", map { $_ / 7 } 1 .. 41),
        pack("q<*", 60, 50, 1, 2)' >shared.bin
    for fuse in '' --no-fuse; do
        irrun shared.xml --random ${fuse:+"$fuse"} -o npz:1.npz
        for n in 2 3 5; do
            irrun shared.xml --random ${fuse:+"$fuse"} -j "$n" -o "npz:$n.npz"
            cmp 1.npz "$n.npz"
        done
    done
}

@test "--stats says how many threads there were" {
    run_apart irrun large.xml --random -o none: -s
    grep -qx 'threads  *1' <<<"$stderr"
    run_apart irrun large.xml --random -o none: -s --threads=3
    grep -qE '^threads +3( \(CPUs: [12]\))?$' <<<"$stderr"
}

@test "auto honours the affinity" {
    local first
    first=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
    run_apart taskset -c "$first" "$IRRUN" large.xml --random -o none: -s -j auto
    [ "$status" -eq 0 ]
    grep -qx 'threads  *1' <<<"$stderr"
    run_apart taskset -c "$first" "$IRRUN" large.xml --random -o none: -s -j 2
    grep -qx 'threads  *2 (CPUs: 1)' <<<"$stderr"
}

@test "a number that is none is refused" {
    local n
    for n in 0 -1 two 1.5 '' 99999999999; do
        run_apart irrun large.xml --random --threads="$n"
        [ "$status" -eq 2 ]
        [[ $stderr == *"from 1 up"* ]]
    done
    run_apart irrun large.xml --random --threads=100000
    [ "$status" -eq 2 ]
    [[ $stderr == *"too many"* ]]
}
