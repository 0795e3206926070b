#!/usr/bin/env bats
# examples/segments.awk: probabilities become start, end and length.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
}

segments() { # settings of awk
    awk "$@" -f "$root/examples/segments.awk"
}

# says EXPECTED SETTING... -- PROBABILITY...: the segments, with blanks for TABs, ; between them
says() {
    local expected=$1 settings=(-v step=0.1) found
    shift
    while [ "$1" != -- ]; do
        settings+=(-v "$1")
        shift
    done
    shift
    found=$(printf '%s\n' "$@" | segments "${settings[@]}" | tr '\t' ' ' | paste -s -d ';')
    echo "$found, expected $expected"
    [ "$found" = "$expected" ]
}

@test "a segment has a start, an end and a length, with TABs between them" {
    [ "$(printf '%s\n' 0 1 1 1 1 0 0 0 0 0 0 0 0 | segments)" = $'0.032\t0.160\t0.128' ]
    says '0.200 0.400 0.200' -- 0 0 1 1 0 0 0 0
    says '0.100 0.200 0.100;0.600 0.800 0.200' -- 0 1 0 0 0 0 1 1 0 0 0
    says '' -- 0 0.49 0.3
    says '' --
}

@test "a pause shorter than silence is part of the segment" {
    says '0.100 0.600 0.500' silence=0.3 -- 0 1 1 0 0 1 0 0 0
    says '0.100 0.300 0.200;0.500 0.600 0.100' silence=0.2 -- 0 1 1 0 0 1 0 0 0
}

@test "between low and threshold a segment neither starts nor ends" {
    says '0.100 0.700 0.600' silence=0.2 -- 0.4 0.5 0.4 0.4 0.4 0.4 0.4 0.1 0.1
    says '0.100 0.200 0.100' silence=0.2 low=0.5 -- 0.4 0.5 0.4 0.4 0.4 0.1
    says '0.200 0.400 0.200' silence=0.2 threshold=0.8 -- 0.7 0.7 0.8 0.7 0.6 0.6
}

@test "what is short is left out, what is open at the end is closed there" {
    says '0.500 0.800 0.300' silence=0.1 shortest=0.3 -- 0 1 1 0 0 1 1 1 0
    says '0.100 0.300 0.200' -- 0 1 1
    says '0.100 0.200 0.100' -- 0 1 0
}

@test "a column is chosen by number, comments are skipped" {
    says '0.100 0.200 0.100' field=2 silence=0.1 -- '# a title' '9,0' '9 1' $'9\t0'
}

@test "the text of one output is taken, that of several is refused" {
    says 'a 0.100 0.200 0.100' silence=0.1 -- '# p f32 [1,1] seq=a rec=0' 0 '# p f32 [1,1] seq=a rec=1' 1 '# p f32 [1,1] seq=a rec=2' 0
    status=0
    printf '%s\n' '# p f32 [1,1] seq=a rec=0' 1 '# speech f32 [1,1] seq=a rec=0' 1 | segments >found 2>words || status=$?
    [ "$status" -eq 2 ]
    [ ! -s found ]
    [ "$(cat words)" = "segments.awk: there are several outputs: choose one, as in -o probability=csv:-" ]
}

@test "a segment is printed as soon as its end is known" {
    local at_once=()
    [[ $(awk -W version 2>&1 </dev/null) != mawk* ]] || at_once=(-W interactive)
    mkfifo pipe
    segments "${at_once[@]}" -v step=0.1 -v silence=0.1 <pipe >found 3>&- &
    exec 7>pipe
    printf '0\n1\n1\n0\n0\n' >&7
    for _ in {1..50}; do
        [ ! -s found ] || break
        sleep 0.1
    done
    [ -s found ]
    exec 7>&-
    wait
}

@test "each of several files begins at 0 and is named" {
    printf '%s\n' 0 1 1 1 1 1 >a
    printf '%s\n' 1 1 1 1 0 0 0 0 0 0 0 0 >b
    [ "$(awk -f "$root/examples/segments.awk" a b)" = $'a\t0.032\t0.192\t0.160\nb\t0.000\t0.128\t0.128' ]
}

@test "the text of several recordings: each begins at 0 and has its key" {
    local text=('# p f32 [1,1] seq=a b rec=0' 0 '# p f32 [1,1] seq=a b rec=1' 1 '# p f32 [1,1] seq=- rec=0' 1 '# p f32 [1,1] seq=c rec=0' 1)
    says 'a b 0.100 0.200 0.100;0.000 0.100 0.100;c 0.000 0.100 0.100' -- "${text[@]}"
    printf '%s\n' one.csv two.csv >list
    printf '%s\n' 0 9 0 >one.csv
    printf '%s\n' 9 9 >two.csv
    [ "$(irrun "$data/sum.xml" --manifest=list --reset | segments -v step=1 | lines)" = $'one\t1.000\t2.000\t1.000 two\t0.000\t2.000\t2.000' ]
}

@test "a line that is not a number is an error, with its place" {
    local line
    for line in a 0.5x nan '{"p":1}' '[0.5]'; do
        status=0
        printf '0.9\r\n\n%s\n' "$line" | segments >found 2>words || status=$?
        [ "$status" -eq 2 ]
        [ ! -s found ]
        [[ $(<words) == "segments.awk: standard input:3: \"$line\" in column 1 is not a number; -v field=N"* ]]
    done
    [ "$(printf '%s\n' p 0 1 1 1 1 0 0 0 0 0 0 0 0 | segments)" = $'0.032\t0.160\t0.128' ] # a heading
    printf '1 2\n3\n' >numbers
    status=0
    awk -v field=2 -f "$root/examples/segments.awk" numbers 2>words || status=$?
    [ "$status" -eq 2 ]
    [[ $(<words) == "segments.awk: numbers:2: \"\" in column 2 is not a number"* ]]
}

@test "segments.awk refuses a setting that is not a number" {
    run bash -c "echo 0.7 | awk -v threshold=0,5 -f '$root/examples/segments.awk'"
    [ "$status" -eq 2 ]
    [ "$output" = "segments.awk: threshold=0,5 is not a number" ]
}
