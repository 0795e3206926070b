#!/usr/bin/env bats
# Many sequences in one process: --manifest, --shard, --jobs, --skip-existing.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    printf '1\n2\n3\n' >a.csv
    printf '10\n20\n' >b.csv
    printf '5\n' >c.csv
    printf 'first\tx=a.csv\n\nsecond\tb.csv\nthird\tx=csv:c.csv\n' >list
}

# Fails with 65 at line N of the manifest given on standard input, and says WORDS.
bad_line() { # N WORDS
    run_apart irrun "$data/sum.xml" --manifest=- -o none:
    echo "$stderr"
    [ "$status" -eq 65 ]
    [[ $stderr == "irrun: standard input:$1: error: "*"$2"* ]]
}

@test "a line of the manifest is a sequence" {
    [ "$(irrun "$data/sum.xml" --manifest=list -o csv:- | lines)" = "1 3 6 10 30 5" ]
    [ "$(irrun "$data/sum.xml" --manifest=list | grep '^#' | cut -d ' ' -f 5- | lines)" = \
        "seq=first rec=0 seq=first rec=1 seq=first rec=2 seq=second rec=0 seq=second rec=1 seq=third rec=0" ]
    [ "$(irrun "$data/sum.xml" --manifest=- -o csv:- <list | lines)" = "1 3 6 10 30 5" ]
    irrun "$data/sum.xml" --manifest=list -o y_%k.npy
    [ "$(shape y_first.npy)" = "3, 1" ]
    [ "$(shape y_third.npy)" = "1, 1" ]
    [ "$(irrun "$data/sum.xml" --manifest=list -o csv:- --reset=never | lines)" = "1 3 6 16 36 41" ]
    run_apart irrun "$data/sum.xml" --manifest=/dev/null -o csv:- --jobs=3
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
    [ "$stderr" = "irrun: warning: /dev/null: no sequence is listed" ]
}

@test "a line may say where its outputs go" {
    printf 'one\ta.csv\t>one.csv\ntwo\tb.csv\nthree\tc.csv\t>sum=three.npy\t>%%k_%%n.txt\n' >list
    [ "$(irrun "$data/sum.xml" --manifest=list -o csv:- | lines)" = "10 30" ]
    [ "$(lines <one.csv)" = "1 3 6" ]
    [ "$(shape three.npy)" = "1, 1" ]
    [ "$(tail -n 1 three_sum.txt)" = 5 ]
}

@test "--reset=if:NAME takes its series from the line" {
    printf '0\n1\n0\n' >f.csv
    printf 'one\tx=a.csv\tf=f.csv\n' >list
    [ "$(irrun "$data/sum.xml" --manifest=list --reset=if:f -o csv:- | lines)" = "1 2 5" ]
}

@test "a bad line is 65 with its number" {
    bad_line 2 "no name or no file" < <(printf 'one\ta.csv\ntwo\tx=\n')
    bad_line 1 "start with a key" < <(printf '\ta.csv\n')
    bad_line 3 "y" < <(printf 'one\ta.csv\n\ntwo\ty=a.csv\n')
    bad_line 1 "no data for" < <(printf 'one\n')
    bad_line 1 "has only one field: fields are separated by tabs" < <(printf 'one a.csv\n')
    bad_line 2 "has only one field: fields are separated by tabs" < <(printf 'one\ta.csv\ntwo x=a.csv\n')
    bad_line 1 "no data for" < <(printf 'number one\n') # a key may hold blanks
    bad_line 1 "unknown" < <(printf 'one\ta.unknown\n')
    bad_line 1 "not the source" < <(printf 'one\tcsv:-\n')
    bad_line 1 "not the source" < <(printf 'csv:-\n')
    bad_line 1 "not the source" < <(printf 'a.ark\n')
    bad_line 2 "an output begins with '>': >b.csv" < <(printf 'one\ta.csv\ntwo\ta.csv\tb.csv\n')
    bad_line 1 "contains a carriage return within the line" < <(printf 'one\rtwo\ta.csv\n')
    irrun "$data/sum.xml" --manifest=- -o marked_%k.npy < <(printf '\xef\xbb\xbfone\ta.csv\r\n')
    [ -e marked_one.npy ]
    run_apart irrun "$data/sum.xml" --manifest=- -o none: < <(printf 'one\ta.csv\ntwo\tmissing.csv\n')
    [ "$status" -eq 66 ]
    [[ $stderr == "missing.csv: error: "*"standard input:2"* ]]
    echo 'one a.csv' >list
    run_apart irrun "$data/sum.xml" --manifest=missing
    [ "$status" -eq 66 ]
    answered 65 "list:1: error: has only one field: fields are separated by tabs, not blanks" \
        "tr -s ' ' '\t' <FILE | irrun ... --manifest=-" "$data/sum.xml" --manifest=list
    [ "$(tr -s ' ' '\t' <list | irrun "$data/sum.xml" --manifest=- -o csv:- | lines)" = "1 3 6" ]
    echo 'a.csv a.csv' >list
    answered 65 "list:1: error: has only one field: fields are separated by tabs, not blanks" \
        "tr -s ' ' '\n' <FILE | irrun ... --manifest=-" "$data/sum.xml" --manifest=list
    echo 'my missing.csv' >list # tabs would not help
    answered 66 "my missing.csv: error: " "named in list:1" "$data/sum.xml" --manifest=list
    echo 'one a.csv' >list
    answered 2 "--manifest and -i cannot be used together" "a line of the manifest names it: KEY<tab>csv:a.csv" \
        "$data/sum.xml" --manifest=list -i x=csv:a.csv
    run_apart irrun - --manifest=- <list
    [ "$status" -eq 2 ]
}

@test "a failure leaves what is complete, and nothing else" {
    printf '1\nx\n' >bad.csv
    printf 'one\ta.csv\ntwo\tbad.csv\nthree\tb.csv\n' >list
    run_apart irrun "$data/sum.xml" --manifest=list -o %k.npy
    [ "$status" -eq 65 ]
    [ -e one.npy ]
    [ ! -e two.npy ]
    [ ! -e three.npy ]
    [ -z "$(find . -name '.irrun*')" ]
    run_apart irrun "$data/sum.xml" --manifest=list -o all.npy
    [ "$status" -eq 65 ]
    [ ! -e all.npy ]
}

@test "--shard takes its part of the sequences" {
    [ "$(irrun "$data/sum.xml" --manifest=list -o csv:- --shard=0/2 | lines)" = "1 3 6 5" ]
    [ "$(irrun "$data/sum.xml" --manifest=list -o csv:- --shard=1/2 | lines)" = "10 30" ]
    [ "$(irrun "$data/sum.xml" --manifest=list -o csv:- --shard=3/4 | lines)" = "" ]
    printf 'a  [ 1 2 ]\nb  [ 3 ]\nc  [ 4 ]\n' >x.ark
    [ "$(irrun "$data/sum.xml" -i x.ark --axis=0 -o csv:- --shard=1/2 | lines)" = "3" ]
    local shard
    for shard in 2/2 -1/2 1 1/0 a/b; do
        answered 2 "--shard: '$shard' is not I/N" "--shard=0/4 is the first of four shards, --shard=3/4 the last" \
            "$data/sum.xml" --manifest=list --shard=$shard
    done
    run_apart irrun "$data/sum.xml" --manifest=list --shard=0/2 --reset=never
    [ "$status" -eq 2 ]
}

# Many sequences of very different length, some long enough to fill what a lane may keep.
many() {
    local i
    for i in $(seq 60); do
        awk -v n=$((i * 7919 % 97 * (i % 10 == 3 ? 40 : 1))) -v i="$i" \
            'BEGIN { for (k = 0; k < n; k++) print (k * i) % 1000 }' >"in$i.csv"
        printf 'key%s\tin%s.csv\n' "$i" "$i"
    done >many
}

@test "--jobs changes neither order nor bytes" {
    many
    irrun "$data/sum.xml" --manifest=many >want
    irrun "$data/sum.xml" --manifest=many -o want.npy -o want.ark
    local jobs
    for jobs in 1 2 3 8; do
        irrun "$data/sum.xml" --manifest=many --jobs=$jobs | cmp - want
        irrun "$data/sum.xml" --manifest=many --jobs=$jobs -o got.npy -o got.ark
        cmp got.npy want.npy
        cmp got.ark want.ark
    done
    { irrun "$data/sum.xml" --manifest=many --shard=0/2 --jobs=2 -o text:-
      irrun "$data/sum.xml" --manifest=many --shard=1/2 -o text:-; } | sort >got
    sort want | cmp - got
}

@test "--jobs with a file for each sequence, states, and --expect" {
    many
    mkdir one eight
    irrun "$data/sum.xml" --manifest=many -o one/%k.csv --state-out=one/%k.npz
    irrun "$data/sum.xml" --manifest=many -o eight/%k.csv --state-out=eight/%k.npz --jobs=8
    diff -r one eight
    irrun "$data/sum.xml" --manifest=many -o all.npy
    run_apart irrun "$data/sum.xml" --manifest=many --expect=all.npy --jobs=8 --atol=0 --rtol=0
    [ "$status" -eq 0 ]
    irrun "$data/sum.xml" --manifest=many --jobs=3 --report=r.json -o none:
    [ "$(jq -c '[.run.sequences, .run.iterations]' r.json)" = "[60,$(cat in*.csv | wc -l)]" ]
}

@test "--jobs: the first failure, in the order of the sequences, is told" {
    many
    echo x >>in50.csv
    echo x >>in20.csv
    local i
    for i in 1 2 3; do
        run_apart irrun "$data/sum.xml" --manifest=many --jobs=8 -o %k.npy
        [ "$status" -eq 65 ]
        [[ $stderr == in20.csv:* ]]
        [ -e key19.npy ]
        [ ! -e key20.npy ]
        [ ! -e key21.npy ]
        rm key*.npy
    done
    run_apart irrun "$data/sum.xml" --manifest=many --jobs=0
    [ "$status" -eq 2 ]
    run_apart irrun "$data/sum.xml" --manifest=many --jobs=2 --reset=never
    [ "$status" -eq 2 ]
}

@test "--skip-existing runs only what has no outputs yet" {
    irrun "$data/sum.xml" --manifest=list -o %k.csv
    echo mine >first.csv
    rm third.csv
    irrun "$data/sum.xml" --manifest=list -o %k.csv --skip-existing --jobs=2
    [ "$(cat first.csv third.csv | lines)" = "mine 5" ]
    irrun "$data/sum.xml" -i b.csv -o first.csv --skip-existing
    [ "$(cat first.csv)" = mine ]
    irrun "$data/sum.xml" -i b.csv -o first.csv -o new.npy --skip-existing
    [ "$(lines <first.csv)" = "10 30" ]
    [ "$(irrun "$data/sum.xml" -i b.csv --skip-existing -o csv:- | lines)" = "10 30" ]
    run_apart irrun "$data/sum.xml" --manifest=list -o all.npy --skip-existing
    [ "$status" -eq 2 ]
    [[ $stderr == *%k* ]]
}

@test "memory does not grow with the number of sequences" {
    [[ ${BUILD-} != *sanitize* ]] || skip "sanitizers keep freed memory"
    follow() { irrun "$data/sum.xml" -o none: --report=- --manifest="$1"; }
    seq 100 | awk '{ print "key" $1 "\tc.csv" }' >few
    seq 100000 | awk '{ print "key" $1 "\tc.csv" }' >many
    stays_below "$(($(highest_peak follow few) + 1000000))" follow many
}
