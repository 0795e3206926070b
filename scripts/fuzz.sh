#!/usr/bin/env bash
# Runs the fuzz targets that `make fuzz` has built, one after the other:
#
#   scripts/fuzz.sh SECONDS TARGET...
#
# Inputs that fail are in build/fuzz/found/TARGET-*, the corpus so far in build/fuzz/learned. When a
# bug is fixed, its input goes into tests/fuzz/corpus/TARGET.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
shift
build=build/fuzz
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:${ASAN_OPTIONS-}
bad=0

# Makes the first inputs from files of the tree.
make_seeds() {
    local seeds=$build/seeds/$1 path name
    mkdir -p "$seeds"
    case $1 in
    model)
        for path in tests/cases/*/*/model.xml tests/cli/data/*.xml; do
            name=${path%/model.xml}
            {
                sed 's/^[ \t]*//' "$path"
                printf '\0'
                [ ! -f "${path%.xml}.bin" ] || head -c 20000 "${path%.xml}.bin"
            } >"$seeds/${name//\//-}"
        done
        ;;
    formats)
        for path in tests/data/formats/*.np[yz]; do
            case $path in
            *.npy) printf '\001\002' ;;
            *) printf '\002\002' ;;
            esac | cat - "$path" >"$seeds/$(basename "$path")"
        done
        ;;
    state)
        for path in tests/data/formats/*.npz; do
            printf '\000' | cat - "$path" >"$seeds/$(basename "$path")"
        done
        ;;
    text)
        sed -n 's/^OPTION([^"]*"\([^"]*\)".*/--\1/p' src/cli/options.def | {
            printf '\001'
            cat
        } >"$seeds/options"
        ;;
    esac
}

for target; do
    learned=$build/learned/$target log=$build/$target.log
    make_seeds "$target"
    mkdir -p "$learned" "$build/found"
    status=0
    nice -n 19 "$build/tests/fuzz/fuzz_$target" "$learned" "tests/fuzz/corpus/$target" \
        "$build/seeds/$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
        -max_len=30000 -artifact_prefix="$build/found/$target-" -print_final_stats=1 \
        >"$log" 2>&1 || status=$?
    covered=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$target: ${runs:-?} executions in $seconds s, ${covered:-cov: ?}$(
        [ "$status" -eq 0 ] || echo "; FOUND something: $log"
    )"
    [ "$status" -eq 0 ] || bad=1
done
exit "$bad"
