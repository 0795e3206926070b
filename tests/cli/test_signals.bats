#!/usr/bin/env bats
# Signals that end the process: whichever it is, what is unfinished goes, and the process dies by it.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    ulimit -c 0
    # A sanitizer would catch some of them itself.
    local handlers=handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:handle_sigtrap=0
    export ASAN_OPTIONS=${ASAN_OPTIONS-}:$handlers TSAN_OPTIONS=${TSAN_OPTIONS-}:$handlers UBSAN_OPTIONS=${UBSAN_OPTIONS-}:$handlers
    mkfifo pipe
}

# Every signal whose default is to end the process and that can be caught, by what kill -l calls it.
endings() {
    echo HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 ALRM TERM STKFLT XCPU XFSZ VTALRM PROF IO PWR SYS \
        RTMIN RTMIN+1 RTMAX
}

# Starts a run that waits for its input with its outputs open: $! is its process, 7 what it reads from.
# HOW is what it finds set for SIGNAL: DEFAULT or IGNORE.
start() { # HOW SIGNAL OPTION...
    local how=$1 number
    number=$(kill -l "$2")
    shift 2
    # Background jobs of a shell ignore SIGINT and SIGQUIT: perl says how it is to be.
    perl -MPOSIX -e 'my ($how, $number) = (shift, shift);
        sigaction($number, POSIX::SigAction->new($how)); exec @ARGV' -- \
        "$how" "$number" "$IRRUN" "$data/twice.xml" -i csv:pipe "$@" 2>stderr &
    exec 7>pipe
    echo 1,2 >&7
    for _ in $(seq 100); do
        [ -z "$(find . -name '.irrun*' -o -name '*.partial')" ] || break
        sleep 0.05
    done
    [ -n "$(find . -name '.irrun*' -o -name '*.partial')" ]
}

@test "every signal that ends the process removes what is unfinished" {
    local signal
    for signal in $(endings); do
        echo "$signal"
        start DEFAULT "$signal" -o y.npy -o z.npz
        kill -"$signal" $!
        status=0
        wait $! 2>waited || status=$?
        exec 7>&-
        [ "$status" -eq $((128 + $(kill -l "$signal"))) ]
        [ ! -s stderr ]
        [ ! -e y.npy ]
        [ ! -e z.npz ]
        nothing_left
    done
}

@test "a signal that was ignored stays ignored" {
    local signal
    for signal in HUP INT QUIT USR1 USR2 ALRM XCPU XFSZ VTALRM PROF RTMIN; do
        echo "$signal"
        start IGNORE "$signal" -o y.csv
        kill -"$signal" $!
        echo 3,4 >&7
        exec 7>&-
        wait $!
        [ "$(lines <y.csv)" = "2,4 6,8" ]
        [ ! -s stderr ]
        rm y.csv
    done
}

@test "with a checkpoint only SIGTERM and SIGINT wait for it; what it needs to resume stays" {
    local signal
    seq 300000 >in.csv
    for signal in USR1 XCPU; do
        perl -e 'exec @ARGV' -- "$IRRUN" "$data/sum.xml" -i in.csv -o y.csv --checkpoint=ck --checkpoint-every=100 2>stderr &
        for _ in $(seq 1000); do
            [ ! -e ck ] || break
            sleep 0.01
        done
        kill -"$signal" $!
        status=0
        wait $! || status=$?
        [ "$status" -eq $((128 + $(kill -l "$signal"))) ]
        [ -e ck ]
        [ -e y.csv.partial ]
        nothing_left
        irrun "$data/sum.xml" -i in.csv -o y.csv --checkpoint=ck --checkpoint-every=100
        [ "$(wc -l <y.csv)" -eq 300000 ]
        rm y.csv
    done
}
