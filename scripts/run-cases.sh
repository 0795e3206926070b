#!/usr/bin/env bash
# Runs every case below the given directories and compares with its golden. A case is a directory with a
# model.xml and an out.npz (the expected outputs), or an `exit` (the expected exit status):
#
#   in.npz   the inputs, if the model has any and args does not say --random
#   args     further options, one line, split at blanks
#   exit     of an error case: the exit status
#   stderr   of an error case: each line must occur on standard error
#   bits     the bytes of the only output, if it must be equal bit for bit (NaN payloads)
#
# Environment: IRRUN, the program (build/irrun; may be several words), IRRUN_ARGS, options for all.
# With --skip-unsupported a model that irrun refuses because it lacks an op is skipped, not failed.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

skip_unsupported=false
if [ "${1-}" = --skip-unsupported ]; then
    skip_unsupported=true
    shift
fi
if [ $# -eq 0 ]; then
    echo "usage: scripts/run-cases.sh [--skip-unsupported] DIR..." >&2
    exit 2
fi

read -r -a irrun <<<"${IRRUN:-build/irrun}"
for i in "${!irrun[@]}"; do # the cases run in directories of their own
    case ${irrun[i]} in
    /*) ;;
    */*) irrun[i]=$PWD/${irrun[i]} ;;
    esac
done
read -r -a common_args <<<"${IRRUN_ARGS-}"
home=$PWD
out=$(mktemp)
err=$(mktemp)
trap 'rm -f "$out" "$err"' EXIT
case_dir=
trap 'echo "stopped in $case_dir" >&2; exit 143' TERM INT
passed=0 failed=0 skipped=0

# Prints why the case failed, with the first lines of stderr.
failed_because() {
    failed=$((failed + 1))
    printf 'FAILED %s: %s\n' "$case_dir" "$1"
    local line n=0
    while IFS= read -r line && [ $((n += 1)) -le 6 ]; do
        printf '    %s\n' "$line"
    done <"$err"
}

judge() { # exit status
    local expected=0 fragment
    [ ! -e exit ] || expected=$(<./exit)
    if $skip_unsupported && [ "$1" = 69 ] && [ "$expected" -ne 69 ]; then
        skipped=$((skipped + 1))
        printf 'skip: %s # an op that irrun lacks\n' "$case_dir"
        return
    fi
    if [ "$1" != "$expected" ]; then
        failed_because "exit status $1, expected $expected"
        return
    fi
    if [ -s "$out" ]; then
        failed_because "something on stdout"
        return
    fi
    if [ -e stderr ]; then
        local said
        said=$(<"$err")
        while IFS= read -r fragment; do
            if [[ $said != *"$fragment"* ]]; then
                failed_because "stderr lacks: $fragment"
                return
            fi
        done <stderr
    fi
    passed=$((passed + 1))
}

run_case() {
    local args=(model.xml) status=0
    [ ! -e in.npz ] || args+=(-i in.npz)
    [ ! -e out.npz ] || args+=(--expect out.npz)
    args+=(-o none:)
    if [ -e args ]; then
        local own
        read -r -d '' -a own <args || : # fails at the end of the file
        args+=("${own[@]}")
    fi
    "${irrun[@]}" "${common_args[@]}" "${args[@]}" >"$out" 2>"$err" </dev/null || status=$?
    if [ "$status" -eq 0 ] && [ -e bits ]; then
        "${irrun[@]}" "${common_args[@]}" model.xml -i in.npz -o npy:- 2>>"$err" </dev/null |
            tail -c "$(wc -c <bits)" | cmp -s - bits || status="0, but other bits"
    fi
    judge "$status"
}

models=$(find -L "$@" -name model.xml | LC_ALL=C sort)
while IFS= read -r model; do
    case_dir=${model%/model.xml}
    if [ -e "$case_dir/out.npz" ] || [ -e "$case_dir/exit" ]; then
        cd "$case_dir"
        run_case
        cd "$home"
    fi
done <<<"$models"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
