#!/usr/bin/env bats
# --checkpoint: an interrupted run that is started again gives the bytes of the whole.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    seq 300000 | awk '{ print $1 % 17 - 8 }' >in.csv
}

outputs=(-o got.npy -o got.csv -o got.raw -o got.txt)

# What the whole run gives, as want.*.
make_want() { # further options
    irrun "$data/sum.xml" -i in.csv -o want.npy -o want.csv -o want.raw -o want.txt "$@"
}

is_wanted() {
    local ending
    for ending in npy csv raw txt; do
        cmp "want.$ending" "got.$ending" || return
    done
    [ -z "$(find . -name '*.partial' -o -name '.irrun*')" ] && [ ! -e ck ]
}

# Runs COMMAND, kills it SECONDS after it has started, which takes long under a sanitizer; whether
# it was still running.
kill_after() { # SIGNAL SECONDS COMMAND...
    local signal=$1 seconds=$2 startup TIMEFORMAT=%R
    shift 2
    startup=$( (time "$IRRUN" --version >/dev/null) 2>&1)
    seconds=$(awk "BEGIN { print $seconds + $startup }")
    status=0
    timeout --preserve-status -s "$signal" "$seconds" "$@" 2>stderr || status=$?
    [ "$status" -ne 0 ]
}

# Starts a run and interrupts it once there is a checkpoint.
interrupt() { # COMMAND...
    "$IRRUN" "$@" --checkpoint=ck --checkpoint-every=100 2>stderr &
    for _ in $(seq 1000); do
        [ ! -e ck ] || break
        sleep 0.01
    done
    kill -TERM $!
    status=0
    wait $! || status=$?
    [ "$status" -eq 75 ]
}

# As the checkpoint says; 0 without one. Its text is an uncompressed member.
iterations_in_checkpoint() {
    { cat ck 2>/dev/null || echo 'iterations 0'; } | LC_ALL=C sed -n 's/^iterations \([0-9]*\)$/\1/p'
}

@test "a run that is not interrupted leaves its outputs and nothing else" {
    make_want
    irrun "$data/sum.xml" -i in.csv "${outputs[@]}" --checkpoint=ck
    is_wanted
}

@test "50 kills at random moments change no byte" {
    local n_mid=0 n_kills=0 done_before done_after
    make_want --reset=700
    while [ "$n_kills" -lt 50 ]; do
        done_before=$(iterations_in_checkpoint)
        if kill_after KILL "0.0$((RANDOM % 60 + 30))" \
            "$IRRUN" "$data/sum.xml" -i in.csv "${outputs[@]}" --reset=700 --checkpoint=ck --checkpoint-every=50; then
            n_kills=$((n_kills + 1))
            done_after=$(iterations_in_checkpoint)
            [ "$done_after" -eq "$done_before" ] || n_mid=$((n_mid + 1))
        else
            is_wanted
            rm got.*
        fi
    done
    echo "$n_mid of 50 kills came in mid-run, after a further checkpoint"
    [ "$n_mid" -ge 40 ]
    irrun "$data/sum.xml" -i in.csv "${outputs[@]}" --reset=700 --checkpoint=ck --checkpoint-every=50
    is_wanted
}

@test "SIGTERM and SIGINT finish the iteration, write the checkpoint, and exit 75" {
    local signal seconds n
    make_want
    for signal in TERM INT; do
        n=0
        for seconds in 0.03 0.05 0.05 0.1 0.1 0.2 0.3 0.5; do
            kill_after "$signal" "$seconds" "$IRRUN" "$data/sum.xml" -i in.csv "${outputs[@]}" --checkpoint=ck \
                --checkpoint-every=1000000 || break
            [ "$status" -lt 128 ] || continue # it had not looked at its options yet
            n=$((n + 1))
            [ "$status" -eq 75 ]
            ! grep -q 'interrupted before the first iteration' stderr || continue
            grep -q '^irrun: error: interrupted after [0-9]* iterations' stderr
            [ -e ck ]
            [ -e got.npy.partial ]
            [ ! -e got.npy ]
        done
        [ "$n" -gt 0 ]
        [ ! -e ck ] || irrun "$data/sum.xml" -i in.csv "${outputs[@]}" --checkpoint=ck
        is_wanted
        rm got.*
    done
}

@test "a checkpoint comes every 1000 records, or as often as is asked for" {
    local every
    for every in '' 7; do
        rm -f ck got.*
        "$IRRUN" "$data/sum.xml" --random -n 100000000 --emit=all -o got.csv --checkpoint=ck ${every:+"--checkpoint-every=$every"} &
        for _ in $(seq 1000); do
            [ ! -e ck ] || break
            sleep 0.01
        done
        kill -KILL $!
        wait $! || :
        [ "$(iterations_in_checkpoint)" -gt 0 ]
        [ $(($(iterations_in_checkpoint) % ${every:-1000})) -eq 0 ]
    done
}

@test "a variable of any name comes back" {
    local id
    id=$(printf 'v%.0s' $(seq 3000))
    sed "s/\"total\"/\"$id\"/" "$data/sum.xml" >long.xml
    irrun long.xml -i in.csv -o want.csv
    interrupt long.xml -i in.csv -o got.csv
    irrun long.xml -i in.csv -o got.csv --checkpoint=ck
    cmp want.csv got.csv
}

@test "a second signal ends the process at once" {
    perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' -- "$IRRUN" "$data/sum.xml" --random -n 1000000000000 -o none: \
        --checkpoint=ck --emit=none 2>stderr &
    sleep 0.3
    kill -STOP $!
    kill -TERM $!
    kill -INT $!
    kill -CONT $!
    status=0
    wait $! || status=$?
    [ "$status" -ge 128 ]
}

@test "--timeout with a checkpoint is 75, and again until it is done" {
    local n=0
    make_want
    # Longer from time to time, or a busy machine would never come beyond the start.
    while ! irrun "$data/sum.xml" -i in.csv "${outputs[@]}" --checkpoint=ck \
        --timeout="$(printf '0.%03d' $((30 + 5 * n)))" 2>stderr; do
        grep -q 'timed out' stderr
        n=$((n + 1))
        [ "$n" -lt 100 ]
    done
    [ "$n" -gt 0 ]
    is_wanted
}

@test "what ends a run before its first iteration is 75 too" {
    mkfifo fifo
    run_apart timeout -s KILL 10 "$IRRUN" fifo -i in.csv -o got.npy --checkpoint=ck --timeout=0.3
    [ "$status" -eq 75 ]
    [ "$stderr" = "irrun: error: timed out (--timeout)" ]
    for signal in TERM INT; do
        status=0
        timeout -k 5 --preserve-status -s $signal 0.3 "$IRRUN" fifo -i in.csv -o got.npy --checkpoint=ck 2>stderr || status=$?
        [ "$status" -eq 75 ]
        [ "$(cat stderr)" = "irrun: error: interrupted before the first iteration" ]
    done
    [ ! -e ck ] && [ ! -e got.npy ]
}

# Interrupts the run after some iterations, then lets it end.
in_two() { # further options
    rm -f ck got.*
    interrupt "$@"
    irrun "$@" --checkpoint=ck
}

@test "cycled records, --random, --feed, --reset=if:, --emit=last and states resume too" {
    npy '<f4' '7, 1' 1 2 3 4 5 6 7 >seven.npy
    irrun "$data/sum.xml" -i seven.npy -n 300000 --reset=11 -o want.npy --emit=all
    in_two "$data/sum.xml" -i seven.npy -n 300000 --reset=11 -o got.npy --emit=all
    cmp want.npy got.npy
    npy '<f4' '1, 4' 0 0.1 0.2 0.1 >logits.npy
    irrun "$data/pick.xml" -i x=logits.npy '--feed=y=k:sample(1)' -n 300000 -o k=want.csv --emit=all
    in_two "$data/pick.xml" -i x=logits.npy '--feed=y=k:sample(1)' -n 300000 -o k=got.csv --emit=all
    cmp want.csv got.csv
    printf '0\n0\n0\n1\n0\n1\n0\n' >f.csv
    irrun "$data/sum.xml" -i x=seven.npy -i f=f.csv -n 300000 --reset=if:f -o want.npy --emit=all
    in_two "$data/sum.xml" -i x=seven.npy -i f=f.csv -n 300000 --reset=if:f -o got.npy --emit=all
    cmp want.npy got.npy
    irrun "$data/sum.xml" --random -n 500000 -o want.csv --state-out=want.npz
    in_two "$data/sum.xml" --random -n 500000 -o got.csv --state-out=got.npz
    cmp want.csv got.csv
    cmp want.npz got.npz
    printf '1,2\n' >a.csv
    irrun "$data/pair.xml" -i a=a.csv --feed=minus=b -n 300000 -o '@0=want.csv' --emit=all
    in_two "$data/pair.xml" -i a=a.csv --feed=minus=b -n 300000 -o '@0=got.csv' --emit=all
    cmp want.csv got.csv
}

# is_obstructed PARTIAL NAME: once the run in the background has PARTIAL, a directory is in the way of NAME.
is_obstructed() {
    for _ in $(seq 1000); do
        [ ! -e "$1" ] || break
        sleep 0.01
    done
    mkdir "$2"
    status=0
    wait $! || status=$?
    [ "$status" -eq 73 ]
}

@test "what stops between the names of two outputs ends with the next process" {
    make_want
    irrun "$data/sum.xml" -i in.csv "${outputs[@]}" --checkpoint=ck 2>stderr &
    is_obstructed got.raw.partial got.csv # the second name
    [ -e got.npy ]
    [ -e got.csv.partial ]
    [ -e got.raw.partial ]
    rmdir got.csv
    irrun "$data/sum.xml" -i in.csv "${outputs[@]}" --checkpoint=ck
    is_wanted
}

@test "an output and a checkpoint behind symbolic links are finished, too" {
    make_want
    mkdir far
    echo old >far/got.csv
    ln -s far/got.csv got.csv
    ln -s far/ck ck
    irrun "$data/sum.xml" -i in.csv -o got.npy -o got.csv --checkpoint=ck 2>stderr &
    is_obstructed far/got.csv.partial got.npy # the first name
    [ -e far/got.csv.partial ]
    rmdir got.npy
    irrun "$data/sum.xml" -i in.csv -o got.npy -o got.csv --checkpoint=ck
    cmp want.npy got.npy
    cmp want.csv far/got.csv
    [ -z "$(find . -name '*.partial' -o -name '.irrun*')" ]
    [ ! -e far/ck ]
}

@test "what a checkpoint is not for is a usage error" {
    local file=$data/sum.xml
    refused() { # words, options
        local words=$1
        shift
        run_apart irrun "$file" --checkpoint=ck "$@"
        echo "$stderr"
        [ "$status" -eq 2 ]
        [[ $stderr == *"$words"* ]]
        [ ! -e ck ]
    }
    refused "standard output" -i in.csv
    refused "a file in one of the formats text npy raw csv jsonl, not npz:y.npz" -i in.csv -o y.npz
    refused "standard input" -i csv:- -o y.npy <in.csv
    refused "not a regular file" -i csv:/dev/null -o y.npy
    refused "one sequence" --manifest=/dev/null -o %k.npy
    refused "--concat" -i in.csv -o y.npy --concat=0
    refused "--expect" -i in.csv -o y.npy --expect=in.csv
    refused "number from 1 up" -i in.csv -o y.npy --checkpoint-every=0
}

@test "a checkpoint of something else is refused, saying what" {
    refused() { # words, command
        local words=$1
        shift
        run_apart irrun "$@" --checkpoint=ck
        echo "$stderr"
        [ "$status" -eq 65 ]
        [[ $stderr == "ck: error: "*"$words"* ]]
    }
    interrupt "$data/sum.xml" -i in.csv -o got.npy
    sed 's/name="sum"/name="sum2"/' "$data/sum.xml" >other.xml
    refused "different model" other.xml -i in.csv -o got.npy
    refused "different options" "$data/sum.xml" -i in.csv -o got.npy --reset=3
    refused "different options" "$data/sum.xml" -i in.csv -o other.npy
    refused "--seed" "$data/sum.xml" -i in.csv -o got.npy --seed=3
    cp in.csv copy.csv
    refused "different inputs" "$data/sum.xml" -i copy.csv -o got.npy
    touch -d '2001-01-01' in.csv
    refused "different inputs" "$data/sum.xml" -i in.csv -o got.npy
    head -c 300 ck >'a copy'
    run_apart irrun "$data/sum.xml" -i in.csv -o got.npy --checkpoint='a copy'
    [ "$status" -eq 65 ]
    [[ $stderr == *"hint: it ends after 300 bytes: was a copy interrupted? rm 'a copy' starts again from the beginning" ]]
    : >ck
    run_apart irrun "$data/sum.xml" -i in.csv -o got.npy --checkpoint=ck
    [ "$status" -eq 65 ]
    [[ $stderr == *"hint: rm ck starts again from the beginning" ]]
    echo nonsense >ck
    run_apart irrun "$data/sum.xml" -i in.csv -o got.npy --checkpoint=ck
    [ "$status" -eq 65 ]
    [[ $stderr == ck:* && $stderr != *"rm ck"* ]]
}

@test "a run resumes with another --max-memory and --sandbox" {
    interrupt "$data/sum.xml" -i in.csv -o got.npy
    irrun "$data/sum.xml" -i in.csv -o got.npy --checkpoint=ck --max-memory=8000000000 --sandbox=never
}

@test "what a checkpoint holds is of the model's shapes, and --feed's" {
    interrupt "$data/sum.xml" -i in.csv -o got.npy
    repack() { # MEMBER SHAPE COUNT: the checkpoint, with zeros in the place of the member
        unzip -qo ck -d members
        { npy '<f4' "$2" && head -c $((4 * $3)) /dev/zero; } >"members/$1.npy"
        (cd members && perl -MIO::Compress::Zip=zip -e 'zip [glob "*"] => "../ck", -Level => 1 or die')
    }
    repack variable:total '20000000,' 20000000
    refused_scarcely 65 'total is f32 [1], but this array is f32 [20000000]' "$data/sum.xml" -i in.csv -o got.npy --checkpoint=ck
    repack checkpoint '20000000,' 20000000
    refused_scarcely 65 'checkpoint is u8 [..16777216], but this array is f32 [20000000]' "$data/sum.xml" -i in.csv -o got.npy --checkpoint=ck
}

@test "--feed of a type that NumPy lacks resumes too" {
    sed 's/"f32"/"bf16"/; s/FP32/BF16/' "$data/sum.xml" >sum.xml
    irrun sum.xml --feed=sum=x --random -n 300000 --emit=all -o want.npy
    in_two sum.xml --feed=sum=x --random -n 300000 --emit=all -o got.npy
    cmp want.npy got.npy
}

@test "options that change no byte may differ from part to part" {
    make_want
    interrupt "$data/sum.xml" -i in.csv "${outputs[@]}"
    irrun "$data/sum.xml" -i in.csv "${outputs[@]}" --checkpoint=ck --checkpoint-every=70000 -q -j 2 --warmup=2 --fsync
    is_wanted
}

@test "outputs that were cut short from outside are noticed" {
    interrupt "$data/sum.xml" -i in.csv -o got.csv
    : >got.csv.partial
    run_apart irrun "$data/sum.xml" -i in.csv -o got.csv --checkpoint=ck
    [ "$status" -eq 65 ]
    [[ $stderr == *got.csv.partial* ]]
}

@test "a file of --diff cannot be read from its middle" {
    make_want
    usage_error "--checkpoint and --diff=FILE cannot be used together" \
        "$data/sum.xml" -i in.csv -o got.csv --checkpoint=ck --diff=want.npz
}
