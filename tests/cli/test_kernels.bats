#!/usr/bin/env bats
# Which variant of a kernel runs: --simd, $IRRUN_SIMD, --list-kernels, --stats.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    unset IRRUN_SIMD
}

@test "every family is listed with its levels and the one in use" {
    run_apart irrun --list-kernels
    [ "$status" -eq 0 ]
    [[ $output == *$'select_x32\tscalar'* ]]
    [ -z "$(awk -F '\t' 'NF != 3' <<<"$output")" ]
    # The one in use is one of those that were built.
    [ -z "$(awk -F '\t' 'index(" " $2 " ", " " $3 " ") == 0' <<<"$output")" ]
}

@test "--simd holds every family to the level" {
    run_apart irrun --list-kernels --simd=scalar
    [ "$status" -eq 0 ]
    [ -z "$(awk -F '\t' '$3 != "scalar"' <<<"$output")" ]
}

@test "--stats says the level in use: the highest without the option" {
    local level
    for level in $(levels_here); do
        run_apart irrun "$data/sum.xml" --random -o none: -s --simd="$level"
        [ "$status" -eq 0 ]
        grep -qx "simd  *$level" <<<"$stderr"
    done
    run_apart irrun "$data/sum.xml" --random -o none: -s
    grep -qx "simd  *$level" <<<"$stderr"
}

@test "a level that the machine lacks is an error, not a silent fallback" {
    local here level
    here=$(levels_here)
    [[ $here == scalar* ]]
    for level in $(all_levels); do
        run_apart irrun "$data/sum.xml" --random -o none: --simd="$level"
        if grep -qx "$level" <<<"$here"; then
            [ "$status" -eq 0 ]
        else
            [ "$status" -eq 2 ]
            [[ $stderr == *"lacks $level"*"the levels available here are scalar"* ]]
        fi
    done
}

@test "the environment names a level, the command line has the last word" {
    IRRUN_SIMD=scalar run_apart irrun "$data/sum.xml" --random -o none: -s
    grep -qx 'simd  *scalar' <<<"$stderr"
    IRRUN_SIMD=mmx run_apart irrun "$data/sum.xml" --random -o none:
    [ "$status" -eq 2 ]
    [[ $stderr == *"IRRUN_SIMD"* ]]
    IRRUN_SIMD=mmx run_apart irrun "$data/sum.xml" --random -o none: -s --simd=scalar
    [ "$status" -eq 0 ]
}

@test "a word that is not a level is refused with those there are" {
    local words
    words=$(all_levels | sed '1s/^/auto, /; 2,$s/^/, /; $s/^, / or /' | tr -d '\n')
    run_apart irrun "$data/sum.xml" --random --simd=scaler
    [ "$status" -eq 2 ]
    [[ $stderr == *"--simd takes $words, not 'scaler'"*"did you mean --simd=scalar?"* ]]
}

@test "check_kernels --speed measures the machine at every level" {
    run_apart "$(dirname "$IRRUN")/tests/kernels/check_kernels" --speed peak
    [ "$status" -eq 0 ]
    [ "$(grep -c 'GFLOP/s$' <<<"$output")" -eq "$(levels_here | wc -l)" ]
}
