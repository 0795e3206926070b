#!/usr/bin/env bats
# Where outputs go: formats, names, streams, and what is left after a failure.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '2,' 1 2 >one.npy
    npy '<f4' '3, 2' 1 2 3 4 5 6 >three.npy
}

pair() {
    irrun "$data/pair.xml" -i a=three.npy -i b=one.npy "$@"
}

@test "text goes to standard output by default, every output with its name" {
    [ "$(pair | head -n 4)" = "# all/plus f32 [2] seq=three rec=0
2 4
# minus f32 [2] seq=three rec=0
0 0" ]
}

@test "text: a line per last-axis row, a scalar in one line" {
    [ "$(irrun "$data/twice_any.xml" -i three.npy)" = "# y f32 [3,2] seq=three rec=0
2 4
6 8
10 12" ]
    npy '<f4' '' 1.5 >scalar.npy
    [ "$(irrun "$data/twice_any.xml" -i scalar.npy)" = "# y f32 [] seq=scalar rec=0
3" ]
}

@test "the key is the first source's file name, and - for pipes and --random" {
    mkdir -p a.b
    cp one.npy a.b/c.d.npy
    [ "$(irrun "$data/twice.xml" -i a.b/c.d.npy | head -n 1)" = "# y f32 [2] seq=c.d rec=0" ]
    [ "$(irrun "$data/twice.xml" -i npy:- <one.npy | head -n 1)" = "# y f32 [2] seq=- rec=0" ]
    [ "$(irrun "$data/twice.xml" --random=ones | head -n 1)" = "# y f32 [2] seq=- rec=0" ]
}

@test "numbers are the shortest that read back as themselves" {
    npy '<f4' '2,' 0.05 1e10 >x.npy
    [ "$(irrun "$data/twice.xml" -i x.npy -o csv:-)" = "0.1,2e+10" ] ||
        [ "$(irrun "$data/twice.xml" -i x.npy -o csv:-)" = "0.1,20000000000" ]
    printf 'nan,inf\n' >x.csv
    [ "$(irrun "$data/twice.xml" -i x.csv -o csv:-)" = "nan,inf" ]
    printf -- '-inf,-0\n' >x.csv
    [ "$(irrun "$data/twice.xml" -i x.csv -o csv:-)" = "-inf,-0" ]
}

@test "one record makes one record, a stack makes a stack" {
    irrun "$data/twice.xml" -i one.npy -o y.npy
    [ "$(shape y.npy)" = "2," ]
    irrun "$data/twice.xml" -i three.npy -o y.npy
    [ "$(shape y.npy)" = "3, 2" ]
    irrun "$data/twice.xml" -i one.npy -n 4 --emit=all -o y.npy
    [ "$(shape y.npy)" = "4, 2" ]
    irrun "$data/twice.xml" -i one.npy -n 4 -o y.npy
    [ "$(shape y.npy)" = "2," ]
    irrun "$data/twice.xml" -i three.npy --emit=last -o y.npy
    [ "$(shape y.npy)" = "2," ]
    irrun "$data/twice.xml" -i three.npy -n 1 --emit=all -o y.npy
    [ "$(shape y.npy)" = "1, 2" ]
    raw 1 2 >x.raw
    irrun "$data/twice.xml" -i x.raw -o y.npy
    [ "$(shape y.npy)" = "1, 2" ]
}

@test "--emit: all, the last one, none" {
    [ "$(irrun "$data/twice.xml" -i three.npy --emit=last)" = "# y f32 [2] seq=three rec=2
10 12" ]
    run_apart irrun "$data/twice.xml" -i three.npy --emit=none -o y.npy
    [ "$status" -eq 0 ]
    [ ! -e y.npy ]
    [ "$(irrun "$data/twice.xml" -i three.npy -n 2)" = "# y f32 [2] seq=three rec=1
6 8" ]
}

@test "npz holds every output under its primary name" {
    pair -o y.npz
    [ "$(irrun "$data/pair.xml" -i a=y.npz -i b=one.npy -o none: 2>&1 | grep -c 'no member "a", only "all/plus", "minus"')" -eq 1 ]
    run_apart irrun "$data/pair.xml" -i a=three.npy -i b=one.npy --expect=y.npz
    [ "$status" -eq 0 ]
}

@test "%n and %% in file names" {
    pair -o 'y_%n_%%.npy'
    [ "$(shape y_all_plus_%.npy)" = "3, 2" ]
    [ "$(shape y_minus_%.npy)" = "3, 2" ]
    pair -o 'diff=%n.csv'
    [ "$(cat minus.csv)" = "0,0
2,2
4,4" ]
    pair -o '%k.npz'
    [ -e three.npz ]
    usage_error "'%x'" "$data/pair.xml" --random -o %x.npz
}

@test "a file that is replaced keeps its permissions" {
    seq 3 >in.csv
    echo old >y.csv
    chmod 640 y.csv
    irrun "$data/sum.xml" -i in.csv -o y.csv --state-out=s.npz
    [ "$(stat -c %a y.csv)" = 640 ]
    chmod 600 s.npz
    irrun "$data/sum.xml" -i in.csv -o none: --state-in=s.npz --state-out=s.npz
    [ "$(stat -c %a s.npz)" = 600 ]
}

@test "what one file cannot hold is a usage error" {
    usage_error '"all/plus", "minus"' "$data/pair.xml" --random -o y.npy
    usage_error '"all/plus", "minus"' "$data/pair.xml" --random -o csv:-
    usage_error "npz" "$data/pair.xml" --random -o npz:-
    usage_error "standard output" "$data/pair.xml" --random -o text:- -o diff=csv:-
    usage_error "y.csv" "$data/pair.xml" --random -o @0=y.csv -o @1=y.csv
    usage_error "nothing" "$data/pair.xml" --random -o nothing=y.csv
    [ ! -e y.csv ]
}

@test "npz to a FIFO is refused" {
    mkfifo pipe
    cat pipe >/dev/null &
    run_apart irrun "$data/pair.xml" --random -o npz:pipe
    [ "$status" -eq 2 ]
    wait
}

@test "several destinations at once, and an output by any of its names" {
    pair -o y.npz -o r1=a.csv -o diff=b.csv -o @1=c.csv -o minus=d.csv -o text:- >text
    [ "$(cat b.csv)" = "$(cat c.csv)" ]
    [ "$(cat b.csv)" = "$(cat d.csv)" ]
    [ "$(head -n 1 a.csv)" = "2,4" ]
    [ "$(wc -l <text)" -eq 12 ]
}

@test "npy on a pipe is one document per record" {
    [ "$(irrun "$data/twice.xml" -i three.npy -o npy:- | LC_ALL=C grep -ac "'shape': (2,)")" -eq 3 ]
}

@test "a full disk is 74, also for actions" {
    local command
    for command in "--random -o text:-" "--random -o csv:-" "--random -o npy:-"; do
        status=0
        # shellcheck disable=SC2086
        irrun "$data/twice.xml" $command >/dev/full 2>stderr || status=$?
        [ "$status" -eq 74 ]
        grep -q 'standard output' stderr
    done
    for command in --help --help=all --version --supported-ops; do
        status=0
        irrun "$command" >/dev/full 2>stderr || status=$?
        [ "$status" -eq 74 ]
    done
    status=0
    irrun --inspect "$data/sum.xml" >/dev/full 2>stderr || status=$?
    [ "$status" -eq 74 ]
    status=0
    irrun "$data/twice.xml" --random -o text:/dev/full 2>stderr || status=$?
    [ "$status" -eq 74 ]
}

@test "a closed standard output is 74" {
    status=0
    irrun --version >&- 2>stderr || status=$?
    [ "$status" -eq 74 ]
}

@test "| head -1 leaves no file and no message" {
    irrun "$data/twice.xml" --random -n 200000 --emit=all -o text:- -o y.npy 2>stderr | head -n 1 >first
    [ "$(wc -l <first)" -eq 1 ]
    [ ! -s stderr ]
    sleep 0.1
    [ ! -e y.npy ]
    nothing_left
}

@test "a directory that is not there is 73" {
    run_apart irrun "$data/twice.xml" --random -o nowhere/y.npy
    [ "$status" -eq 73 ]
    [[ $stderr == nowhere/y.npy:* ]]
}

@test "a failure leaves no file, and an old one as it was" {
    echo old >y.csv
    printf '1,2\n3,4\nx\n' >x.csv
    run_apart irrun "$data/twice.xml" -i x.csv -o y.csv -o z.npz
    [ "$status" -eq 65 ]
    [ "$(cat y.csv)" = old ]
    [ ! -e z.npz ]
    nothing_left
}

@test "SIGTERM and SIGINT leave no file and end the process by the signal" {
    local signal number
    mkfifo pipe
    for signal in TERM INT HUP; do
        # Background jobs of a shell ignore SIGINT: perl gives it back its meaning.
        perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' -- \
            "$IRRUN" "$data/twice.xml" -i csv:pipe -o y.npy -o z.npz 2>stderr &
        exec 7>pipe
        echo 1,2 >&7
        for _ in $(seq 50); do
            [ -z "$(find . -name '.irrun*')" ] || break
            sleep 0.1
        done
        [ -n "$(find . -name '.irrun*')" ]
        kill -"$signal" $!
        status=0
        wait $! || status=$?
        exec 7>&-
        number=$(kill -l "$signal")
        [ "$status" -eq $((128 + number)) ]
        [ ! -s stderr ]
        [ ! -e y.npy ]
        [ ! -e z.npz ]
        nothing_left
    done
}

@test "devices are written directly" {
    irrun "$data/twice.xml" --random -o npy:/dev/null
    [ -c /dev/null ]
}

@test "success is silent" {
    run_apart irrun "$data/pair.xml" --random -o y.npz
    [ "$status" -eq 0 ]
    [ "$output$stderr" = "" ]
}

@test "the same command twice gives identical bytes" {
    pair -o a.npz
    sleep 1.1
    pair -o b.npz
    cmp a.npz b.npz
}

@test "a model without an output has none for a file that holds one" {
    sed -e '/layer id="4"/,/<\/layer>/d' -e '/to-layer="4"/d' "$data/sum.xml" >silent.xml
    local file
    for file in y.npy y.csv y.raw; do
        usage_error "${file#y.} holds one output, but the model has none" silent.xml --random -o $file
        [ ! -e $file ]
    done
    irrun silent.xml --random -o y.npz --state-out=s.npz
    [ "$(unzip -Z1 s.npz)" = total.npy ]
}
