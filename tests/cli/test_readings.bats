#!/usr/bin/env bats
# What nobody reads is not computed: positions before the last, outputs under NAME=none:.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    model=$root/models/tiny_transformer_stateless/model.xml
    npy '<i8' '2, 4' 21 46 55 75 3 9 27 1 >prompt.npy
    fed=("$model" -i tokens=prompt.npy --feed=logits=tokens:argmax --emit=all)
}

# narrowed ARGUMENT...: the products that compute one position only.
narrowed() {
    irrun -v "$@" 2>&1 >/dev/null | grep -c 'computes only the last position$' || [ $? -eq 1 ]
}

# profiled ARGUMENT...: the types of the ops that run.
profiled() {
    irrun --report=report.json --profile "$@" >/dev/null 2>&1
    jq -r '.ops[].members[].type' report.json
}

# flops ARGUMENT...: the operations of the last product of the model.
flops() {
    irrun --report=report.json --profile "$@" >/dev/null 2>&1
    jq '[.ops[] | select(any(.members[]; .name == "MatMul_28206"))][0] | .flops / .calls' report.json
}

@test "of an output that only --feed reads, the last position is computed" {
    [ "$(narrowed "${fed[@]}" -n 1 -o tokens=csv:-)" -gt 3 ]
    irrun "${fed[@]}" -n 3 -o tokens=csv:last.csv
    irrun "${fed[@]}" -n 3 -o tokens=csv:all.csv -o logits=csv:logits.csv
    cmp last.csv all.csv
    irrun -v "${fed[@]}" -n 1 -o tokens=none: 2>&1 | grep -q 'input "tokens": i64 \[2,4\] from prompt.npy, then from --feed$'
    [ "$(lines <last.csv | wc -w)" -ge 3 ]
    [ "$(flops "${fed[@]}" -n 1 -o tokens=none:)" -eq $((2 * 2 * 64 * 97)) ]
    [ "$(flops "${fed[@]}" -n 1 -o logits=none: -o none:)" -eq $((2 * 2 * 64 * 97)) ]
    [ "$(flops "${fed[@]}" -n 1 -o logits=csv:logits.csv)" -eq $((4 * 2 * 2 * 64 * 97)) ]
    [ "$(irrun "${fed[@]/argmax/sample(1)}" -n 3 -o tokens=csv:-)" = \
        "$(irrun "${fed[@]/argmax/sample(1)}" -n 3 -o tokens=csv:- -o logits=csv:logits.csv)" ]
}

@test "whatever else reads the output needs all positions" {
    irrun "${fed[@]}" -n 1 -o logits=npy:want.npy
    cp want.npy logits.npy
    irrun "${fed[@]}" -n 1 -o out.npz
    printf 'one\ttokens=prompt.npy\n' >list
    for more in "-o logits=csv:x.csv" "-o csv:x.csv" "-o @0=csv:x.csv" "--expect=logits=want.npy -o none:" \
        "--expect=out.npz -o none:" "--fail-on-nan -o none:" "--no-fuse -o none:" "--tap-all=taps.npz -o none:" \
        "--concat=1 -o tokens=csv:x.csv" ""; do
        # shellcheck disable=SC2086 # words
        [ "$(narrowed "${fed[@]}" -n 1 $more)" -eq 0 ]
    done
    [ "$(narrowed "$model" -i tokens=prompt.npy -o logits=csv:x.csv)" -eq 0 ]
    [ "$(narrowed "$model" --manifest=list --feed=logits=tokens:argmax -n 1 -o tokens=csv:x.csv)" -eq 0 ]
}

@test "an output under its own none: is not computed" {
    local two="$root/models/tiny_transformer/model.xml"
    npy '<i8' '1, 4' 21 46 55 75 >one.npy
    how=("$two" -i tokens=one.npy -i beam_idx=value:0 --shape=beam_idx=1)
    profiled "${how[@]}" -o none: | grep -q TopK
    profiled "${how[@]}" -o next=csv:x.csv -o logits=none: | grep -q TopK
    profiled "${how[@]}" --feed=next=tokens -n 2 -o next=none: | grep -q TopK
    profiled "${how[@]}" --until=next=0 -n 2 -o next=none: -o logits=none: | grep -q TopK
    ! profiled "${how[@]}" -o next=none: -o logits=csv:x.csv | grep -q TopK || false
    irrun -v "${how[@]}" -o next=none: -o logits=csv:x.csv 2>&1 | grep -q ': [1-9][0-9]* ops are not computed: only outputs under'
    ! irrun -v "${how[@]}" -o next=csv:x.csv -o logits=none: 2>&1 | grep -q 'ops are not computed' || false
    profiled "${how[@]}" --no-fuse -o next=none: -o logits=none: | grep -q TopK
    irrun "${how[@]}" -o next=none: -o logits=csv:- | cmp - <(irrun "${how[@]}" -o next=csv:x.csv -o logits=csv:-)
    # The variables are computed in any case.
    irrun "${how[@]}" -o next=none: -o logits=none: --state-out=none.npz
    irrun "${how[@]}" -o next=csv:x.csv -o logits=none: --state-out=all.npz
    cmp none.npz all.npz
    irrun "${how[@]}" -o next=none: -o logits=none: --checkpoint=c -n 3
    refused 2 'no output "nxt"' "${how[@]}" -o nxt=none:
}

@test "slices of the model move before products, and -v says so" {
    local cases="$root/tests/cases/early_slices"
    [ "$(narrowed "$cases/residual/model.xml" -i "$cases/residual/in.npz" -o none:)" -eq 4 ]
    [ "$(narrowed "$cases/also_output/model.xml" -i "$cases/also_output/in.npz" -o none:)" -eq 0 ]
    [ "$(narrowed --no-fuse "$cases/residual/model.xml" -i "$cases/residual/in.npz" -o none:)" -eq 0 ]
    IRRUN_ARGS=--no-fuse run "$root/scripts/run-cases.sh" "$cases"
    [[ $output == *" 0 failed"* ]]
}

@test "a slice does not move before a product whose port has another rank than its inputs" {
    sed 's|.*names="x">$|&<dim>1</dim>|' "$data/wrong_rank.xml" >parameter.xml
    for model in "$data/wrong_rank.xml" parameter.xml; do
        how=("$model" "$data/wrong_rank.bin" --random)
        irrun "${how[@]}" -o y.npy
        irrun "${how[@]}" -o unfused.npy --no-fuse
        cmp y.npy unfused.npy
        [ "$(narrowed "${how[@]}" -o none:)" -eq 0 ]
    done
}

@test "a slice that has moved checks the rank of an op whose inputs do not give it" {
    sed -e 's|\(.*\) to-layer="2" to-port="0" />|\1 to-layer="9" to-port="0" /><edge from-layer="6" from-port="0" \
        to-layer="9" to-port="1" /><edge from-layer="9" from-port="2" to-layer="2" to-port="0" />|' \
        -e 's|</layers>|<layer id="9" name="sums" type="CumSum" version="opset3"><input><port id="0" /><port id="1" /> \
        </input><output><port id="2" precision="FP32"><dim>1</dim><dim>2</dim><dim>5</dim><dim>8</dim></port> \
        </output></layer>&|' "$data/wrong_rank.xml" >sums.xml
    run irrun sums.xml "$data/wrong_rank.bin" --random -o none:
    [ "$status" -eq 65 ]
    [[ $output == *"expected a rank of 4 to match the output port"* ]]
}
