#!/usr/bin/env bats
# What the reader of a pipe sees, and when: whole records, as soon as there is nothing to compute.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
}

teardown() {
    exec 7>&- 8<&-
    wait
}

# answer SECONDS: the next line of what descriptor 8 gives.
answer() {
    local line
    IFS= read -r -t "$1" line <&8 && echo "$line"
}

@test "an error late in a stream keeps the records before it, on whatever is not a file" {
    (seq 500 && echo bad) >x.csv
    run_apart irrun "$data/sum.xml" -i x.csv -o csv:-
    [ "$status" -eq 65 ]
    [ "$(wc -l <<<"$output")" -eq 500 ]
    [ "$(tail -n 1 <<<"$output")" = 125250 ]
    run_apart irrun "$data/sum.xml" -i x.csv
    [ "$(wc -l <<<"$output")" -eq 1000 ]
    mkfifo fifo
    cat fifo >seen &
    run_apart irrun "$data/sum.xml" -i x.csv -o raw:fifo
    [ "$status" -eq 65 ]
    wait $!
    [ "$(wc -c <seen)" -eq 2000 ]
}

@test "an error late in a stream leaves no file" {
    (seq 500 && echo bad) >x.csv
    run_apart irrun "$data/sum.xml" -i x.csv -o y.csv
    [ "$status" -eq 65 ]
    [ ! -e y.csv ]
    [ -z "$(find . -name '.irrun*')" ]
}

@test "with --jobs an error keeps what one job would have kept" {
    local i
    for i in 0 1 2 3 4 5; do
        (seq 300 && [ $i -lt 4 ] || echo bad) >"$i.csv"
        printf '%s\t%s.csv\n' "$i" "$i"
    done >list
    run_apart irrun "$data/sum.xml" --manifest=list -o text:-
    [ "$status" -eq 65 ]
    [ "$(wc -l <<<"$output")" -eq 3000 ]
    echo "$output" >one
    for _ in 1 2 3 4 5 6 7 8; do
        run_apart irrun "$data/sum.xml" --manifest=list -o text:- --jobs=4
        [ "$status" -eq 65 ]
        cmp one - <<<"$output"
    done
}

@test "a signal sends whole records and no half ones" {
    local signal
    for signal in TERM INT HUP; do
        status=0
        timeout -s $signal --preserve-status 0.5 "$IRRUN" "$data/sum.xml" -i csv:- < <(yes 1 2>/dev/null) >seen ||
            status=$?
        [ "$status" -gt 128 ]
        [ "$(wc -l <seen)" -gt 1000 ]
        [ $(($(wc -l <seen) % 2)) -eq 0 ]
        [ "$(tail -c 1 seen | od -An -c | tr -d ' ')" = '\n' ]
    done
}

@test "a record is on its way before the next one is waited for" {
    mkfifo questions answers
    irrun "$data/sum.xml" -i csv:questions -o csv:- >answers &
    exec 8<answers 7>questions
    echo 1 >&7
    [ "$(answer 5)" = 1 ]
    printf '2\n3\n' >&7
    [ "$(answer 5)" = 3 ]
    [ "$(answer 5)" = 6 ]
}

@test "so it is with npy documents, and with raw chunks that come in halves" {
    mkfifo questions answers
    irrun "$data/sum.xml" -i npy:questions -o csv:- >answers &
    exec 8<answers 7>questions
    npy '<f4' '1,' 5 >&7
    [ "$(answer 5)" = 5 ]
    npy '<f4' '1,' 6 >&7
    [ "$(answer 5)" = 11 ]
    exec 7>&- 8<&-
    wait
    irrun "$data/twice.xml" -i raw:questions -o csv:- >answers &
    exec 8<answers 7>questions
    raw 1 2 3 >&7
    [ "$(answer 5)" = 2,4 ]
    raw 4 >&7
    [ "$(answer 5)" = 6,8 ]
}

@test "so it is through a whole pipeline, and with sequences one after the other" {
    mkfifo questions answers
    irrun "$data/sum.xml" -i csv:questions -o raw:- | irrun "$data/sum.xml" -i raw:- -o csv:- >answers &
    exec 8<answers 7>questions
    echo 1 >&7
    [ "$(answer 5)" = 1 ]
    echo 1 >&7
    [ "$(answer 5)" = 3 ]
    exec 7>&- 8<&-
    wait
    echo 4 >x.csv
    irrun "$data/sum.xml" --manifest=- -o csv:- >answers <questions &
    exec 8<answers 7>questions
    printf 'a\tx.csv\n' >&7
    [ "$(answer 5)" = 4 ]
    printf 'b\tx.csv\n' >&7
    [ "$(answer 5)" = 4 ]
    exec 7>&- 8<&-
    wait
    irrun "$data/sum.xml" --manifest=- -o csv:- --jobs=2 >answers <questions &
    exec 8<answers 7>questions
    printf 'a\tx.csv\n' >&7
    [ "$(answer 5)" = 4 ]
}

@test "a signal ends a run that waits for its input, and one whose reader sleeps" {
    local signal code
    for signal in INT:130 TERM:143; do
        code=${signal#*:}
        SECONDS=0
        status=0
        timeout -s "${signal%:*}" --preserve-status 0.3 "$IRRUN" "$data/sum.xml" -i csv:- < <(sleep 10) || status=$?
        [ "$status" -eq "$code" ]
        [ "$SECONDS" -le 2 ]
    done
    SECONDS=0
    {
        status=0
        timeout -s TERM --preserve-status 0.3 "$IRRUN" "$data/sum.xml" --random -n 1000000000 --emit=all -o csv:- || status=$?
        echo "$status $SECONDS" >ended
    } > >(sleep 4)
    read -r status seconds <ended
    [ "$status" -eq 143 ]
    [ "$seconds" -le 3 ]
}
