#!/usr/bin/env bats
# --keep-going: a sequence that fails is left out; what a batch says at its end.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    local i
    for i in 1 2 3 4 5; do echo "$i $i" >"$i.csv"; done
    echo "x y" >2.csv
    rm 4.csv
    printf '%s.csv\n' 1 2 3 4 5 >list
}

@test "the others are run, and the first failure is the exit status" {
    local jobs
    for jobs in 1 3; do
        rm -f ./*.out
        run_apart irrun "$data/twice.xml" --manifest=list --keep-going -o csv:%k.out --jobs=$jobs
        [ "$status" -eq 65 ]
        [ "$(grep -c 'error: ' <<<"$stderr")" -eq 3 ]
        [[ $stderr == *'2.csv:1:1: error: "x" is not a number'* ]]
        [[ $stderr == *"4.csv: error: cannot be opened"* ]]
        [ "${stderr##*$'\n'}" = "irrun: error: 2 of 5 sequences failed" ]
        [ "$(echo ./*.out)" = "./1.out ./3.out ./5.out" ]
        [ "$(cat ./*.out | lines)" = "2,2 6,6 10,10" ]
    done
    nothing_left
    run_apart irrun "$data/twice.xml" --manifest=list -o csv:%k.new
    [ "$status" -eq 65 ]
    [ "$(echo ./*.new)" = "./1.new" ]
    sed -i 1,3d list
    run_apart irrun "$data/twice.xml" --manifest=list --keep-going -o none:
    [ "$status" -eq 66 ]
    printf '5.csv\n' >list
    run_apart irrun "$data/twice.xml" --manifest=list --keep-going -o none:
    [ "$status" -eq 0 ]
    [ "$stderr" = "" ]
}

@test "files that sequences share hold the others" {
    printf '7 7\n8 8\n9\n' >2.csv # fails in its third record
    run_apart irrun "$data/twice.xml" --manifest=list --keep-going -o csv:all.csv
    [ "$status" -eq 65 ]
    [ "$(lines <all.csv)" = "2,2 14,14 16,16 6,6 10,10" ]
    run_apart irrun "$data/twice.xml" --manifest=list --keep-going -o all.ark --concat=0
    [ "$status" -eq 65 ]
    [ "$(irrun "$data/twice.xml" -i all.ark | grep -c '^# ')" -eq 3 ]
    run_apart irrun "$data/twice.xml" --manifest=list --keep-going -o %k.npy --jobs=2
    [ "$(echo ./*.npy)" = "./1.npy ./3.npy ./5.npy" ]
    nothing_left
}

@test "lines that cannot be understood, and failures that end the run" {
    printf '1.csv\na\t=1.csv\n3.csv\n' >list
    run_apart irrun "$data/twice.xml" --manifest=list --keep-going -o csv:-
    [ "$status" -eq 65 ]
    [ "$(lines <<<"$output")" = "2,2 6,6" ]
    [[ $stderr == *"list:2: error: "*"irrun: error: 1 of 3 sequences failed" ]]
    printf '1.csv\n3.csv\n' >list
    run_apart irrun "$data/twice.xml" --manifest=list --keep-going -o none/%k.csv
    [ "$status" -eq 73 ]
    [ "$(grep -c error <<<"$stderr")" -eq 1 ]
}

@test "a line that cannot be understood has a number, so that every shard leaves it to one" {
    printf 'a\ta.csv\nbad\tb.zzz\nc\tc.csv\nd\td.csv\ne\te.csv\n' >list
    for key in a c d e; do echo 1 >$key.csv; done
    for shard in 0/2 1/2; do
        irrun "$data/sum.xml" --manifest=list --keep-going --shard=$shard -o "$(mkdir -p ${shard%/*})${shard%/*}/%k.csv" || echo $?
    done >statuses
    [ "$(cat statuses)" = 65 ]
    [ "$(echo [01]/*)" = "0/a.csv 0/c.csv 0/e.csv 1/d.csv" ]
}

@test "a summary at the end of a batch" {
    printf '1.csv\n3.csv\n' >list
    run_apart irrun "$data/twice.xml" --manifest=list --progress=plain -o none:
    [ "$status" -eq 0 ]
    [[ $stderr == "irrun: 2 sequences, 2 iterations in "*" s" ]]
    run_apart irrun "$data/twice.xml" --manifest=list -o none:
    [ "$stderr" = "" ]
    run_apart irrun "$data/twice.xml" -i 1.csv --progress=plain -o none:
    [ "$stderr" = "" ]
}

@test "if every sequence failed, no file gets its name" {
    printf '1\n2\nx\n' >bad.csv
    run_apart irrun "$data/sum.xml" -i bad.csv --keep-going -o y.csv -o npz:y.npz --state-out=s.npz
    [ "$status" -eq 65 ]
    [ "$(echo y.* s.*)" = "y.* s.*" ]
    echo bad.csv >list
    run_apart irrun "$data/sum.xml" --manifest=list --keep-going -o y.csv
    [ "$status" -eq 65 ]
    [ ! -e y.csv ]
    run_apart irrun "$data/sum.xml" -i bad.csv --keep-going -o y.csv --checkpoint=c
    [ "$status" -eq 65 ]
    [ ! -e y.csv ]
    nothing_left
}

@test "what a shared file holds of a failed sequence does not depend on --jobs" {
    seq 20000 >long.csv
    printf '7\n8\nx\n' >bad.csv # fails while the first is still running
    printf 'long.csv\nbad.csv\n' >list
    local jobs
    for jobs in 1 2; do
        run_apart irrun "$data/sum.xml" --manifest=list --keep-going --jobs=$jobs -o jobs$jobs.csv
        [ "$status" -eq 65 ]
    done
    [ "$(tail -n 2 jobs1.csv | lines)" = "7 15" ]
    cmp jobs1.csv jobs2.csv
}

@test "-n 0 with sequences that are left out" {
    printf '1.csv\n4.csv\n3.csv\n' >list
    run_apart timeout 60 "$IRRUN" "$data/twice.xml" -n 0 --manifest=list --keep-going
    [ "$status" -eq 66 ]
    : >3.out
    printf '1.csv\n3.csv\n5.csv\n' >list
    run_apart timeout 60 "$IRRUN" "$data/twice.xml" -n 0 --manifest=list --skip-existing -o csv:%k.out
    [ "$status" -eq 0 ]
    [ "$(echo ./*.out)" = ./3.out ]
}

@test "files of a line that cannot be written, also if the manifest is a pipe" {
    printf '%s\n' '1.csv' $'b\t1.csv\t>q=b.csv' 3.csv 3.csv 5.csv >list
    local jobs
    for jobs in 1 2; do
        rm -f ./*.out
        run_apart irrun "$data/twice.xml" --manifest=- --keep-going --jobs=$jobs -o csv:%k.out <list
        [ "$status" -eq 65 ]
        [[ $stderr == *'standard input:2: error: no output "q"'* ]]
        [[ $stderr == *"standard input:4: error: "*" is also written by -o (standard input:3)"* ]]
        [ "$(echo ./*.out)" = "./1.out ./3.out ./5.out" ]
    done
}

@test "a state that continues needs every sequence" {
    local option
    for option in --keep-going --skip-existing; do
        answered 2 "--reset=never and $option cannot be used together" \
            "the state would lack a sequence that is left out" \
            "$data/sum.xml" --manifest=list --reset=never "$option" -o csv:%k.out
    done
}
