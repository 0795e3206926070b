#!/usr/bin/env bats
# Weights that somebody writes to, cuts short or replaces while a run has them.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    large 262144
    cp model.bin whole.bin
}

# large N: model.xml and model.bin, of which every iteration reads all: total += the largest of N + x.
large() {
    sed "s/NUMBER/$1/g; s/BYTES/$((4 * $1))/" >model.xml <<'XML'
<net name="large" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="1"/><output><port id="0"/></output></layer>
<layer id="1" name="w" type="Const" version="opset1"><data element_type="f32" shape="NUMBER" offset="0" size="BYTES"/><output><port id="0"/></output></layer>
<layer id="2" name="sum" type="Add" version="opset1"><input><port id="0"/><port id="1"/></input><output><port id="2"/></output></layer>
<layer id="3" name="axis" type="Const" version="opset1"><data element_type="i64" shape="1" offset="BYTES" size="8"/><output><port id="0"/></output></layer>
<layer id="4" name="max" type="ReduceMax" version="opset1"><data keep_dims="true"/><input><port id="0"/><port id="1"/></input><output><port id="2"/></output></layer>
<layer id="5" name="read" type="ReadValue" version="opset6"><data variable_id="total" variable_type="f32" variable_shape="1"/><output><port id="0"/></output></layer>
<layer id="6" name="add" type="Add" version="opset1"><input><port id="0"/><port id="1"/></input><output><port id="2" names="y"/></output></layer>
<layer id="7" name="save" type="Assign" version="opset6"><data variable_id="total" variable_type="f32" variable_shape="1"/><input><port id="0"/></input></layer>
<layer id="8" name="result" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/><edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="4" to-port="0"/><edge from-layer="3" from-port="0" to-layer="4" to-port="1"/>
<edge from-layer="5" from-port="0" to-layer="6" to-port="0"/><edge from-layer="4" from-port="2" to-layer="6" to-port="1"/>
<edge from-layer="6" from-port="2" to-layer="7" to-port="0"/><edge from-layer="6" from-port="2" to-layer="8" to-port="0"/>
</edges></net>
XML
    perl -e 'binmode STDOUT; print pack("f<", 1) x $ARGV[0], pack("q<", 0)' "$1" >model.bin
}

# Waits until there is something in FILE.
await() {
    for _ in $(seq 1000); do
        [ ! -s "$1" ] || return 0
        sleep 0.01
    done
}

# ended COMMAND: $status and $stderr of the process in the background.
ended() {
    status=0
    wait $! || status=$?
    stderr=$(grep -v '^irrun: .* iterations' stderr) || :
    echo "$1: $status"
    echo "$stderr"
}

# meanwhile COMMAND ARGUMENT...: does COMMAND while irrun iterates.
meanwhile() {
    "$IRRUN" model.xml --random --progress=plain --timeout=60 "${@:2}" 2>stderr 3>&- &
    await stderr
    $1
    ended "$1"
}

# between COMMAND ARGUMENT...: does COMMAND between two records.
between() {
    rm -f in out
    mkfifo in
    "$IRRUN" model.xml -i csv:in -o csv:- --line-buffer "${@:2}" >out 2>stderr 3>&- &
    exec 9>in
    echo 1 >&9
    await out
    $1
    echo 2 >&9
    exec 9>&-
    ended "$1"
}

cut_short() {
    truncate -s 0 model.bin
}

write_over() {
    dd if=whole.bin of=model.bin conv=notrunc status=none
}

replace() {
    cp whole.bin new.bin
    mv new.bin model.bin
}

hint='  hint: rename a new file over the old one: a run keeps the one it has opened'

@test "weights that are cut short end the run with 65" {
    local options
    for options in '' '-j 2' '--no-fuse'; do
        cp whole.bin model.bin
        # shellcheck disable=SC2086 # several options
        between cut_short -o y.npy --state-out=s.npz $options
        [ "$status" -eq 65 ]
        [ "$stderr" = "model.bin: error: was truncated while it was in use"$'\n'"$hint" ]
        nothing_left
        [ ! -e y.npy ] && [ ! -e s.npz ]
    done
}

@test "weights that are cut short end all lanes" {
    printf 'a\tx=value.npy\nb\tx=value.npy\n' >list.tsv
    npy '<f4' '1,' 1 >value.npy
    meanwhile cut_short --manifest=list.tsv -n 1000000000 --jobs=2 -o %k.npy
    [ "$status" -eq 65 ]
    nothing_left
    [ ! -e a.npy ] && [ ! -e b.npy ]
}

@test "weights that were written to are noticed at the end" {
    between write_over -o y.npy --state-out=s.npz
    [ "$status" -eq 65 ]
    [ "$stderr" = "model.bin: error: was written to while it was in use"$'\n'"$hint" ]
    nothing_left
    [ ! -e y.npy ] && [ ! -e s.npz ]
    npy '<f4' '1,' 5 >want.npy
    between write_over --expect=want.npy
    [ "$status" -eq 65 ]
    cp whole.bin model.bin
    between true --expect=want.npy
    [ "$status" -eq 0 ]
}

@test "a checkpoint holds nothing that such weights gave" {
    meanwhile write_over -n 1000000000 --emit=last -o y.npy --checkpoint=ck --checkpoint-every=1000
    [ "$status" -eq 65 ]
    [ "$stderr" = "model.bin: error: was written to while it was in use"$'\n'"$hint" ]
    [ ! -e y.npy ]
}

# change OFFSET: another number there in model.bin, of the same size and time.
change() {
    cp -p model.bin before.bin
    printf '\x41' | dd of=model.bin bs=1 seek="$1" conv=notrunc status=none
    touch -r before.bin model.bin
}

@test "a state is of the content of the weights, wherever they lie" {
    irrun model.xml --random -o none: --state-out=s.npz
    cp -p model.bin copy.bin
    touch model.bin copy.bin
    irrun model.xml --random -o none: --state-in=s.npz
    irrun model.xml copy.bin --random -o none: --state-in=s.npz
    for offset in 3 524291 1048575; do
        cp whole.bin model.bin
        change "$offset"
        refused 65 's.npz: error: was saved with different weights' model.xml --random -o none: --state-in=s.npz
        [[ $stderr == *--state-any-model* ]]
        irrun model.xml --random -o none: --state-in=s.npz --state-any-model
    done
    irrun model.xml copy.bin --random -o none: --state-in=s.npz
}

@test "of large weights a sample tells, with both ends" {
    truncate -s 70M model.bin
    cp model.bin whole.bin
    irrun model.xml --random -o none: --state-out=s.npz
    touch model.bin
    irrun model.xml --random -o none: --state-in=s.npz
    for offset in 3 73400319; do
        cp whole.bin model.bin
        change "$offset"
        refused 65 'was saved with different weights' model.xml --random -o none: --state-in=s.npz
    done
}

# comment TEXT: s.npz with another comment.
comment() {
    perl -0777 -i -pe 's/(PK\x05\x06.{16}).*/$1 . pack("v", length $ENV{TEXT}) . $ENV{TEXT}/se' s.npz
}

@test "states of earlier versions are taken at their word, of later ones refused" {
    irrun model.xml --random -o none: --state-out=s.npz
    local xml
    xml=$(unzip -z s.npz | grep -oE 'xml=[0-9a-f]{16}')
    TEXT="irrun-state/1 $xml bin=$(wc -c <model.bin) unset=0" comment
    irrun model.xml --random -o none: --state-in=s.npz
    change 3
    irrun model.xml --random -o none: --state-in=s.npz
    printf x >>model.bin
    refused 65 'was saved with different weights' model.xml --random -o none: --state-in=s.npz
    TEXT="irrun-state/3 $xml what=ever unset=0" comment
    refused 65 's.npz: error: has state format 3; irrun ' model.xml --random -o none: --state-in=s.npz
    refused 65 'has state format 3' model.xml --random -o none: --state-in=s.npz --state-any-model
    TEXT="irrun-state/2 $xml" comment
    refused 65 'damaged' model.xml --random -o none: --state-in=s.npz
    TEXT="of NumPy" comment
    irrun model.xml --random -o none: --state-in=s.npz
}

# interrupted ARGUMENT...: a run with a checkpoint ck that is there.
interrupted() {
    rm -f ck
    "$IRRUN" model.xml "$@" --checkpoint=ck --checkpoint-every=10 2>stderr 3>&- &
    await ck
    kill -TERM $!
    ended interrupted
}

@test "a run resumes with the same weights only" {
    local run=(--random --seed=3 -n 1000000000 -o y.npy --timeout=60)
    interrupted "${run[@]}"
    [ "$status" -eq 75 ]
    cp ck ck.first
    change 3
    refused 65 'ck: error: was written with different weights' model.xml "${run[@]}" --checkpoint=ck
    cp whole.bin model.bin # another time
    run_apart irrun model.xml "${run[@]:0:6}" --checkpoint=ck --timeout=0.5
    [ "$status" -eq 75 ]
    # Where only a sample tells, the time tells too.
    truncate -s 70M model.bin
    interrupted "${run[@]}"
    [ "$status" -eq 75 ]
    touch -d '2001-01-01' model.bin
    refused 65 'ck: error: was written with different weights' model.xml "${run[@]}" --checkpoint=ck
}

@test "weights that continue after the last constant may be those of another model" {
    local said='are after the last constant: does it belong to a different model?'
    large 1000
    truncate -s 8103 model.bin
    run_apart irrun model.xml --random -o none:
    [ "$status" -eq 0 ]
    [ "$stderr" = "" ]
    truncate -s 8104 model.bin
    run_apart irrun --check model.xml
    [ "$status" -eq 0 ]
    [ "$stderr" = "irrun: warning: model.bin: 4096 of its 8104 bytes $said" ]
    run_apart irrun "$data/sum.xml" model.bin --random -o none:
    [ "$stderr" = "irrun: warning: model.bin: 8104 of its 8104 bytes $said" ]
}

@test "weights that are replaced, and small ones, stay as they were" {
    between replace -o y.npy
    [ "$status" -eq 0 ]
    [ "$stderr" = "" ]
    [ "$(lines <out)" = "2 5" ]
    large 1000
    cp model.bin whole.bin
    between cut_short -o y.npy
    [ "$status" -eq 0 ]
    [ "$(lines <out)" = "2 5" ]
}
