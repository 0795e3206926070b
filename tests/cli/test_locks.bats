#!/usr/bin/env bats
# Two processes at one output, state or checkpoint, and what a killed one leaves.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    printf '1\n2\n3\n' >a.csv
    mkfifo pipe
}

# Starts a run that waits for its input: $first is its process, and 7 what it reads from.
start() { # OPTION...
    "$IRRUN" "$data/sum.xml" -i csv:pipe "$@" 2>first_stderr &
    first=$!
    exec 7>pipe
    for _ in $(seq 200); do
        [ -z "$(find . -name '.irrun*' -o -name '*.partial')" ] || break
        sleep 0.05
    done
    [ -n "$(find . -name '.irrun*' -o -name '*.partial')" ]
}

finish() {
    seq 4 >&7
    exec 7>&-
    wait $first
}

# held FILE ARGUMENT...: the second process does not begin, and says who holds FILE.
held() {
    local file=$1
    shift
    refused 73 "$file: error: is being written by process $first" "$data/sum.xml" -i a.csv "$@"
    [[ $stderr == *"hint: wait for it to end, or write to another file" ]]
}

@test "the second process with one output ends with 73, and the first is not disturbed" {
    local file
    ln -s . here
    for file in y.csv ./y.csv here/y.csv; do
        start -o y.csv
        held "$file" -o "$file"
        held "$file" -o z.csv -o "$file"
        [ ! -e z.csv ]
        finish
        [ "$(lines <y.csv)" = "1 3 6 10" ]
        nothing_left
        irrun "$data/sum.xml" -i a.csv -o "$file"
        [ "$(lines <y.csv)" = "1 3 6" ]
    done
}

@test "states, reports and --tap-all are held from the beginning of a run" {
    local option
    for option in --state-out=s.npz --report=s.npz --tap-all=s.npz; do
        echo "$option"
        start -o none: "$option"
        held s.npz -o s.npz
        held s.npz -o none: --state-out=s.npz
        held s.npz -o none: --report=s.npz
        finish
        [ -s s.npz ]
        nothing_left
        rm s.npz
    done
    start -o none: --state-out=one.npz
    irrun "$data/sum.xml" -i a.csv -o none: --state-out=other.npz
    finish
}

@test "what many sequences write is held while it is written" {
    printf 'one\tcsv:pipe\n' >list
    "$IRRUN" "$data/sum.xml" --manifest=list -o %k.csv &
    first=$!
    exec 7>pipe
    echo 1 >&7
    for _ in $(seq 200); do
        [ -z "$(find . -name '.irrun*')" ] || break
        sleep 0.05
    done
    held one.csv -o one.csv
    finish
    [ "$(lines <one.csv)" = "1 2 4 7 11" ]
}

@test "the second process with one checkpoint ends with 73" {
    seq 300000 >in.csv
    "$IRRUN" "$data/sum.xml" -i in.csv -n 100000000 --emit=all -o none: --checkpoint=ck --checkpoint-every=1000 2>first_stderr &
    first=$!
    for _ in $(seq 1000); do
        [ ! -e ck ] || break
        sleep 0.01
    done
    local i
    for i in 1 2 3; do
        refused 73 "ck: error: is being written by process $first" "$data/sum.xml" -i in.csv -n 100000000 --emit=all \
            -o none: --checkpoint=ck
    done
    kill -TERM $first
    status=0
    wait $first || status=$?
    [ "$status" -eq 75 ]
    nothing_left
    # One output, and another checkpoint or none.
    "$IRRUN" "$data/sum.xml" -i in.csv -n 100000000 --emit=all -o y.csv --checkpoint=ck2 2>first_stderr &
    first=$!
    for _ in $(seq 1000); do
        [ ! -e ck2 ] || break
        sleep 0.01
    done
    held y.csv -o y.csv
    held y.csv -o y.csv --checkpoint=ck3
    kill -KILL $first
    status=0
    wait $first 2>ended || status=$?
    [ "$status" -eq 137 ]
    [ -e y.csv.partial ]
}

@test "what a killed process leaves, the next that writes there removes" {
    for _ in 1 2 3; do
        start -o y.csv -o z.npz --state-out=s.npz
        kill -KILL $first
        wait $first 2>ended || :
        exec 7>&-
        [ "$(find . -name '.irrun*' | wc -l)" -eq 3 ]
    done
    irrun "$data/sum.xml" -i a.csv -o y.csv
    [ "$(find . -name '.irrun*' | wc -l)" -eq 2 ]
    irrun "$data/sum.xml" -i a.csv -o z.npz --state-out=s.npz
    nothing_left
}

@test "many processes at one output: one writes, the others are refused" {
    local i pids=() n_done=0
    seq 20000 >in.csv
    for i in $(seq 8); do
        "$IRRUN" "$data/sum.xml" -i in.csv -o y.csv --state-out=s.npz 2>stderr"$i" &
        pids+=($!)
    done
    for i in "${pids[@]}"; do
        status=0
        wait "$i" || status=$?
        case $status in
        0) n_done=$((n_done + 1)) ;;
        73) ;;
        *) false ;;
        esac
    done
    [ "$n_done" -gt 0 ]
    [ "$(wc -l <y.csv)" -eq 20000 ]
    nothing_left
}
