#!/usr/bin/env bats
# --precision: what rounds, where it is said, and what does not change the bytes. tests/cases/precision has the numbers.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    tagger=$root/models/lstm_tagger/model.xml
}

@test "the words, the environment, and where the precision is named" {
    usage_error "f32 or f16" "$data/sum.xml" --random --precision=half
    IRRUN_PRECISION=half usage_error "IRRUN_PRECISION" "$data/sum.xml" --random
    run_apart irrun "$tagger" --random -o none: -s
    grep -qx 'precision  *f32' <<<"$stderr"
    IRRUN_PRECISION=f16 run_apart irrun "$tagger" --random -o none: -s -v -r report.json
    [ "$status" -eq 0 ]
    grep -qx 'precision  *f16' <<<"$stderr"
    grep -q 'reads input [0-9] rounded to f16' <<<"$stderr"
    grep -q 'precision f16' <<<"$stderr"
    [ "$(jq -r .host.precision report.json)" = f16 ]
    IRRUN_PRECISION=f16 run_apart irrun "$tagger" --random -o none: -s --precision=f32
    grep -qx 'precision  *f32' <<<"$stderr"
}

@test "f32 changes no byte; f16 changes them, and they do not depend on threads or fusion" {
    local folder
    for folder in "$root"/models/lstm_tagger "$root"/tests/cases/precision/f16_*; do
        all() {
            irrun "$folder/model.xml" -i "$folder/in.npz" --emit=all -o text:- "$@"
        }
        all >want
        all --precision=f32 | cmp want -
        all --precision=f16 >f16
        [ "$(wc -l <f16)" -eq "$(wc -l <want)" ]
        [ "$(cksum <f16)" != "$(cksum <want)" ]
        all --precision=f16 -j2 | cmp f16 -
        [[ $folder == *_kept* ]] || all --precision=f16 --no-fuse | cmp f16 - # products of compressed weights add in another order
    done
}

@test "--diff=f64 compares with what is not rounded, the other words with what is" {
    irrun "$tagger" --random -n 5 --precision=f16 --diff=scalar -o none:
    run_apart irrun "$tagger" --random -n 5 --precision=f16 --diff=f64 --atol=1e-5 --rtol=1e-5 -o none:
    [ "$status" -eq 1 ]
    [[ $stderr == *"LSTM"*"departs from f64"* ]]
    irrun "$tagger" --random -n 5 --diff=f64 --atol=1e-5 --rtol=1e-5 -o none:
}
