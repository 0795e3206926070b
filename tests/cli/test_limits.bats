#!/usr/bin/env bats
# Runs that lack something: memory, descriptors, room on the disk, a directory, a standard stream. Each ends with a status
# that the manual lists and one error, and leaves no half file. TEST_ROUNDS, which `make test-deep` sets, makes the steps
# smaller.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    rounds=${TEST_ROUNDS:-1}
    seq 20000 | awk '{ print $1 % 17 - 8 }' >in.csv
    mkdir want
    irrun "$data/sum.xml" -i in.csv -o want/y.npy -o want/y.csv --state-out=want/s.npz
    rm -rf out
    mkdir out
}

outputs=(-o out/y.npy -o out/y.csv --state-out=out/s.npz)

# ended_well STATUSES: the last run ended with one of them, and one error unless that is 0; what is in out is whole.
ended_well() {
    local file
    case " 0 $1 " in
    *" $status "*) ;;
    *)
        echo "exit status $status: $stderr"
        return 1
        ;;
    esac
    [ "$(grep -c ': error: ' stderr)" -eq $((status != 0)) ]
    if grep -vE ': (error|warning): |^  hint: ' stderr; then
        return 1
    fi
    for file in out/*; do
        [ ! -e "$file" ] || cmp "$file" "want/${file#out/}" || return
    done
    [ "$status" -ne 0 ] || [ "$(find out -type f | wc -l)" -eq 3 ] || return
    nothing_left
    rm -rf out
    mkdir out
}

# with_limit LETTER NUMBER ARGUMENT...
with_limit() {
    # shellcheck disable=SC2016 # the inner shell's
    run_apart bash -c 'ulimit -S "-$1" "$2" && shift 2 && exec "$@"' bash "$1" "$2" "$IRRUN" "${@:3}"
}

@test "a limit of descriptors" {
    local n
    for n in 4 5 6 7 8 9 10 12 16; do
        with_limit n "$n" "$data/sum.xml" -i in.csv "${outputs[@]}"
        [ "$status" -ne 127 ] || continue # the loader has none
        echo "$n: $status"
        ended_well "66 71 73 74"
    done
    [ "$status" -eq 0 ]
}

@test "a limit of addresses" {
    [[ ${BUILD-} != *sanitize* ]] || skip "sanitizers reserve memory of their own"
    local kilobytes n_checked=0
    for ((kilobytes = 6000; kilobytes < 60000; kilobytes += 4000 / rounds)); do
        with_limit v "$kilobytes" "$data/sum.xml" -i in.csv "${outputs[@]}"
        ! grep -q 'error while loading shared libraries\|cannot allocate memory in static TLS\|failed to map' stderr || continue
        [ "$status" -ne 139 ] || [ "$kilobytes" -gt 12000 ] || continue # the loader's own end
        echo "$kilobytes: $status"
        ended_well "66 71"
        n_checked=$((n_checked + 1))
    done
    [ "$n_checked" -gt 0 ]
}

@test "a limit of the size of files" {
    local blocks
    for ((blocks = 1; blocks < 200; blocks += 1 + 20 / rounds)); do
        with_limit f "$blocks" "$data/sum.xml" -i in.csv "${outputs[@]}" --fsync
        echo "$blocks: $status"
        ended_well "74"
    done
}

@test "a full disk" {
    unshare --map-root-user --mount true 2>unshare_says || skip "no file system can be mounted here"
    local kilobytes n_checked=0
    for ((kilobytes = 4; kilobytes < 400; kilobytes += 1 + 60 / rounds)); do
        # shellcheck disable=SC2016 # the inner shell's
        run_apart unshare --map-root-user --mount bash -c '
            mount -t tmpfs -o "size=${1}k" tmpfs out && shift || exit 127
            "$@"
            status=$?
            mkdir kept && find out -type f -exec cp "{}" kept/ ";"
            exit "$status"' bash "$kilobytes" "$IRRUN" "$data/sum.xml" -i in.csv "${outputs[@]}"
        echo "$kilobytes: $status"
        rmdir out
        mv kept out
        ended_well "73 74"
    done
    [ "$status" -eq 0 ]
}

@test "a directory that may only be read" {
    unshare --map-root-user --mount true 2>unshare_says || skip "no file system can be mounted here"
    # shellcheck disable=SC2016 # the inner shell's
    run_apart unshare --map-root-user --mount bash -c 'mount -t tmpfs -o ro tmpfs out && exec "$@"' bash \
        "$IRRUN" "$data/sum.xml" -i in.csv "${outputs[@]}"
    [ "$status" -eq 73 ]
    [[ $stderr == *"out/y.npy: error: "*"Read-only file system"* ]]
    ended_well 73
}

@test "a directory that is removed during the run, and a current one that is gone" {
    local i
    for ((i = 0; i < 4 * rounds; i++)); do
        mkfifo pipe
        "$IRRUN" "$data/sum.xml" -i csv:pipe "${outputs[@]}" 2>stderr &
        exec 7>pipe
        head -n 1000 in.csv >&7
        until [ $((i % 2)) -eq 0 ] || [ -n "$(find out -name '.irrun*')" ]; do
            sleep 0.01
        done
        rm -rf out
        [ $((i % 4)) -lt 2 ] || mkdir out
        tail -n +1001 in.csv >&7 || : # it may have ended
        exec 7>&-
        status=0
        wait $! || status=$?
        rm pipe
        echo "$i: $status: $(cat stderr)"
        [ "$status" -ne 0 ]
        mkdir -p out
        ended_well "73 74"
    done
    mkdir gone
    # shellcheck disable=SC2016 # the inner shell's
    run_apart bash -c 'cd gone && rmdir ../gone && exec "$@"' bash "$IRRUN" "$data/sum.xml" --random -o y.npy
    [ "$status" -eq 73 ]
    ended_well 73
}

# without STREAMS ARGUMENT...: a run in which these are closed.
without() {
    # shellcheck disable=SC2016 # perl's
    run_apart perl -MPOSIX -e 'POSIX::close($_) for split /,/, shift; exec @ARGV' "$1" "$IRRUN" "${@:2}"
}

@test "closed standard streams" {
    local closed
    for closed in 0 1 2 0,1 0,2 1,2 0,1,2; do
        echo "$closed"
        without "$closed" "$data/sum.xml" -i in.csv "${outputs[@]}"
        [ "$status" -eq 0 ]
        ended_well ""
    done
    without 0 "$data/sum.xml" -i csv:- "${outputs[@]}"
    [ "$status" -eq 66 ]
    ended_well 66
    without 1 "$data/sum.xml" -i in.csv -o csv:-
    [ "$status" -eq 74 ]
    ended_well 74
    without 0,1,2 "$data/sum.xml" -i csv:- -o csv:-
    [ "$status" -ne 0 ]
    [ "$stderr" = "" ]
}

# unblocked STREAM ARGUMENT...: a run in which reading or writing this one does not wait.
unblocked() {
    # shellcheck disable=SC2016 # perl's
    perl -MFcntl -e 'fcntl((STDIN, STDOUT)[shift], F_SETFL, O_NONBLOCK); exec @ARGV' "$1" "$IRRUN" "${@:2}"
}

@test "streams that another program made so that nothing waits for them" {
    [ "$({ sleep 0.1 && echo 1 && sleep 0.1 && echo 2; } | unblocked 0 "$data/sum.xml" -i csv:- -o csv:- | lines)" = "1 3" ]
    unblocked 1 "$data/sum.xml" -i in.csv -o csv:- | { sleep 0.2 && cat >got.csv; }
    cmp got.csv want/y.csv
}
