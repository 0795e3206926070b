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
    compare --rtol=1
    [ "$status" -eq 0 ]
    [[ $stderr == *"warning: --atol and --rtol are not used: there is no --expect and no --diff"* ]]
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
    printf '1,2\n' >x.csv
    printf '9,inf\n' >want.csv
    run_apart irrun "$data/twice.xml" -i x.csv --expect=want.csv
    [[ $stderr == *", expected inf"* ]]
}

@test "integers are compared exactly unless a tolerance is given" {
    npy '<i4' '2,' 100000 1 >x.npy
    npy '<i4' '2,' 200001 2 >want.npy
    run_apart irrun "$data/twice_i32.xml" -i x.npy --expect=want.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"got 200000, expected 200001; 1 of 2 elements differ"$'\n'"  hint: --atol=NUMBER and --rtol=NUMBER allow larger differences" ]]
    run_apart irrun "$data/twice_i32.xml" -i x.npy --expect=want.npy --atol=1 --rtol=0
    [ "$status" -eq 0 ]
    run_apart irrun "$data/twice_i32.xml" -i x.npy --expect=want.npy --atol=0 --rtol=0
    [ "$status" -eq 1 ]
    [[ $stderr == *"got 200000, expected 200001"* ]]
}

# whole TYPE NPY_TYPE GOT WANT ARGUMENT...: compares one integer with another.
whole() {
    sed "s/element_type=\"f32\"/element_type=\"$1\"/" "$data/copy.xml" >whole.xml
    npy "$2" '1,' "$3" >x.npy
    npy "$2" '1,' "$4" >want.npy
    run_apart irrun whole.xml -i a=x.npy -i fresh=x.npy --expect=a=want.npy "${@:5}"
    echo "$*: $stderr"
}

@test "integers of 64 bits are compared as integers, with a tolerance too" {
    local i64=(i64 '<i8' 1152921504606846977 1152921504606846976) # 2^60 + 1 and 2^60: one double
    whole "${i64[@]}"
    [ "$status" -eq 1 ]
    [[ $stderr == *"got 1152921504606846977, expected 1152921504606846976; 1 of 1 elements differ"$'\n'* ]]
    whole "${i64[@]}" --atol=0 --rtol=0
    [ "$status" -eq 1 ]
    [[ $stderr == *"got 1152921504606846977, expected 1152921504606846976; 1 of 1 elements differ by more than atol 0, rtol 0" ]]
    whole "${i64[@]}" --atol=0 # the default of the other does not count
    [ "$status" -eq 1 ]
    [[ $stderr == *"by more than atol 0, rtol 0" ]]
    whole "${i64[@]}" --atol=0.999 --rtol=0
    [ "$status" -eq 1 ]
    whole "${i64[@]}" --atol=1 --rtol=0
    [ "$status" -eq 0 ]
    whole "${i64[@]}" --atol=0 --rtol=1e-18 # 1.15 of 2^60
    [ "$status" -eq 0 ]
    whole "${i64[@]}" --atol=0 --rtol=8e-19 # 0.92
    [ "$status" -eq 1 ]
    whole "${i64[@]}" --atol=0 --rtol=0 -r report.json
    grep -q '"got":1152921504606846977,"want":1152921504606846976}' report.json
    whole i64 '<i8' 9223372036854775807 -9223372036854775808 --atol=1.8e19 --rtol=0
    [ "$status" -eq 1 ]
    [[ $stderr == *"got 9223372036854775807, expected -9223372036854775808;"* ]]
    whole i64 '<i8' 9223372036854775807 -9223372036854775808 --atol=1.9e19 --rtol=0
    [ "$status" -eq 0 ]
    whole i64 '<i8' -9223372036854775808 9223372036854775807 --atol=0 --rtol=1
    [ "$status" -eq 1 ]
}

@test "integers without a sign are compared in all of their range" {
    local u64=(u64 '<u8' 9223372036854775809 9223372036854775813) # above what i64 holds
    whole "${u64[@]}"
    [ "$status" -eq 1 ]
    [[ $stderr == *"got 9223372036854775809, expected 9223372036854775813; 1 of 1 elements differ"$'\n'* ]]
    whole "${u64[@]}" --atol=3 --rtol=0
    [ "$status" -eq 1 ]
    whole "${u64[@]}" --atol=4 --rtol=0
    [ "$status" -eq 0 ]
    whole "${u64[@]}" -r report.json
    grep -q '"got":9223372036854775809,"want":9223372036854775813}' report.json
    whole u64 '<u8' 0 18446744073709551615 --atol=0 --rtol=1
    [ "$status" -eq 0 ]
    whole u64 '<u8' 0 18446744073709551615 --atol=0 --rtol=0.999
    [ "$status" -eq 1 ]
    whole boolean '|b1' 1 0 --atol=1
    [ "$status" -eq 0 ]
    whole boolean '|b1' 1 0 --atol=0
    [ "$status" -eq 1 ]
    [[ $stderr == *"got 1, expected 0"* ]]
    whole i4 '|i1' -8 7 --cast=any
    [ "$status" -eq 1 ]
    [[ $stderr == *"got -8, expected 7"* ]]
}

@test "codes of nf4 are compared with the codes that a file holds" {
    sed 's/element_type="f32"/element_type="nf4"/' "$data/copy.xml" >nf4.xml
    printf '\3\17' >codes.raw
    npy '|u1' '2,' 3 15 >want.npy
    irrun nf4.xml -i a=codes.raw -i fresh=codes.raw --shape=a=2 --shape=fresh=2 --expect=a=want.npy
    npy '|u1' '2,' 3 14 >want.npy
    refused 1 "got 15, expected 14" nf4.xml -i a=codes.raw -i fresh=codes.raw --shape=a=2 --shape=fresh=2 --expect=a=want.npy
}

@test "the element that is furthest out is named, also where nothing is allowed" {
    npy '<f4' '3, 2' 2 100 6 8 10 1000 >want.npy
    compare --expect=want.npy --atol=0 --rtol=0
    [[ $stderr == *"worst in record 2 at [1]: got 12, expected 1000; 2 of 6 elements differ"* ]]
    npy '<i4' '2,' 10 20 >x.npy
    npy '<i4' '2,' 30 4000 >want.npy
    run_apart irrun "$data/twice_i32.xml" -i x.npy --expect=want.npy
    [[ $stderr == *"worst in record 0 at [1]: got 40, expected 4000; 2 of 2 elements differ"* ]]
}

@test "type and shape come first" {
    npy '<i8' '2,' 20 40 >want.npy # a number of another type is not equal, whatever is allowed
    refused 1 "record 0 is i32 [2], expected i64 [2]" "$data/twice_i32.xml" --random --expect=want.npy --atol=100
    npy '<f8' '2,' 20 40 >want.npy
    refused 1 "record 0 is i32 [2], expected f64 [2]" "$data/twice_i32.xml" --random --expect=want.npy --atol=100
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
    [[ $stderr == *"3 iterations ran, but 2 records are expected"*"hint: --expect needs a record for each iteration"* ]]
    npy '<f4' '4, 2' 2 4 6 8 10 12 0 0 >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"3 iterations ran, but 4 records are expected"*"hint: --expect needs a record for each iteration"* ]]
    npy '<f4' '1, 2' 2 4 >want.npy
    compare --expect=want.npy
    [[ $stderr == *"3 iterations ran, but 1 record is expected"* ]]
    npy '<f4' '9, 2' 2 4 6 8 10 12 0 0 0 0 0 0 0 0 0 0 0 0 >want.npy
    compare --expect=want.npy
    [[ $stderr == *"3 iterations ran, but 9 records are expected"* ]]
    compare --expect=npy:- < <(cat want.npy) # a pipe may never end
    [[ $stderr == *"3 iterations ran, but more than 3 records are expected"* ]]
}

@test "one iteration and one record are called so" {
    printf '1\n2\n' >want.csv
    run_apart irrun "$data/sum.xml" -i csv:- --expect=want.csv <<<1
    [ "$status" -eq 1 ]
    [[ $stderr == *"1 iteration ran, but 2 records are expected"* ]]
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

@test "an array of another shape is a difference before it is unpacked" {
    irrun "$data/sum.xml" --random -n 1 -o sum.npy
    deflated single.npz sum 64000000, 64000000
    refused_scarcely 1 'record 2 is f32 [1], expected f32 [64000000]' "$data/sum.xml" --random -n 3 --expect=single.npz
    deflated stack.npz sum '1, 64000000' 64000000
    refused_scarcely 1 'record 0 is f32 [1], expected f32 [64000000]' "$data/sum.xml" --random -n 3 --expect=stack.npz
    deflated rank.npz sum '1, 1, 64000000' 64000000
    refused_scarcely 1 'record 0 is f32 [1], expected f32 [1,1,64000000]' "$data/sum.xml" --random -n 3 --expect=rank.npz
}

@test "a single record may be of the last iteration's shape only; a stream has shapes of its own" {
    npy '<f4' '1, 2' 1 2 >a.npy
    npy '<f4' '2, 2' 1 2 3 4 >b.npy
    npy '<f4' '1, 2' 2 4 >a2.npy
    npy '<f4' '2, 2' 2 4 6 8 >b2.npy
    cat a.npy b.npy >in.npy
    compare() {
        run_apart irrun "$data/twice_open.xml" -i in.npy "$@"
        echo "$stderr"
    }
    cat a2.npy b2.npy >want.npy
    compare --expect=want.npy
    [ "$status" -eq 0 ]
    compare --expect=b2.npy
    [ "$status" -eq 0 ]
    compare --expect=b.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"4 of 4 elements differ"* ]]
    compare --expect=a2.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"record 1 is f32 [2,2], expected f32 [1,2]"* ]]
    cat b2.npy a2.npy >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
    cat a2.npy a2.npy >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"record 1"*"[1,2]"* ]]
    cat a2.npy b2.npy a2.npy >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"2 iterations ran, but more than 2 records are expected"* ]]
    cat b2.npy b2.npy >want.npy
    compare --expect=want.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"several records are expected"* ]]
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
    [[ $stderr == *'member: no output "a"'* ]]
}

@test "a broken or missing file is not a difference" {
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
    [ "$stderr" = "irrun: warning: --expect compares nothing: --skip-existing skips the sequence, whose outputs exist" ]
    jq -e '.expect == [] and .run.iterations == 0' report.json
    rm y.npy
    compare --expect=other.npy -o y.npy --skip-existing
    [ "$status" -eq 1 ]
    printf 'a\tx.npy\n' >list
    usage_error "cannot be used with --skip-existing" "$data/twice.xml" --manifest=list -o %k.npy --expect=want.npy --skip-existing
}
