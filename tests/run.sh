#!/usr/bin/env bash
# Runs the tests that `make test` has built and ends with one line: N passed, N failed, N skipped.
#
#   tests/run.sh           all parts, one more at a time than there are CPUs, because some wait
#   tests/run.sh PART...   some of them, with all they print; `tests/run.sh list` names them
#
# The programs run in the root of the project. Environment: BUILD, the build directory (build); they
# get IRRUN, the absolute path of the program.
#
# A part fails if a test of it fails, if it ran no test at all, or if it skipped one for a reason
# that tests/allowed-skips.txt does not list.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

export BUILD=${BUILD:-build}
IRRUN=$(realpath "$BUILD")/irrun
FAULTS_LIBRARY=$(realpath "$BUILD")/tests/faults/inject.so
export IRRUN FAULTS_LIBRARY
export CMOCKA_MESSAGE_OUTPUT=TAP
# No exit status of irrun's own; and an allocation that is too large fails as it does elsewhere.
export ASAN_OPTIONS=exitcode=99:allocator_may_return_null=1:${ASAN_OPTIONS-}
export UBSAN_OPTIONS=exitcode=99:print_stacktrace=1:${UBSAN_OPTIONS-}
export TSAN_OPTIONS=exitcode=99:${TSAN_OPTIONS-}
part_seconds=${PART_SECONDS:-600} # then a part is given up

# The cases at every SIMD level that this machine has.
list_levels() {
    local level levels
    levels=$("$IRRUN" --list-kernels --simd=scalar | cut -f 2 | head -n 1)
    for level in $levels; do
        if "$IRRUN" --list-kernels --simd="$level" >/dev/null 2>&1; then
            echo "cases/$level"
        fi
    done
}

# The longest first, so that none is left over at the end.
list_parts() {
    local path
    echo cases/plain
    echo cases/cblas
    echo cases/packed
    echo cases/unfused
    list_levels
    for path in tests/cli/*.bats tests/unit/test_*.c tests/api/*.c; do
        path=${path#tests/}
        echo "${path%.c}"
    done
    [ ! -d tests/kernels ] || echo kernels/check_kernels
    for path in memory read open write close file short interrupt; do
        echo "faults/$path"
    done
    for path in tests/fuzz/corpus/*/; do
        echo "fuzz/$(basename "$path")"
    done
    echo includes
    echo op-cases
    echo man
    echo shell
}

# Runs a program that prints TAP, or nothing but its exit status: 0 passed, 77 skipped.
run_tap() {
    local status=0 output
    output=$("$@" 2>&1) || status=$?
    printf '%s\n' "$output" | awk -v name="$*" -v status="$status" -f tests/count-tap.awk
}

# Before 1.4 bats has no directory for a test; it makes one in TMPDIR then.
run_bats() {
    local scratch status=0
    scratch=$(mktemp -d)
    TMPDIR=$scratch run_tap bats --tap "$1" || status=$?
    rm -rf "$scratch"
    return "$status"
}

# Runs a command that is one test as a whole.
run_check() {
    if "$@" 2>&1; then
        echo "1 passed, 0 failed, 0 skipped"
    else
        echo "0 passed, 1 failed, 0 skipped"
        false
    fi
}

run_part() {
    case $1 in
    unit/* | api/* | kernels/*)
        if [ ! -x "$BUILD/tests/$1" ]; then
            echo "$BUILD/tests/$1 is not built: make $BUILD/tests/$1"
            return 1
        fi
        run_tap "$BUILD/tests/$1"
        ;;
    cli/*) run_bats "tests/$1" ;;
    fuzz/*) run_tap "$BUILD/tests/fuzz/replay_${1#fuzz/}" "tests/fuzz/corpus/${1#fuzz/}" ;;
    faults/*) run_tap "$BUILD/tests/faults/sweep" "${1#faults/}" ;;
    cases/unfused) IRRUN_ARGS=--no-fuse scripts/run-cases.sh tests/cases models ;;
    cases/plain | cases/cblas | cases/packed)
        IRRUN_ARGS=--gemm=${1#cases/} scripts/run-cases.sh tests/cases models
        ;;
    cases/*) IRRUN_ARGS=--simd=${1#cases/} scripts/run-cases.sh tests/cases models ;;
    includes) run_check scripts/check-includes.sh ;;
    op-cases) run_check scripts/check-op-cases.sh ;;
    man) scripts/check-man.sh ;;
    shell) run_check eval 'scripts/check-shell.sh && scripts/check-words.sh' ;;
    *)
        echo "no such part; see tests/run.sh list"
        false
        ;;
    esac
}

# Sets passed, failed and skipped from the last line of a log.
read_counts() {
    passed=0 failed=0 skipped=0
    [[ $(tail -n 1 "$1") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]] || return
    passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} skipped=${BASH_REMATCH[3]}
}

# A row of the table: what, counts, and after them anything else.
print_row() {
    printf '%-32s %7s %7s %7s %8s%s\n' "$@"
}

# Runs a part into a log and prints its row with what is wrong beside it, and its skips.
log_part() {
    local log=$BUILD/tests/log/${1//\//-} status=0 passed failed skipped wrong='' reason
    SECONDS=0
    timeout -k 5 "$part_seconds" tests/run.sh "$1" >"$log" 2>&1 </dev/null || status=$?
    if ! read_counts "$log"; then
        wrong="ended without counts, exit status $status"
        [ "$status" -ne 124 ] || wrong="gave up after $part_seconds seconds"
        failed=1
    elif [ $((passed + failed + skipped)) -eq 0 ]; then
        wrong="ran no test"
        failed=1
    fi
    while IFS= read -r reason; do
        if ! grep -qxF -- "$reason" tests/allowed-skips.txt; then
            wrong="${wrong:+$wrong; }may not be skipped: $reason"
            failed=$((failed + 1)) skipped=$((skipped - 1))
        fi
    done < <(sed -n 's/^skip: .* # //p' "$log")
    echo "$passed $failed $skipped" >"$log.counts"
    print_row "$1" "$passed" "$failed" "$skipped" "$SECONDS" "${wrong:+  $wrong}"
    sed -n '/^skip: /s/^/    /p' "$log"
}

run_all() {
    local part total_passed=0 total_failed=0 total_skipped=0 passed failed skipped
    rm -rf "$BUILD/tests/log"
    mkdir -p "$BUILD/tests/log"
    print_row part passed failed skipped seconds ''
    list_parts | xargs -P "$(($(nproc) + 1))" -I '{}' tests/run.sh log '{}'
    for part in $(list_parts); do
        local log=$BUILD/tests/log/${part//\//-}
        read -r passed failed skipped <"$log.counts"
        if [ "$failed" -ne 0 ]; then
            printf '\n---- %s (%s)\n' "$part" "$log"
            grep -vE '^ok |^[0-9]+ passed, ' "$log" | head -n 60
        fi
        total_passed=$((total_passed + passed))
        total_failed=$((total_failed + failed))
        total_skipped=$((total_skipped + skipped))
    done
    printf '\n%s passed, %s failed, %s skipped\n' "$total_passed" "$total_failed" "$total_skipped"
    [ "$total_failed" -eq 0 ]
}

case ${1-} in
'') run_all ;;
list) list_parts ;;
log) log_part "$2" ;;
*)
    bad=0
    for part; do
        run_part "$part" || bad=1
    done
    exit "$bad"
    ;;
esac
