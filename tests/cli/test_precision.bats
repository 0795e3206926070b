#!/usr/bin/env bats
# --precision: what rounds, where it is said, and what does not change the bytes. tests/cases/precision has the numbers.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    lstm=$root/tests/cases/precision/f16_lstm_one_row/model.xml
}

@test "the words, the environment, and where the precision is named" {
    usage_error "f32, f16 or bf16" "$data/sum.xml" --random --precision=half
    IRRUN_PRECISION=half usage_error "IRRUN_PRECISION" "$data/sum.xml" --random
    run_apart irrun "$lstm" --random -o none: -s
    grep -qx 'precision  *f32' <<<"$stderr"
    IRRUN_PRECISION=f16 run_apart irrun "$lstm" --random -o none: -s -v -r report.json
    [ "$status" -eq 0 ]
    grep -qx 'precision  *f16' <<<"$stderr"
    grep -q 'reads input [0-9] rounded to f16' <<<"$stderr"
    grep -q 'precision f16' <<<"$stderr"
    [ "$(jq -r .host.precision report.json)" = f16 ]
    IRRUN_PRECISION=f16 run_apart irrun "$lstm" --random -o none: -s --precision=f32
    grep -qx 'precision  *f32' <<<"$stderr"
    run_apart irrun "$root/models/lstm_tagger/model.xml" --random -o none: -v --precision=bf16
    grep -q 'bf16 rounds nothing: no product has 1024 or more weights' <<<"$stderr"
}

@test "f32 changes no byte; f16 and bf16 change them, and they do not depend on threads or fusion" {
    local folder precision
    for folder in "$root"/tests/cases/precision/*; do
        all() {
            irrun "$folder/model.xml" -i "$folder/in.npz" --emit=all -o text:- "$@"
        }
        all >want
        all --precision=f32 | cmp want -
        for precision in f16 bf16; do
            all --precision=$precision >rounded
            [ "$(wc -l <rounded)" -eq "$(wc -l <want)" ]
            case $precision:$folder in
                *_special) ;; # its weights are of bf16
                f16:*_slices | bf16:*/f16_unrounded_small | bf16:*/f16_unrounded_rows) [ "$(cksum <rounded)" != "$(cksum <want)" ] ;;
                f16:*/bf16_* | *_unrounded_*) cmp rounded want ;; # fewer weights than f16 rounds
                *) [ "$(cksum <rounded)" != "$(cksum <want)" ] ;;
            esac
            all --precision=$precision -j2 | cmp rounded -
            # products of compressed weights add in another order
            [[ $folder == *_kept* ]] || all --precision=$precision --no-fuse | cmp rounded -
        done
    done
}

@test "--diff=f64 compares with what is not rounded, the other words with what is" {
    irrun "$lstm" -i "${lstm%/*}/in.npz" -n 5 --precision=f16 --diff=scalar -o none:
    irrun "$lstm" -i "${lstm%/*}/in.npz" -n 5 --precision=bf16 --diff=scalar -o none:
    irrun "$lstm" -i "${lstm%/*}/in.npz" -n 5 --precision=bf16 --diff=plain -o none:
    run_apart irrun "$lstm" -i "${lstm%/*}/in.npz" -n 5 --precision=f16 --diff=f64 --atol=1e-5 --rtol=1e-5 -o none:
    [ "$status" -eq 1 ]
    [[ $stderr == *"LSTM"*"differs from f64"* ]]
    irrun "$lstm" -i "${lstm%/*}/in.npz" -n 5 --diff=f64 --atol=1e-5 --rtol=1e-5 -o none:
}

@test "a run in two parts gives the bytes of the whole" {
    local precision
    awk 'BEGIN { srand(1); for (i = 0; i < 8; i++) for (k = 0; k < 512; k++) printf "%.4f%s", rand() - 0.5, k < 511 ? "," : "\n" }' >in.csv
    head -n 4 in.csv >first.csv
    tail -n 4 in.csv >last.csv
    for precision in f16 bf16; do
        part() {
            irrun "$root/models/speech_watch/model.xml" --precision=$precision --emit=all -o text:- "$@" | grep -v "^#"
        }
        part -i in.csv >whole
        part -i first.csv --state-out=s.npz >parts
        part -i last.csv --state-in=s.npz >>parts
        [ "$(wc -l <whole)" -ge 8 ]
        cmp whole parts
    done
}

@test "--expect or --diff that fails says that weights are rounded" {
    local want=${lstm%/*} hint="rounds weights: if --precision=f32 passes, --atol and --rtol can allow for the rounding"
    irrun "$lstm" -i "$want/in.npz" -o rounded.npz --precision=f16
    irrun "$lstm" -i "$want/in.npz" --expect=rounded.npz --precision=f16
    answered 1 "outputs differ" "--precision=f16 $hint" \
        "$lstm" -i "$want/in.npz" --expect="$want/out.npz" --atol=0 --rtol=0 --precision=f16
    IRRUN_PRECISION=bf16 answered 1 "outputs differ" "--precision=bf16 $hint" "$lstm" -i "$want/in.npz" --expect=rounded.npz
    answered 1 "differs from f64" "--precision=bf16 $hint" "$lstm" -i "$want/in.npz" --diff=f64 --precision=bf16 -o none:
    answered 1 "outputs differ" "" "$lstm" -i "$want/in.npz" --expect=rounded.npz --atol=0 --rtol=0
}
