#!/usr/bin/env bats
# --columns: tables with headings.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    printf '%s\n' 'id,low,"high, in m",note' 'a,1,2,"x, ""y"", z"' 'b, 3 ,4,' '"c,d",5,6e0,7' >t.csv
}

@test "columns by heading, in the order that is asked for" {
    npy '<f4' '3, 2' 1 4 3 8 5 12 >want.npy
    [ "$(irrun "$data/twice.xml" -i t.csv --columns=low,2 -o csv:- | lines)" = "2,4 6,8 10,12" ]
    [ "$(irrun "$data/twice.xml" -i t.csv --columns=2,low -o csv:- | lines)" = "4,2 8,6 12,10" ]
    [ "$(irrun "$data/sum.xml" -i t.csv --columns=low -o csv:- | lines)" = "1 4 9" ]
    [ "$(irrun "$data/sum.xml" -i csv:- --columns=low -o csv:- <t.csv | lines)" = "1 4 9" ]
    [ "$(irrun "$data/pair.xml" -i a=t.csv -i b=t.csv --columns=a=low,2 --columns=b=2,low -o minus=csv:- | lines)" = \
        "-1,1 -1,1 -1,1" ]
    [ "$(irrun "$data/twice.xml" -i t.csv --columns=low,2 -n 4 --emit=all -o csv:- | lines)" = "2,4 6,8 10,12 2,4" ]
}

@test "columns by number need no heading; tabs; comments; ends of lines; several rows a record" {
    tail -n +2 t.csv >n.csv
    [ "$(irrun "$data/twice.xml" -i n.csv --columns=2,1 -o csv:- | lines)" = "4,2 8,6 12,10" ]
    printf '# c\r\nx\ty\r\n1\t2\r\n\r\n# d\r\n3\t4' >t.txt
    [ "$(irrun "$data/twice.xml" -i t.txt --columns=y,x -o csv:- | lines)" = "4,2 8,6" ]
    printf '\357\273\277x,y\n1,2\n3,4\n' >bom.csv
    [ "$(irrun "$data/twice.xml" -i bom.csv --columns=y,x -o csv:- | lines)" = "4,2 8,6" ]
    [ "$(irrun "$data/twice.xml" -i bom.csv --columns=x -o csv:- | lines)" = "2,6" ]
    [ "$(irrun "$data/twice_open.xml" -i t.csv --columns=low,2 --axis=0:2:1 -o csv:- | lines)" = "2,4 6,8 6,8 10,12" ]
    : >empty.csv
    run_apart irrun "$data/twice.xml" -i empty.csv --columns=x -o csv:-
    [ "$status" -eq 0 ]
    [[ $stderr == *"empty.csv contains no record"* ]]
}

@test "headings in quotes" {
    printf '%s\n' '"a,b","c ""d""",e,"f' '1,2,3,4' >quoted.csv
    [ "$(irrun "$data/twice.xml" -i quoted.csv --columns='"a,b",e' -o csv:- | lines)" = "2,6" ]
    [ "$(irrun "$data/twice.xml" -i quoted.csv --columns='c "d","e"' -o csv:- | lines)" = "4,6" ]
    [ "$(irrun "$data/sum.xml" -i quoted.csv --columns='"c ""d"""' -o csv:- | lines)" = "2" ]
    refused 65 'no column "a"' "$data/sum.xml" -i quoted.csv --columns=a -o none:
    printf '%s\n' '"f' 4 >open.csv
    refused 65 'no column "f"' "$data/sum.xml" -i open.csv --columns=f -o none:
}

@test "what is refused" {
    answered 65 't.csv:1: error: no column "mid"' 'the columns are id,low,"high, in m",note' \
        "$data/sum.xml" -i t.csv --columns=mid -o none:
    refused 65 't.csv:2:1: error: "a" is not a number' "$data/sum.xml" -i t.csv --columns=id -o none:
    refused 65 't.csv:2:7: error: ""x, ""y"", z"" is not a number' "$data/twice.xml" -i t.csv --columns=low,note -o none:
    sed -i 2s/\".*\"/9/ t.csv
    refused 65 't.csv:3:9: error: "" is not a number' "$data/twice.xml" -i t.csv --columns=low,note -o none:
    answered 65 't.csv:1:4: error: "low" is not a number' "if it is a heading, name the columns by it: --columns=low,..." \
        "$data/sum.xml" -i t.csv --columns=1 -o none:
    printf 'x,y\n1,2\n3\n' >short.csv
    refused 65 'short.csv:3: error: the line has 1 columns, but column 1 is to be read' \
        "$data/twice.xml" -i short.csv --columns=x,y -o none:
    refused 65 'ends 1 number into record 1, which takes 2' "$data/twice.xml" -i t.csv --columns=low -o none:
    usage_error "rows of 2 numbers do not fill a record of 1" "$data/sum.xml" -i t.csv --columns=low,2 -o none:
    usage_error "names a column twice" "$data/twice.xml" -i t.csv --columns=low,1 -o none:
    usage_error "--columns: ',a' is not A,B,..." "$data/sum.xml" -i t.csv --columns=,a
    usage_error 'no input "q"' "$data/sum.xml" -i t.csv --columns=q=low
    npy '<f4' '1,' 1 >x.npy
    usage_error "is read from x.npy, which is not csv" "$data/sum.xml" -i x.npy --columns=x=low
    perl -e 'print "x,y\n1,", "2" x 200000, "\n"' >long.csv
    refused 65 "long.csv:2: error: the line has at least 131072 bytes" "$data/sum.xml" -i long.csv --columns=x -o none:
}

@test "an interrupted run continues in a table" {
    { echo x,y && seq 30000 | awk '{ print $1 % 7 ",a" }'; } >t.csv
    irrun "$data/sum.xml" -i t.csv --columns=x -o want.csv
    local seconds
    for seconds in 0.02 0.05 0.1 0.2 0.5 1 2 5 20; do
        status=0
        "$IRRUN" "$data/sum.xml" -i t.csv --columns=x -o got.csv --checkpoint=ck --checkpoint-every=50 \
            --timeout="$seconds" 2>stderr || status=$?
        [ "$status" -eq 75 ] || break
    done
    [ "$status" -eq 0 ]
    cmp want.csv got.csv
}
