#!/usr/bin/env bats
# Files that a run reads and writes: none is written that is written or read elsewhere too.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    cp "$data"/{sum,twice,vad}.xml "$data/vad.bin" .
    printf '1\n2\n3\n' >a.csv
    printf '10\n20\n' >b.csv
    printf '5\n' >c.csv
    printf 'u1  [ 1 2 ]\nu2  [ 3 ]\nu1  [ 4 ]\n' >twice.ark
    irrun sum.xml -i a.csv -o none: --state-out=s.npz
    given=(sum.xml twice.xml vad.xml vad.bin a.csv b.csv c.csv twice.ark s.npz)
    cksum "${given[@]}" >sums
}

# conflict STATUS WORDS ARGUMENT...: refused before anything is written.
conflict() {
    find . | sort >before
    refused "$@"
    find . | sort | diff before -
    cksum "${given[@]}" | cmp - sums
}

# manifest LINE...: with blanks in place of tabs.
manifest() {
    printf '%s\n' "$@" | tr ' ' '\t' >list
}

@test "two lines of a manifest with one output" {
    touch stderr before
    manifest 'one a.csv >y.npy' 'two b.csv >z.npy' 'three c.csv >./y.npy'
    conflict 65 "list:3: error: -o ./y.npy is also written by -o (list:1)" sum.xml --manifest=list
    conflict 65 "list:3: error: -o ./y.npy is also" sum.xml --manifest=list --check
    conflict 65 "list:3: error: -o ./y.npy is also" sum.xml --manifest=list --shard=0/3
    manifest 'one a.csv >y.npy' '' 'two b.csv >sum=y.npy'
    conflict 65 "list:3: error: -o y.npy is also written by -o (list:1)" sum.xml --manifest=list --jobs=2
    manifest 'one a.csv >y.npy >sum=y.npy'
    conflict 65 "list:1: error: two -o write to y.npy" sum.xml --manifest=list
    # A line that cannot be read is not a reason to miss another.
    manifest 'one a.csv >y.npy' 'one' 'two a.csv >z.unknown' 'three b.csv >y.npy'
    conflict 65 "list:4: error: -o y.npy is also written by -o (list:1)" sum.xml --manifest=list
}

@test "two lines with one output under two names" {
    touch stderr before old.npy
    ln -s . here
    ln old.npy hard.npy
    ln -s old.npy soft.npy
    manifest 'one a.csv >y.npy' 'two b.csv >here/y.npy'
    conflict 65 "list:2: error: -o here/y.npy is also written by -o (list:1)" sum.xml --manifest=list
    local link
    for link in hard soft; do
        manifest 'one a.csv >old.npy' "two b.csv >$link.npy"
        conflict 65 "list:2: error: -o $link.npy is also written by -o (list:1)" sum.xml --manifest=list
    done
}

@test "one KEY twice, and keys that give one name" {
    touch stderr before
    manifest 'one a.csv' 'one b.csv'
    conflict 65 "list:2: error: -o y_one.npy is also written by -o (list:1)" sum.xml --manifest=list -o y_%k.npy
    [[ $stderr == *"hint: "*"%k is the key, with '/' as '_'"* ]]
    conflict 65 "list:2: error: --state-out one.npz is also written by --state-out (list:1)" \
        sum.xml --manifest=list --state-out=%k.npz
    conflict 65 'list:2: error: key "one" is already in y.ark (list:1)' sum.xml --manifest=list -o y.ark
    manifest 'a/b a.csv' 'b b.csv' 'a_b c.csv'
    conflict 65 "list:3: error: -o a_b.npy is also written by -o (list:1)" sum.xml --manifest=list -o %k.npy
    conflict 65 "list:3: error: --state-out a_b.npz is also written by --state-out (list:1)" \
        sum.xml --manifest=list --state-out=%k.npz
    manifest 'one a.csv >%k.npy' 'one b.csv >%k.npy'
    conflict 65 "list:2: error: -o one.npy is also written by -o (list:1)" sum.xml --manifest=list
    manifest 'one a.csv' 'one b.csv' # one after the other is what they ask for
    [ "$(irrun sum.xml --manifest=list -o csv:- | lines)" = "1 3 6 10 30" ]
}

@test "a key of an archive twice" {
    touch stderr before
    conflict 65 "twice.ark: error: key \"u1\": -o u1.npy is also written by -o (array 0)" \
        sum.xml -i twice.ark --axis=0 -o %k.npy
    conflict 65 "twice.ark: error: key \"u1\": --state-out u1.npz is also written by --state-out (array 0)" \
        sum.xml -i twice.ark --axis=0 -o none: --state-out=%k.npz
    conflict 65 'twice.ark: error: key "u1" is already in y.ark (array 0)' sum.xml -i twice.ark --axis=0 -o y.ark
    [ "$(irrun sum.xml -i twice.ark --axis=0 -o csv:- | lines)" = "1 3 3 4" ]
    [ "$(irrun sum.xml -i twice.ark --axis=0 -o ark:- | wc -c)" -gt 0 ]
}

@test "through a pipe the second writing is refused, and the first stays" {
    refused 65 "standard input:3: error: -o y.csv is also written by -o (standard input:1)" sum.xml --manifest=- \
        < <(printf 'one\ta.csv\t>y.csv\ntwo\tb.csv\t>z.csv\nthree\tc.csv\t>y.csv\n')
    [ "$(lines <y.csv)" = "1 3 6" ]
    [ "$(lines <z.csv)" = "10 30" ]
    rm y.csv z.csv
    refused 65 "standard input:2: error: -o one.csv is also written by -o (standard input:1)" sum.xml --manifest=- \
        -o %k.csv < <(printf 'one\ta.csv\none\tb.csv\n')
    [ "$(lines <one.csv)" = "1 3 6" ]
    refused 65 "standard input: error: key \"u1\": -o u1.csv is also written by -o (array 0)" \
        sum.xml -i ark:- --axis=0 -o %k.csv < <(cat twice.ark)
    [ "$(lines <u1.csv)" = "1 3" ]
    refused 65 "standard input: error: key \"u1\" is already in y.ark (array 0)" sum.xml -i ark:- --axis=0 -o y.ark \
        < <(cat twice.ark)
    [ ! -e y.ark ]
    refused 65 "standard input:2: error: input y.csv is also written by -o (standard input:1)" sum.xml --manifest=- \
        < <(printf 'one\ta.csv\t>y.csv\ntwo\ty.csv\t>z.csv\n')
    refused 65 "standard input:2: error: -o a.csv is also an input (standard input:1)" sum.xml --manifest=- \
        < <(printf 'one\ta.csv\t>y.csv\ntwo\tb.csv\t>a.csv\n')
    nothing_left
    cksum "${given[@]}" | cmp - sums
}

@test "through a pipe, a file of another name that has a number of an old one is another file" {
    # What makes each input goes away with it: numbers of files and directories come again.
    feed_and_clean() {
        local i
        for i in 1 2 3 4 5 6; do
            mkdir "d$i"
            seq "$i" >"d$i/in.csv"
            echo 0 >"d$i/out.csv"
            printf 'k%s\td%s/in.csv\t>d%s/out.csv\n' "$i" "$i" "$i"
            while [ "$(wc -l <"d$i/out.csv")" -ne "$i" ] || [ "$(cat "d$i/out.csv")" = 0 ]; do
                sleep 0.02
            done
            tail -n 1 "d$i/out.csv" >>sums_of_all
            rm -r "d$i"
        done
    }
    irrun sum.xml --manifest=- < <(feed_and_clean)
    [ "$(lines <sums_of_all)" = "1 3 6 10 15 21" ]
}

@test "what one sequence writes no other reads" {
    touch stderr before
    manifest 'one a.csv >y.csv' 'two y.csv >z.csv'
    conflict 65 "list:2: error: input y.csv is also written by -o (list:1)" sum.xml --manifest=list
    manifest 'one a.csv' 'two b.csv >a.csv'
    conflict 65 "list:2: error: -o a.csv is also an input (list:1)" sum.xml --manifest=list -o none:
    manifest 'one a.csv' 'two b.csv'
    conflict 65 "list:2: error: input b.csv is also written by -o" sum.xml --manifest=list -o b.csv
    conflict 65 "list:2: error: input b.csv is also written by --report" sum.xml --manifest=list -o none: --report=b.csv
    manifest 'a a.csv' 'a_2 b.csv'
    conflict 65 "list:2: error: --state-in a_2.npz is also written by --state-out (list:1)" \
        sum.xml --manifest=list -o none: --state-in=%k.npz --state-out=%k_2.npz
}

@test "no option writes what is read" {
    local option
    touch stderr before list
    ln a.csv hard
    ln -s vad.bin weights.npz
    ln -s vad.xml model.npz
    ln -s list list.npz
    ln s.npz state.npz
    for option in --report --state-out --tap-all --checkpoint; do
        echo "$option"
        conflict 2 "$option weights.npz is also the model's weights" vad.xml --random -o none: "$option=weights.npz"
        conflict 2 "$option model.npz is also the model" vad.xml --random -o none: "$option=model.npz"
        conflict 2 "$option s.npz is also an input" sum.xml -i total=npz:state.npz -o none: "$option=s.npz"
        [ "$option" = --checkpoint ] ||
            conflict 2 "$option list.npz is also the manifest" sum.xml --manifest=list -o none: "$option=list.npz" \
                --reset=never
        [ "$option" = --state-out ] ||
            conflict 2 "$option s.npz is also what --state-in loads" sum.xml -i a.csv -o none: --state-in=state.npz \
                "$option=s.npz"
    done
    conflict 2 "-o state.npz is also what --state-in loads" sum.xml -i a.csv -o state.npz --state-in=s.npz
    conflict 2 "--report a.csv is also what --expect compares with" sum.xml --random --expect=csv:hard --report=a.csv
    conflict 2 "--report hard is also an input" sum.xml -i a.csv -o none: --report=hard
}

@test "no two options write one file" {
    touch stderr before old.npz
    ln -s old.npz soft.npz
    conflict 2 "--state-out and --checkpoint write to c.npz" sum.xml -i a.csv -o none: --state-out=c.npz --checkpoint=c.npz
    conflict 2 "--report and --tap-all write to c.npz" sum.xml -i a.csv -o none: --report=c.npz --tap-all=c.npz
    conflict 2 "--tap-all and --state-out write to soft.npz" sum.xml -i a.csv -o none: --tap-all=old.npz --state-out=soft.npz
    conflict 2 "-o and --state-out write to old.npz" sum.xml -i a.csv -o soft.npz --state-out=old.npz
    conflict 2 "-o and --report write to ./y.csv" sum.xml -i a.csv -o z.csv -o y.csv --report=./y.csv
    conflict 2 "two -o write to a.npy" sum.xml -i a.csv -o a.npy -o %k.npy
}

@test "what waits as .partial is not another file of the run" {
    touch stderr before
    cp a.csv y.csv.partial
    cp a.csv ck.partial
    conflict 2 "y.csv.partial is also an input" sum.xml -i csv:y.csv.partial -o y.csv --checkpoint=ck
    conflict 2 "ck.partial is also an input" sum.xml -i csv:ck.partial -o y.csv --checkpoint=ck
    conflict 2 "ck.partial is also written by -o" sum.xml -i a.csv -o csv:ck.partial --checkpoint=ck
    irrun sum.xml -i csv:y.csv.partial -o y.csv # nothing waits so without a checkpoint
}

# shellcheck disable=SC2016 # the inner shell's
@test "standard streams that are files are files of the run" {
    cp a.csv in.csv
    run bash -c '"$0" sum.xml -i csv:- -o in.csv <in.csv' "$IRRUN"
    [ "$status" -eq 2 ]
    [[ $output == *"-o in.csv is also an input"* ]]
    run bash -c '"$0" sum.xml -i in.csv -o csv:- >>in.csv' "$IRRUN"
    [ "$status" -eq 2 ]
    [[ $output == *"standard output is also an input"* ]]
    run bash -c '"$0" sum.xml -i in.csv -o csv:- -o y.csv >y.csv' "$IRRUN"
    [ "$status" -eq 2 ]
    cmp in.csv a.csv
}

@test "devices and pipes may be written by several, and a state may be replaced" {
    irrun sum.xml -i a.csv -o csv:/dev/null -o text:/dev/null --report=/dev/null
    manifest 'one a.csv >csv:/dev/null' 'two a.csv >csv:/dev/null' 'one b.csv >csv:-' 'one c.csv >csv:-'
    [ "$(irrun sum.xml --manifest=list | lines)" = "10 30 5" ]
    irrun sum.xml --manifest=list >y.csv
    [ "$(lines <y.csv)" = "10 30 5" ]
    irrun sum.xml -i a.csv -o y.csv --state-in=s.npz --state-out=s.npz
    [ "$(lines <y.csv)" = "7 9 12" ]
    irrun sum.xml -i a.csv -o y.csv --state-in=s.npz
    [ "$(lines <y.csv)" = "13 15 18" ]
    cp s.npz one.npz
    cp s.npz two.npz
    manifest 'one a.csv' 'two b.csv'
    irrun sum.xml --manifest=list -o none: --state-in=%k.npz --state-out=%k.npz
    manifest 'one c.csv' 'two c.csv'
    [ "$(irrun sum.xml --manifest=list -o csv:- --state-in=%k.npz | lines)" = "23 47" ]
}

# from_a_pipe FILE COMMAND...
from_a_pipe() {
    "${@:2}" < <(cat "$1")
}

# files N: a manifest that writes as many.
files() {
    seq "$1" | awk '{ print "key" $1 "\tc.csv\t>csv:out/" $1 ".csv" }'
}

@test "memory does not grow with the number of files" {
    [[ ${BUILD-} != *sanitize* ]] || skip "sanitizers keep freed memory"
    follow() { irrun sum.xml -o none: --report=- --manifest="$1"; }
    mkdir out
    files 100 >few
    files 10000 >many
    stays_below "$(($(highest_peak follow few) + 500000))" follow many
    stays_below "$(($(highest_peak from_a_pipe few follow -) + 500000))" from_a_pipe many follow -
}
