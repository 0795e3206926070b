#!/usr/bin/env bats
# --expect: what counts as a difference, and how it is told.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '3, 2' 1 2 3 4 5 6 >x.npy
    npy '<f4' '3, 2' 2 4 6 8 10 12 >want.npy
}

compare() {
    run_apart irrun "$data/twice.xml" -i x.npy "$@"
    echo "$stderr"
}

@test "equal outputs: exit 0, and nothing is said or written" {
    compare --expect=want.npy
    [ "$status" -eq 0 ]
    [ "$output$stderr" = "" ]
}

@test "a difference: exit 1, the worst element and a summary" {
    npy '<f4' '3, 2' 2 4 6.5 8 10 12.1 >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
    [ "$output" = "" ]
    [[ $stderr == *'output "y" (want.npy): worst in record 1 at [0]: got 6, expected 6.5; 2 of 6 elements differ'* ]]
}

@test "the outputs asked for are kept" {
    npy '<f4' '3, 2' 0 0 0 0 0 0 >want.npy
    compare --expect=want.npy -o y.csv
    [ "$status" -eq 1 ]
    [ "$(wc -l <y.csv)" -eq 3 ]
}

@test "tolerances: abs(got - want) <= atol + rtol * abs(want)" {
    npy '<f4' '3, 2' 2 4 6 8 10 12.5 >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
    compare --expect=want.npy --atol=0.49 --rtol=0
    [ "$status" -eq 1 ]
    compare --expect=want.npy --atol=0.5 --rtol=0
    [ "$status" -eq 0 ]
    compare --expect=want.npy --atol=0 --rtol=0.04
    [ "$status" -eq 0 ]
    compare --expect=want.npy --atol=y=0.5
    [ "$status" -eq 0 ]
    compare --expect=want.npy --atol=0.5 --atol=y=0
    [ "$status" -eq 1 ]
    compare --expect=want.npy --atol=z=0.5
    [ "$status" -eq 2 ]
}

@test "NaN equals NaN, infinities equal themselves" {
    printf 'nan,inf\n' >x.csv
    printf 'nan,inf\n' >want.csv
    run_apart irrun "$data/twice.xml" -i x.csv --expect=want.csv
    [ "$status" -eq 0 ]
    printf 'nan,-inf\n' >want.csv
    run_apart irrun "$data/twice.xml" -i x.csv --expect=want.csv --atol=1e300
    [ "$status" -eq 1 ]
    printf '1,inf\n' >want.csv
    run_apart irrun "$data/twice.xml" -i x.csv --expect=want.csv
    [ "$status" -eq 1 ]
    [[ $stderr == *"got nan, expected 1"* ]]
}

@test "integers are compared exactly unless a tolerance is given" {
    npy '<i4' '2,' 100000 1 >x.npy
    npy '<i4' '2,' 200001 2 >want.npy
    run_apart irrun "$data/twice_i32.xml" -i x.npy --expect=want.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"got 200000, expected 200001; 1 of 2 elements differ" ]]
    run_apart irrun "$data/twice_i32.xml" -i x.npy --expect=want.npy --atol=1 --rtol=0
    [ "$status" -eq 0 ]
    run_apart irrun "$data/twice_i32.xml" -i x.npy --expect=want.npy --atol=0 --rtol=0
    [ "$status" -eq 1 ]
    [[ $stderr == *"got 200000, expected 200001"* ]]
}

@test "type and shape come first" {
    npy '<f8' '3, 2' 2 4 6 8 10 12 >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"record 0 is f32 [2], expected f64 [2]"* ]]
    npy '<f4' '3, 3' 2 4 6 8 10 12 1 1 1 >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"[2]"*"[3]"* ]]
    npy '<f4' '' 2 >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
}

@test "a stack has as many records as the run" {
    npy '<f4' '2, 2' 2 4 6 8 >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"more iterations ran than the 2 records expected"* ]]
    npy '<f4' '4, 2' 2 4 6 8 10 12 0 0 >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"3 iterations ran"* ]]
}

@test "a single record is compared with the last iteration" {
    npy '<f4' '2,' 10 12 >want.npy
    compare --expect=want.npy
    [ "$status" -eq 0 ]
    npy '<f4' '2,' 2 4 >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"record 2"* ]]
}

@test "several outputs, by name or from an npz" {
    npy '<f4' '2,' 1 2 >a.npy
    npy '<f4' '2,' 2 4 >plus.npy
    npy '<f4' '2,' 0 1 >minus.npy
    run_apart irrun "$data/pair.xml" -i a=a.npy -i b=a.npy --expect=@0=plus.npy
    [ "$status" -eq 0 ]
    run_apart irrun "$data/pair.xml" -i a=a.npy -i b=a.npy --expect=@0=plus.npy --expect=diff=minus.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"1 of 2 outputs differ"*'"minus" (minus.npy)'* ]]
    [[ $stderr != *'"all/plus"'* ]]
    run_apart irrun "$data/pair.xml" -i a=a.npy -i b=a.npy --expect=plus.npy
    [ "$status" -eq 2 ]
    run_apart irrun "$data/pair.xml" -i a=a.npy -i b=a.npy --expect=@0=plus.npy --expect=all/plus=plus.npy
    [ "$status" -eq 2 ]
    irrun "$data/copy.xml" -i a=a.npy -i fresh=a.npy -o other.npz
    run_apart irrun "$data/pair.xml" -i a=a.npy -i b=a.npy --expect=other.npz
    [ "$status" -eq 65 ]
    [[ $stderr == *'member "a"'* ]]
}

@test "a broken or missing file is no difference" {
    compare --expect=missing.npy
    [ "$status" -eq 66 ]
    head -c 100 want.npy >broken.npy
    compare --expect=broken.npy
    [ "$status" -eq 65 ]
}

@test "--outliers lets a share of the elements differ" {
    npy '<f4' '3, 2' 2 4 6.5 8 10 12 >want.npy
    compare --expect=want.npy --outliers=0.16
    [ "$status" -eq 1 ]
    compare --expect=want.npy --outliers=0.17
    [ "$status" -eq 0 ]
    compare --expect=want.npy --outliers=1.5
    [ "$status" -eq 2 ]
}

@test "--skip-existing leaves nothing to compare" {
    compare --expect=want.npy -o y.npy --skip-existing
    [ "$status" -eq 0 ]
    [ "$stderr" = "" ]
    npy '<f4' '3, 2' 9 9 9 9 9 9 >other.npy
    compare --expect=other.npy -o y.npy --skip-existing --report=report.json
    [ "$status" -eq 0 ]
    [ "$stderr" = "irrun: warning: --expect compares nothing: the outputs exist, and --skip-existing skips" ]
    jq -e '.expect == [] and .run.iterations == 0' report.json
    rm y.npy
    compare --expect=other.npy -o y.npy --skip-existing
    [ "$status" -eq 1 ]
    printf 'a\tx.npy\n' >list
    usage_error "not with --skip-existing" "$data/twice.xml" --manifest=list -o %k.npy --expect=want.npy --skip-existing
}
