#!/usr/bin/env bats
# SIGKILL, SIGSTOP and SIGCONT at random moments: a file has its name when it is complete, and what is started again
# gives the bytes of the whole. TEST_ROUNDS, which `make test-deep` sets, multiplies the attempts.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    rounds=${TEST_ROUNDS:-1}
    seq 200000 | awk '{ print $1 % 17 - 8 }' >in.csv
}

# Kills COMMAND at a random moment of so many seconds as it takes; whether it was still running.
kill_sometime() { # COMMAND...
    local seconds
    seconds=$(awk -v "part=$RANDOM" -v "all=$whole_seconds" 'BEGIN { print 0.002 + part / 32768 * all }')
    status=0
    timeout --preserve-status -s KILL "$seconds" "$@" 2>stderr || status=$?
    [ "$status" -eq 137 ]
}

# Sets whole_seconds.
measure() { # COMMAND...
    local TIMEFORMAT=%R
    whole_seconds=$( (time "$@" >/dev/null) 2>&1)
}

# kill_often N NAMES COMMAND...: each of the files is the one of the last whole run, or of this one.
kill_often() {
    local n=$((rounds * $1)) names=$2 n_kills=0 name i
    shift 2
    mkdir old new
    measure "$@"
    for name in $names; do
        mv "$name" new
        echo "of an earlier run" | tee "$name" >"old/$name"
    done
    for ((i = 0; i < 10 * n && n_kills < n; i++)); do
        kill_sometime "$@" || {
            [ "$status" -eq 0 ] || return
            whole_seconds=$(awk -v all="$whole_seconds" 'BEGIN { print 0.95 * all }') # was too late
            continue
        }
        n_kills=$((n_kills + 1))
        for name in $names; do
            cmp -s "$name" "old/$name" || cmp "$name" "new/$name" || return
        done
    done
    echo "$n_kills kills"
    [ "$n_kills" -gt 0 ]
    "$@"
    for name in $names; do
        cmp "$name" "new/$name" || return
    done
    nothing_left
}

@test "killed while it writes an npz and a state: each file is the old one or the new one" {
    kill_often 15 "y.npz s.npz" "$IRRUN" "$data/sum.xml" -i in.csv -o y.npz --state-out=s.npz
}

@test "killed while it writes what --tap-all and --report do: the same" {
    head -n 3000 in.csv >short.csv
    mkdir taps
    cd taps
    kill_often 8 "t.npz y.csv" "$IRRUN" "$data/sum.xml" -i ../short.csv --tap-all=t.npz -o y.csv
}

@test "killed while jobs write a file for each sequence: the same" {
    local i names=''
    for i in 1 2 3 4 5 6; do
        head -n $((i * 9000)) in.csv >"in$i.csv"
        names="$names k$i.npy k$i.npz"
        printf 'k%s\tin%s.csv\n' "$i" "$i"
    done >list
    kill_often 8 "$names" "$IRRUN" "$data/sum.xml" --manifest=list --jobs=2 -o %k.npy --state-out=%k.npz
}

@test "two runs that write the same files, both killed: never half a file" {
    local i n_whole=0 first second
    "$IRRUN" "$data/sum.xml" -i in.csv -o want.npy --state-out=want.npz
    measure "$IRRUN" "$data/sum.xml" -i in.csv -o y.npy --state-out=s.npz
    rm y.npy s.npz
    for ((i = 0; i < 12 * rounds; i++)); do
        kill_sometime "$IRRUN" "$data/sum.xml" -i in.csv -o y.npy --state-out=s.npz &
        first=$!
        kill_sometime "$IRRUN" "$data/sum.xml" -i in.csv -o y.npy --state-out=s.npz &
        second=$!
        wait "$first" || :
        wait "$second" || :
        if [ -e y.npy ]; then
            cmp y.npy want.npy
            n_whole=$((n_whole + 1))
        fi
        [ ! -e s.npz ] || cmp s.npz want.npz
        rm -f y.npy s.npz
    done
    echo "$n_whole of $i were complete"
    "$IRRUN" "$data/sum.xml" -i in.csv -o y.npy --state-out=s.npz
    cmp y.npy want.npy
    cmp s.npz want.npz
    nothing_left
}

@test "stopped and continued again and again, the bytes are the same" {
    local i
    "$IRRUN" "$data/sum.xml" -i in.csv -o want.csv -o want.npz --state-out=want_state.npz
    mkfifo in out
    for ((i = 0; i < rounds; i++)); do
        cat in.csv >in &
        cat out >got.csv &
        "$IRRUN" "$data/sum.xml" -i csv:in -o csv:- -o got.npz --state-out=got_state.npz >out &
        while kill -STOP $! 2>/dev/null && kill -CONT $! 2>/dev/null; do
            sleep 0.00$((RANDOM % 9))
        done
        wait $!
        wait
        cmp want.csv got.csv
        cmp want.npz got.npz
        cmp want_state.npz got_state.npz
    done
}
