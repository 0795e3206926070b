#!/usr/bin/env bats
# --reset: when the variables go back to their initial value.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '5, 1' 1 2 3 4 5 >five.npy
}

series() {
    irrun "$data/sum.xml" -i five.npy -o csv:- "$@" | numbers
}

@test "without --reset the sum runs over all records" {
    [ "$(series)" = "1 3 6 10 15" ]
    [ "$(series --reset=sequence)" = "1 3 6 10 15" ]
    [ "$(series --reset=never)" = "1 3 6 10 15" ]
}

@test "bare --reset resets before every iteration" {
    [ "$(series --reset)" = "1 2 3 4 5" ]
    [ "$(series --reset=iteration)" = "1 2 3 4 5" ]
    [ "$(series --reset=1)" = "1 2 3 4 5" ]
}

@test "--reset=K resets every K iterations" {
    [ "$(series --reset=2)" = "1 3 3 7 5" ]
    [ "$(series --reset=4)" = "1 3 6 10 5" ]
    [ "$(series --reset=5)" = "1 3 6 10 15" ]
}

@test "--reset=K counts iterations, not records, when records are cycled" {
    [ "$(series --reset=3 -n 7 --emit=all)" = "1 3 6 4 9 10 2" ]
}

@test "cycling the records does not reset" {
    [ "$(series -n 7 --emit=all)" = "1 3 6 10 15 16 18" ]
}

@test "--reset=if:NAME reads the series from a further -i" {
    npy '|b1' 5, 0 0 1 0 1 >fresh.npy
    [ "$(irrun "$data/sum.xml" -i x=five.npy -i fresh=fresh.npy --reset=if:fresh -o csv:- | numbers)" = "1 3 3 7 5" ]
}

@test "--reset=if:NAME takes a series of any type, [N] or [N,1], npy or csv" {
    npy '<f8' '5, 1' 0 0.5 0 0 0 >fresh.npy
    [ "$(irrun "$data/sum.xml" -i x=five.npy -i fresh=fresh.npy --reset=if:fresh -o csv:- | numbers)" = "1 2 5 9 14" ]
    printf '0\n0\n0\n1\n0\n' >fresh.csv
    [ "$(irrun "$data/sum.xml" -i x=five.npy -i fresh=fresh.csv --reset=if:fresh -o csv:- | numbers)" = "1 3 6 4 9" ]
}

@test "--reset=if:NAME misspelt or forgotten" {
    npy '|b1' '5,' 0 1 0 1 0 >fresh.npy
    answered 2 'no input "fresh"' "to reset before each record whose \"fresh\" is not 0, add --reset=if:fresh" "$data/sum.xml" -i x=five.npy -i fresh=fresh.npy
    answered 2 'no input "fresh"' "did you mean --reset=if:fresh?" \
        "$data/sum.xml" -i x=five.npy -i fresh=fresh.npy --reset=if:frehs
    answered 2 "no npz member has that name" "-i fresh=FILE gives one number per record" \
        "$data/sum.xml" -i five.npy --reset=if:fresh
    answered 2 'no input "fresh"' "did you mean x?" "$data/twice.xml" -i fresh=fresh.npy # nothing to reset
}

@test "--reset=if:NAME may name an input" {
    npy '<f4' '5, 1' 1 0 3 0 5 >gaps.npy
    [ "$(irrun "$data/sum.xml" -i gaps.npy --reset=if:x -o csv:- | numbers)" = "1 1 3 3 5" ]
}

@test "--reset=if:NAME reads the series from a further npz member" {
    npy '<f4' 5, 0 0 1 0 1 >fresh.npy
    irrun "$data/copy.xml" -i a=five.npy -i fresh=fresh.npy -o in.npz
    [ "$(irrun "$data/sum.xml" -i in.npz --reset=if:fresh -o csv:- | numbers)" = "1 3 3 7 5" ]
    run_apart irrun "$data/sum.xml" -i in.npz -o csv:-
    [ "$status" -eq 65 ] # without --reset=if: the member is one too many
    [[ $stderr == *'member: no input "fresh"'* ]]
}

@test "a series of another length is refused, naming both" {
    npy '|b1' 4, 0 0 1 0 >fresh.npy
    run_apart irrun "$data/sum.xml" -i x=five.npy -i fresh=fresh.npy --reset=if:fresh -o csv:-
    [ "$status" -eq 65 ]
    [[ $stderr == *'"fresh" (fresh.npy) has 4 records'* ]]
    [[ $stderr == *'"x" (five.npy) has more'* ]]
    [[ $stderr == *'hint: -n 4 leaves the rest of five.npy out' ]]
    irrun "$data/sum.xml" -i x=five.npy -i fresh=fresh.npy --reset=if:fresh -n 4 -o none:
}

@test "a series that no data for is a usage error" {
    run_apart irrun "$data/sum.xml" -i five.npy --reset=if:fresh
    [ "$status" -eq 2 ]
    [[ $stderr == *fresh* ]]
}

@test "a series of two numbers a record is refused" {
    npy '<f4' '5, 2' 0 0 0 0 0 0 0 0 0 0 >fresh.npy
    run_apart irrun "$data/sum.xml" -i x=five.npy -i fresh=fresh.npy --reset=if:fresh -o csv:-
    [ "$status" -eq 65 ]
    [[ $stderr == *"one number per record"* ]]
}

@test "--reset on a model without variables warns, and -q is silent" {
    npy '<f4' 2, 1 2 >x.npy
    run_apart irrun "$data/twice.xml" -i x.npy --reset -o csv:-
    [ "$status" -eq 0 ]
    [ "$output" = "2,4" ]
    [[ $stderr == "irrun: warning: "*"no variable"* ]]
    run_apart irrun "$data/twice.xml" -i x.npy --reset -o csv:- -q
    [ "$stderr" = "" ]
}
