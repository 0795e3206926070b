#!/usr/bin/env bats
# jsonl: an object for every record.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2046,SC2154 # lists of numbers; common.bash sets the names
load common

setup() {
    common_setup
}

@test "all outputs of a record are one object, which jq reads" {
    printf '1 2\n3 nan\n' >a.csv
    irrun "$data/pair.xml" -i a=a.csv -i b=value:2 -q -o jsonl:- >got
    cat got
    [ "$(sed -n 1p got)" = '{"seq":"a","rec":0,"all/plus":[3,4],"minus":[-1,0]}' ]
    [ "$(sed -n 2p got)" = '{"seq":"a","rec":1,"all/plus":[5,null],"minus":[1,null]}' ]
    [ "$(jq -r '[.rec, .minus[0]] | @csv' got | lines)" = "0,-1 1,1" ]
    irrun "$data/pair.xml" -i a=a.csv -i b=value:2 -q -o x.jsonl
    cmp x.jsonl got
    irrun "$data/pair.xml" -i a=a.csv -i b=value:2 -q -o minus=x.jsonl -o all/plus=none:
    [ "$(jq -c keys x.jsonl | sort -u)" = '["minus","rec","seq"]' ]
}

@test "shapes, joined records and sequences" {
    npy '<f4' '2, 3, 1, 2' $(seq 12) >x.npy
    [ "$(irrun "$data/twice_any.xml" -i x.npy -o jsonl:- | jq -c .y)" = \
        "[[[[2,4]],[[6,8]],[[10,12]]],[[[14,16]],[[18,20]],[[22,24]]]]" ]
    npy '<f4' '2, 0, 3' >x.npy
    [ "$(irrun "$data/twice_any.xml" -i x.npy -o jsonl:- | jq -c .y)" = "[[],[]]" ]
    npy '<f4' '2000000000, 0' >x.npy # more brackets than fit on any disk
    refused 65 'jsonl: [2000000000,0] has more than 1048576 empty rows' "$data/twice_any.xml" -i x.npy \
        -o jsonl:y.jsonl
    npy '<f4' '1048576, 0' >x.npy
    [ "$(irrun "$data/twice_any.xml" -i x.npy -o jsonl:- | tr -cd '[' | wc -c)" -eq 1048577 ]
    npy '<f4' '' 4 >x.npy
    [ "$(irrun "$data/twice_any.xml" -i x.npy -o jsonl:- | jq -c .y)" = 8 ]
    printf '1\n2\n' >a.csv
    printf '"\\k\ta.csv\nb\ta.csv\n' >list
    [ "$(irrun "$data/sum.xml" --manifest=list --jobs=2 -o jsonl:- | jq -r '"\(.seq)\(.rec)\(.sum[0])"' | lines)" = \
        '"\k01 "\k13 b01 b13' ]
    [ "$(irrun "$data/sum.xml" -i a.csv --concat=0 -o jsonl:- | jq -c .sum)" = "[1,3]" ]
}

@test "names that are not UTF-8" {
    printf '1\n' | tee $'\xc3\xa4.csv' >$'a\xff\xe2\x82.csv'
    [ "$(irrun "$data/sum.xml" -i $'\xc3\xa4.csv' -o jsonl:-)" = $'{"seq":"\xc3\xa4","rec":0,"sum":[1]}' ]
    [ "$(irrun "$data/sum.xml" -i $'a\xff\xe2\x82.csv' -o jsonl:-)" = \
        '{"seq":"a\ufffd\ufffd\ufffd","rec":0,"sum":[1]}' ]
    irrun "$data/sum.xml" -i $'a\xff\xe2\x82.csv' -o none: --report=- | iconv -f UTF-8 -t UTF-8 | jq -e .run
}

@test "names that jsonl has itself" {
    sed 's/names="sum"/names="rec"/' "$data/sum.xml" >rec.xml
    usage_error 'output "rec": in jsonl this is the name' rec.xml --random -o jsonl:-
    usage_error "format jsonl is only for outputs" "$data/sum.xml" -i jsonl:x
}
