#!/usr/bin/env bats
# Looking inside the model: --tap, --tap-all, --fail-on-nan; and what the run asks of the machine: --denormals, --max-memory.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '2,' 1 2 >a.npy
    npy '<f4' '3, 2' 1 2 3 4 5 6 >b.npy
}

# The members of an npz, as the message says that lacks another one.
members() {
    run_apart irrun "$data/copy.xml" -i in_a="$1" -i fresh=a.npy -o none:
    sed -n 's/.*has no member "in_a", only //p' <<<"$stderr" | tr -d '",' | tr ' ' '\n' | sort | tr '\n' ' '
}

@test "--tap makes an inner tensor an output" {
    run_apart irrun "$data/chain.xml" -i x=a.npy --tap=doubled -o doubled=csv:-
    [ "$output" = "2,4" ]
    [ "$(irrun "$data/chain.xml" -i a.npy --tap=square -o square=csv:-)" = "4,16" ] # by the layer's name
    [ "$(irrun "$data/chain.xml" -i a.npy --tap=square:0 -o @1=csv:-)" = "4,16" ]
    [ "$(irrun "$data/chain.xml" -i a.npy --tap=doubled --tap=square | grep '^#' | cut -d ' ' -f 2 | tr '\n' ' ')" = "y doubled square " ]
    [ "$(irrun "$data/chain.xml" -i b.npy --tap=doubled -o doubled=csv:- | tail -n 1)" = "10,12" ]
    irrun "$data/chain.xml" -i a.npy -o y=want.csv
    irrun "$data/chain.xml" -i a.npy -o y=got.csv --tap=doubled --tap=square
    cmp want.csv got.csv
}

@test "--tap of an output, an input, an unknown name" {
    [ "$(irrun "$data/chain.xml" -i a.npy --tap=y -o csv:-)" = "3,14" ]
    [ "$(irrun "$data/chain.xml" -i a.npy --tap=x -o x=csv:-)" = "1,2" ]
    run_apart irrun "$data/chain.xml" -i a.npy --tap=sqare
    [ "$status" -eq 2 ]
    [[ $stderr == *'did you mean "square"?'* ]]
    run_apart irrun "$data/chain.xml" -i a.npy --tap=doubled -o y.csv
    [ "$status" -eq 2 ] # two outputs now
}

@test "--tap-all saves every tensor of the last iteration" {
    irrun "$data/chain.xml" -i b.npy --tap-all=all.npz -o y.csv
    [ "$(members all.npz)" = "doubled square x y " ]
    sed 's/name="x"/name="square"/' "$data/twice.xml" >square.xml
    [ "$(irrun square.xml -i square=all.npz -o csv:-)" = "200,288" ]
    [ "$(wc -l <y.csv)" -eq 3 ] # what was asked for by -o stays as it is
    [ "$(irrun "$data/chain.xml" -i a.npy --tap-all=all.npz -o csv:-)" = "3,14" ]
    irrun "$data/sum.xml" --random --tap-all=all.npz -o none:
    [ "$(members all.npz)" = "read sum x:0 " ]
    run_apart irrun "$data/chain.xml" --manifest=/dev/null --jobs=2 --tap-all=all.npz
    [ "$status" -eq 2 ]
}

@test "--fail-on-nan names the first op that gives one, and its line" {
    printf '1,2\n3e38,1\n' >x.csv
    run_apart irrun "$data/chain.xml" -i x.csv -o y.csv --fail-on-nan
    [ "$status" -eq 1 ]
    [[ $stderr == "$data/chain.xml:12:"*'Add "double"'*"inf at [0]"*"(in iteration 1)"* ]]
    [ ! -e y.csv ]
    run_apart irrun "$data/chain.xml" -i x.csv -o y.csv
    [ "$status" -eq 0 ]
    printf '1,nan\n' >x.csv
    run_apart irrun "$data/chain.xml" -i x.csv -o y.csv --fail-on-nan
    [ "$status" -eq 1 ]
    [[ $stderr == *"nan at [1]"* ]]
    run_apart irrun "$data/chain.xml" -i b.npy -o y.csv --fail-on-nan
    [ "$status" -eq 0 ]
}

@test "--denormals: keep, or flush to zero" {
    printf '1e-39,1e-37\n' >x.csv
    [ "$(irrun "$data/twice.xml" -i x.csv -o csv:-)" = "2e-39,2e-37" ]
    [ "$(irrun "$data/twice.xml" -i x.csv -o csv:- --denormals=keep)" = "2e-39,2e-37" ]
    [ "$(irrun "$data/twice.xml" -i x.csv -o csv:- --denormals=flush)" = "0,2e-37" ]
    [ "$(irrun "$data/twice.xml" -i x.csv -o csv:- --denormals=flush -j 3)" = "0,2e-37" ]
    [ "$(irrun "$data/copy.xml" -i a=x.csv -i fresh=x.csv --shape=a=2 --shape=fresh=2 -o a=csv:- --denormals=flush)" = "1e-39,1e-37" ]
}

@test "--max-memory refuses with 71 what goes beyond" {
    [[ ${BUILD-} != *sanitize* ]] || skip "sanitizers reserve memory of their own"
    npy '<f4' '1, 2' 1 2 >x.npy
    run_apart irrun "$data/twice_open.xml" --random --shape=x=50000000,2 -o none: --max-memory=100000000
    [ "$status" -eq 71 ]
    [[ $stderr == *memory* ]]
    run_apart irrun "$data/twice_open.xml" -i x.npy -o none: --max-memory=100000000
    [ "$status" -eq 0 ]
    run_apart irrun "$data/twice_open.xml" -i x.npy -o none: --max-memory=0
    [ "$status" -eq 2 ]
}
