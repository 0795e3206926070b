#!/usr/bin/env bats
# The tools that judge everything else: they must be able to fail.
# SPDX-License-Identifier: Apache-2.0

setup() {
    root=$(realpath "$BATS_TEST_DIRNAME/../..")
    cd "${BATS_TEST_TMPDIR:=$(mktemp -d)}" || return
    # Stands in for irrun: exit status and stderr as the option --say=STATUS:TEXT has it.
    cat >fake <<'FAKE'
#!/bin/sh
for arg; do
    case $arg in
    --say=*)
        echo "${arg#--say=*:}" >&2
        arg=${arg#--say=}
        exit "${arg%%:*}"
        ;;
    --print) echo tensor ;;
    esac
done
FAKE
    chmod +x fake
    export IRRUN=$PWD/fake
    mkdir -p cases/one
    touch cases/one/model.xml cases/one/out.npz
}

last_line() {
    [ "${lines[-1]}" = "$1" ]
}

count_tap() { # exit status of the program, then its output on stdin
    awk -v name=program -v status="$1" -f "$root/tests/count-tap.awk"
}

@test "run-cases: a case that exits with 0 passes" {
    run "$root/scripts/run-cases.sh" cases
    [ "$status" -eq 0 ]
    last_line "1 passed, 0 failed, 0 skipped"
}

@test "run-cases: a difference fails and shows why" {
    echo "--say=1:boo" >cases/one/args
    run "$root/scripts/run-cases.sh" cases
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "FAILED cases/one: exit status 1, expected 0" ]
    [ "${lines[1]}" = "    boo" ]
    last_line "0 passed, 1 failed, 0 skipped"
}

@test "run-cases: something on stdout fails" {
    echo "--print" >cases/one/args
    run "$root/scripts/run-cases.sh" cases
    [ "$status" -eq 1 ]
}

@test "run-cases: an error case wants its exit status and its words" {
    rm cases/one/out.npz
    echo 65 >cases/one/exit
    echo "--say=65:m.xml:1:1:_error" >cases/one/args
    run "$root/scripts/run-cases.sh" cases
    [ "$status" -eq 0 ]
    echo "another word" >cases/one/stderr
    run "$root/scripts/run-cases.sh" cases
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "FAILED cases/one: stderr lacks: another word" ]
    rm cases/one/stderr
    echo 69 >cases/one/exit
    run "$root/scripts/run-cases.sh" cases
    [ "$status" -eq 1 ]
}

@test "run-cases: a lacking op is skipped only if that is asked for" {
    echo "--say=69:no_such_op" >cases/one/args
    run "$root/scripts/run-cases.sh" cases
    [ "$status" -eq 1 ]
    run "$root/scripts/run-cases.sh" --skip-unsupported cases
    [ "$status" -eq 0 ]
    last_line "0 passed, 0 failed, 1 skipped"
}

@test "run-cases: no case at all fails" {
    rm -r cases/one
    run "$root/scripts/run-cases.sh" cases
    [ "$status" -eq 1 ]
}

@test "count-tap: counts, and shows the reasons of skips" {
    run count_tap 1 <<'TAP'
1..4
ok 1 - one
not ok 2 - two
skip: no dog
not ok 3 # SKIP three
ok 4 four # skip no cat
TAP
    [ "$status" -eq 1 ]
    [ "${lines[3]}" = "skip: three # no dog" ]
    [ "${lines[4]}" = "skip: four # no cat" ]
    last_line "1 passed, 1 failed, 2 skipped"
}

@test "count-tap: a program that stops half-way has failed" {
    run count_tap 134 <<<$'1..3\nok 1 - one'
    [ "$status" -eq 1 ]
    last_line "1 passed, 1 failed, 0 skipped"
}

@test "count-tap: without TAP the exit status decides" {
    run count_tap 0 <<<"hello"
    last_line "1 passed, 0 failed, 0 skipped"
    run count_tap 1 <<<"hello"
    last_line "0 passed, 1 failed, 0 skipped"
    run count_tap 77 <<<"skip: no dog"
    last_line "0 passed, 0 failed, 1 skipped"
}

@test "show_departure.py says which package it lacks" {
    command -v python3 >/dev/null || skip "python3 is not there"
    echo 'raise ImportError(name="numpy")' >numpy.py
    run env PYTHONPATH="$PWD" python3 "$root/scripts/show_departure.py" "$root/tests/cases/abs/ranks"
    [ "$status" -eq 1 ]
    [ "$output" = "show_departure.py: numpy is missing: pip install openvino numpy" ]
}
