#!/usr/bin/env bats
# -i value:V: constant inputs; sources without a name; manifests of paths.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    printf '1 2\n3 4\n' >one.csv
    printf '5 6\n' >two.csv
}

@test "one number fills all elements, several are one each" {
    [ "$(irrun "$data/pair.xml" -i a=one.csv -i b=value:10 -o minus=csv:- | lines)" = "-9,-8 -7,-6" ]
    [ "$(irrun "$data/pair.xml" -i b=value:10,20.5 -i a=one.csv -o minus=csv:- | lines)" = "-9,-18.5 -7,-16.5" ]
    [ "$(irrun "$data/pair.xml" -i b=value:1 -i a=value:2 -o minus=text:-)" = "# minus f32 [2] seq=- rec=0
1 1" ]
    [ "$(irrun "$data/twice_i32.xml" -i value:7 -o csv:-)" = "14,14" ]
    [ "$(irrun "$data/twice_open.xml" -i value:1,2,3,4 -o csv:- | lines)" = "2,4 6,8" ]
    [ "$(irrun "$data/sum.xml" -i value:1 -n 4 --emit=all -o csv:- | lines)" = "1 2 3 4" ]
    [ "$(irrun "$data/sum.xml" -i value:3 --feed=sum=x -n 3 --emit=all -o csv:- | lines)" = "3 6 12" ]
}

@test "what value: refuses" {
    usage_error 'value: 3 numbers, but input "b" is [2]: give 1 or 2' "$data/pair.xml" -i a=one.csv -i b=value:1,2,3
    usage_error 'value: "1.5" is not a whole number: input "x" is i32' "$data/twice_i32.xml" -i value:1.5
    usage_error 'value: "" is not a number' "$data/pair.xml" -i a=one.csv -i b=value:1,
    usage_error '"value:" has no value' "$data/sum.xml" -i value:
    usage_error 'value: fills an input of the model, and "id" is not one' "$data/sum.xml" -i x=one.csv -i id=value:1 --key=id -o csv:-
    answered 2 'value: input "x" has open dimensions: [?,2]' "write --shape=x=D,2 with a number for D" "$data/twice_open.xml" -i value:1
    usage_error "format value is only for inputs" "$data/sum.xml" --random -o value:1
    usage_error "format value is only for inputs" "$data/sum.xml" --random --expect=value:1
    usage_error 'input "b" is filled by value:1' "$data/pair.xml" -i a=one.csv -i b=value:1 --axis=b=0
    usage_error 'input "b" has two sources, value:1 and value:2' "$data/pair.xml" -i a=one.csv -i b=value:1 -i b=value:2
}

@test "a source without a name in a manifest is that of the only input that nothing else fills" {
    printf 'one.csv\n' >list
    [ "$(irrun "$data/pair.xml" --manifest=list -i b=value:10 -o minus=csv:- | lines)" = "-9,-8 -7,-6" ]
    [ "$(irrun "$data/pair.xml" --manifest=list --feed=minus=b -o minus=csv:- | lines)" = "1,2 2,2" ]
    [ "$(irrun "$data/pair.xml" --manifest=list --random=b=ones -o minus=csv:- | lines)" = "0,1 2,3" ]
    printf 'k\tb=two.csv\tone.csv\n' >list
    refused 65 'input "b" (two.csv) has 1 record' "$data/pair.xml" --manifest=list -o none:
    usage_error 'one.csv needs a name, one of "a", "b"' "$data/pair.xml" -i one.csv --random
}

@test "a manifest of paths" {
    printf '%s\n' one.csv csv:two.csv >list
    irrun "$data/pair.xml" --manifest=list -i b=value:10 -o minus=text:- >got
    [ "$(grep -o 'seq=.*' got | lines)" = "seq=one rec=0 seq=one rec=1 seq=two rec=0" ]
    [ "$(numbers <got)" = "-9 -8 -7 -6 -5 -4" ]
    irrun "$data/pair.xml" --manifest=list -i b=value:10 -o minus=%k.out.csv --jobs=2
    [ "$(lines <two.out.csv)" = "-5,-4" ]
    cp one.csv "my one.csv"
    printf '%s\n' "my one.csv" >list
    [ "$(irrun "$data/twice.xml" --manifest=list -o csv:- | lines)" = "2,4 6,8" ]
    printf 'one.csv\nb\n' >list # only keys
    [ "$(irrun "$data/twice.xml" --manifest=list --random=ones | grep -o 'seq=[^ ]*' | lines)" = "seq=one.csv seq=b" ]
    mkdir d && cp one.csv d
    printf '%s\n' one.csv d/one.csv >list
    refused 65 "list:2: error: " "$data/twice.xml" --manifest=list -o %k.npy
    usage_error "--manifest and -i cannot be used together, except for -i value:, count: and ones:" "$data/pair.xml" --manifest=list -i b=one.csv
}
