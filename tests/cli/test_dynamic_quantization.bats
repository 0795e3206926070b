#!/usr/bin/env bats
# --dynamic-quantization: which products it concerns, where it is said, and what does not change the bytes.
# tests/cases/dynamic_quantization has the numbers.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    cases=$root/tests/cases/dynamic_quantization
    model=$cases/19_rows_u4/model.xml
}

all() { # FOLDER OPTION...
    irrun "$1/model.xml" -i "$1/in.npz" --emit=all -o text:- "${@:2}"
}

@test "without the option nothing is quantized; with it, integers are, at every level and with threads alike" {
    local folder level
    for folder in "$cases"/*; do
        all "$folder" >exact
        all "$folder" --dynamic-quantization >want
        case $folder in
            */kept_* | */no_rows) cmp exact want ;;
            *) [ "$(cksum <exact)" != "$(cksum <want)" ] ;;
        esac
        [[ $folder == */kept_* ]] && continue
        # a sum begins with the bias if that is fused
        [[ $folder == */groups_* ]] || all "$folder" --dynamic-quantization --no-fuse | cmp - want
        all "$folder" --dynamic-quantization -j2 | cmp - want
        all "$folder" --dynamic-quantization --gemm=plain | cmp - want
        for level in $(levels_here); do
            all "$folder" --dynamic-quantization --simd="$level" | cmp - want
        done
    done
}

@test "a row alone gives the bytes of a row among others" {
    local folder=$cases/70_rows_u4
    irrun "$folder/model.xml" -i "$folder/in.npz" --dynamic-quantization -o whole.npy
    irrun "$folder/model.xml" -i "$folder/in.npz" --axis=0:1 --dynamic-quantization --concat=0 -o rows.npy
    cmp whole.npy rows.npy
}

@test "-v names the products, --stats and the report count them" {
    run_apart irrun "$model" --random --shape=x=2,96 -o none: -v -s -r report.json --dynamic-quantization
    [ "$status" -eq 0 ]
    [[ $stderr == *'reads its weights as they are stored: u4 in groups of 32, and quantizes the other operand'* ]]
    [[ $stderr == *'1 product quantizes the operand that is not constant'* ]]
    grep -qx 'precision  *f32, 1 product quantized' <<<"$stderr"
    [ "$(jq .host.quantized_products report.json)" -eq 1 ]
    run_apart irrun "$cases/kept_nf4/model.xml" --random --shape=x=2,64 -o none: -v -s --dynamic-quantization
    [[ $stderr == *'as they are stored: nf4; dynamic quantization needs integer weights'* ]]
    grep -qx 'precision  *f32, 0 products quantized' <<<"$stderr"
    [ "$(grep -c '^irrun: warning: --dynamic-quantization quantizes no product of this model$' <<<"$stderr")" -eq 1 ]
    run_apart irrun "$model" --random --shape=x=2,96 -o none: --dynamic-quantization
    [ "$stderr" = "" ]
    run_apart irrun "$model" --random --shape=x=2,96 -o none: -v -s -r report.json
    [[ $stderr != *quantize* ]]
    [ "$(jq .host.quantized_products report.json)" -eq 0 ]
}

@test "--diff and --expect tell what is quantized" {
    irrun "$model" --random --shape=x=9,96 --dynamic-quantization --diff=scalar --atol=0 --rtol=0 -o none:
    irrun "$model" --random --shape=x=9,96 --dynamic-quantization --diff=plain --atol=0 --rtol=0 -o none:
    run_apart irrun "$model" --random --shape=x=9,96 --dynamic-quantization --diff=f64 --atol=1e-4 -o none:
    [ "$status" -eq 1 ]
    [[ $stderr == *"MatMul"*"differs from f64"* ]]
    irrun "$model" -i "${model%model.xml}in.npz" -o exact.npz
    answered 1 "outputs differ" "--dynamic-quantization rounds inputs of MatMul: if the run passes without it, --atol and --rtol can allow for the rounding" \
        "$model" -i "${model%model.xml}in.npz" --expect=exact.npz --dynamic-quantization
}
