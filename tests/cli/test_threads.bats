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

@test "--stats says how many threads there were" {
    run_apart irrun large.xml --random -o none: -s
    grep -qx 'threads  *1' <<<"$stderr"
    run_apart irrun large.xml --random -o none: -s --threads=3
    grep -qx 'threads  *3' <<<"$stderr"
}

@test "auto honours the affinity" {
    local first
    first=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
    run_apart taskset -c "$first" "$IRRUN" large.xml --random -o none: -s -j auto
    [ "$status" -eq 0 ]
    grep -qx 'threads  *1' <<<"$stderr"
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
