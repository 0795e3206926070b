#!/usr/bin/env bats
# --help, --version, --inspect, --supported-ops, --check, --stats, -v, and what the manual says of them.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '5, 1' 1 2 3 4 5 >five.npy
}

# The long names in options.def, one a line.
names_in_list() {
    sed -n 's/^OPTION([a-z_]*, "\([a-z-]*\)".*/\1/p' "$root/src/cli/options.def" | sort
}

@test "-h has 24 lines of at most 80 characters, examples first" {
    [ "$(irrun -h | wc -l)" -eq 24 ]
    [ "$(irrun -h)" = "$(irrun --help)" ]
    [ "$(irrun -h | awk 'length > 80' | wc -l)" -eq 0 ]
    irrun -h | grep -q 'sox a.wav -r 16000 -c 1 .*--partial=pad'
    local option
    for option in manifest jobs feed; do
        irrun -h | grep -q "^      --$option="
    done
}

@test "--help=all is as wide as a terminal" {
    [ "$(irrun --help=all | awk 'length > 80')" = "" ]
    [ "$(irrun --help=all | wc -l)" -gt 60 ]
}

@test "--help=all shows every option of the list, and no other" {
    [ "$(names_in_list | wc -l)" -gt 20 ]
    diff <(irrun --help=all | sed -n 's/^  \(-.,\|   \) --\([a-z-]*\).*/\2/p' | sort) <(names_in_list)
}

@test "the manual page describes every option of the list, and no other" {
    diff <(sed -n 's/^\.It .*Fl Fl \([a-z-]*\).*/\1/p' "$root/man/irrun.1" | sort) <(names_in_list)
}

@test "the manual page has the letters of the list" {
    diff <(sed -n 's/^\.It Fl \([a-zA-Z]\) .*Fl Fl \([a-z-]*\).*/\1 \2/p' "$root/man/irrun.1" | sort -k 2) \
        <(sed -n "s/^OPTION([a-z_]*, \"\([a-z-]*\)\", '\(.\)'.*/\2 \1/p" "$root/src/cli/options.def" | sort -k 2)
}

@test "every option of the list is accepted as it is written there" {
    local name
    for name in $(names_in_list); do
        run_apart irrun --"$name"
        [[ $stderr != *"unknown option"* ]]
    done
}

@test "--version says what is in use" {
    [ "$(irrun -V | head -n 1)" = "irrun $(sed -n 's/^#define IRRUN_VERSION "\(.*\)"/\1/p' "$root/include/irrun.h")" ]
    irrun -V | grep -q '^BLAS  *.'
    irrun -V | grep -q '^expat  *[0-9]'
}

@test "--supported-ops: type, opsets, element types" {
    irrun --supported-ops | awk -F '\t' 'NF != 3 || $2 !~ /^opset[0-9]+(-[0-9]+)?$/ { bad = 1 } END { exit bad || NR < 20 }'
    irrun --supported-ops | grep -q $'^ReadValue\topset6'
    irrun --supported-ops | grep -q $'^Select\topset1'
    [ "$(irrun --supported-ops=text)" = "$(irrun --supported-ops)" ]
    # As JSON it says the same.
    irrun --supported-ops=json | jq -e '.schema == "irrun.supported-ops/1"'
    irrun --supported-ops=json | jq -r '.ops[] | [.type, "opset\(.opset_first)" + (if .opset_first == .opset_last then "" else "-\(.opset_last)" end), (.types | join(" "))] | join("\t")' |
        diff - <(irrun --supported-ops)
    run_apart irrun --supported-ops=xml
    [ "$status" -eq 2 ]
}

@test "--inspect shows inputs, outputs, variables and ops, and needs no weights" {
    run_apart irrun --inspect "$data/sum.xml"
    [ "$status" -eq 0 ]
    [ "$stderr" = "" ]
    [[ $output == *"inputs: 1"*"x  f32 [1]"*"outputs: 1"*"sum  "*"variables: 1"*"total  f32 [1]  init: zeros"*"Add  opset1"* ]]
    run_apart irrun --inspect "$data/pair.xml"
    [[ $output == *"minus  "*"diff"* ]]
    [[ $output == *"variables: 0"* ]]
}

@test "--inspect lists what is unsupported, and is not a failure" {
    run_apart irrun --inspect "$data/lacking.xml"
    [ "$status" -eq 0 ]
    [[ $output == *"unsupported: 2"*Frobnicate*Defenestrate* || $output == *"unsupported: 2"*Defenestrate*Frobnicate* ]]
}

@test "--inspect: a port's names, each once" {
    sed 's/names="x:0,a"/names="x,a,x,a"/' "$data/sum.xml" >names.xml
    [[ $(irrun --inspect names.xml | grep '^  x ') == "  x  f32 [1]  also: a" ]]
    sed 's/ names="x:0,a"/ names="x"/' "$data/sum.xml" >names.xml
    [[ $(irrun --inspect names.xml | grep '^  x ') == "  x  f32 [1]" ]]
}

@test "--inspect: the number that a variable begins with, if the weights are there and it is one" {
    cp "$root"/models/sensor_watch/model.* .
    irrun --inspect model.xml >seen
    grep -qE '^  previous  f32 \[1,1\]  init: -1000000000 \([^ ]+\)$' seen
    grep -qE '^  count  f32 \[1,1\]  init: 0 \([^ ]+\)$' seen
    irrun --inspect "$root/tests/cases/gru_cell/state_in_variable/model.xml" | grep -q '^  h  f32 \[2,6\]  init: Const_0$'
    rm model.bin
    run_apart irrun --inspect model.xml
    [ "$status" -eq 0 ]
    [ "$stderr" = "" ]
    [[ $output =~ "count  f32 [1,1]  init: "[A-Za-z_0-9]+$'\n' ]]
    local n
    for n in 0 2; do
        head -c "$n" "$root/models/sensor_watch/model.bin" >model.bin
        irrun --inspect model.xml | diff - <(echo "$output")
    done
    local directory
    for directory in "$root"/tests/cases/read_value_assign/*/; do
        grep -q ReadValue "$directory/model.xml" && [ -f "$directory/model.bin" ] || continue
        cat "$directory/model.xml" >model.xml
        head -c 5 "$directory/model.bin" >model.bin
        status=0
        irrun --inspect model.xml >seen 2>&1 || status=$?
        [ "$status" -eq 0 ] || [ "$status" -eq 65 ]
    done
}

@test "--inspect: a type that irrun does not support is unsupported wherever it stands" {
    sed '0,/element_type="f32"/s//element_type="string"/' "$data/pair.xml" >text.xml
    run_apart irrun --inspect text.xml
    [ "$status" -eq 0 ]
    [[ $output == *"unsupported: 1"*"1  Parameter  opset1: element type string, which irrun does not support"* ]]
    [ "$(sed -n '/^ops/,/^uns/p' <<<"$output" | grep -c '  1  Parameter  opset1')" -eq 2 ]
    run_apart irrun --check text.xml
    [ "$status" -eq 69 ]
}

@test "--check: silent when all is well, 69 with every op that is lacking" {
    run_apart irrun --check "$data/sum.xml"
    [ "$status" -eq 0 ]
    [ "$output$stderr" = "" ]
    run_apart irrun --check "$data/twice_open.xml"
    [ "$status" -eq 0 ]
    run_apart irrun --check "$data/lacking.xml"
    [ "$status" -eq 69 ]
    [[ $stderr == "$data/lacking.xml:"*Frobnicate*Defenestrate* ]]
    run_apart irrun "$data/lacking.xml" --random
    [ "$status" -eq 69 ]
}

@test "--check looks at the inputs too, and writes nothing" {
    run_apart irrun --check "$data/sum.xml" -i five.npy -o y.npy
    [ "$status" -eq 0 ]
    [ ! -e y.npy ]
    run_apart irrun --check "$data/twice.xml" -i five.npy
    [ "$status" -eq 65 ]
    run_apart irrun --check "$data/twice.xml" --expect=nothing=five.npy
    [ "$status" -eq 2 ]
}

@test "--stats says everything on standard error" {
    run_apart irrun "$data/sum.xml" -i five.npy -n 100 --reset=10 -o csv:- -s
    [ "$status" -eq 0 ]
    [ "$output" = 30 ]
    local word
    for word in load plan "first iteration" min p50 p90 p95 p99 p99.9 max mean sd iterations/s CPU/wall gemm precision \
        "weights mapped" "weights packed" arena state "peak RSS"; do
        [[ $stderr == *"$word "* ]]
    done
    [[ $stderr == *"iterations         100"* ]]
    [[ $stderr == *"resets             9 (--reset=10)"* ]]
    # One thread takes no more CPU time than has passed; the clocks of the two differ a little.
    awk '$1 == "CPU/wall" { found = $2 <= 1.3 } END { exit !found }' <<<"$stderr"
}

@test "--stats explains an iteration that took more than 5 times the median" {
    { npy '<f4' '100000, 2' && head -c 800000 /dev/zero; } >zeros.npy
    irrun "$data/twice_open.xml" -i zeros.npy -n 200 -o none: -s -r r.json 2>stats
    cat stats
    grep -qE '^  slowest +iteration [0-9]+, [0-9.]+ times p50: .*(page fault|context switch|steal|no known cause)' stats
    # The first touches the memory of the values, and is the slowest unless another process interferes.
    jq -e '.latency_s | .max > 5 * .p50 and (.slowest | .iteration > 0 or .page_faults > 0)' r.json
    jq -e '.latency_s.slowest | keys | length == 10' r.json
    irrun "$data/sum.xml" -n 1 --random -o none: -s 2>stats # is its own median
    [ "$(grep -c slowest stats)" -eq 0 ]
}

@test "--stats and --profile warn if the iterations did not have the CPU" {
    local how pid
    for how in "-s -r r.json" --profile; do
        # shellcheck disable=SC2086 # words
        "$IRRUN" "$data/sum.xml" --random --duration=1 -o none: $how 2>stats &
        pid=$!
        sleep 0.3
        kill -STOP "$pid"
        sleep 0.6
        kill -CONT "$pid"
        wait "$pid"
        grep -qE '^irrun: warning: the iterations had a CPU for at most [0-9]+ % of the time: ' stats
    done
    jq -e '.warnings[0] | test("had a CPU")' r.json
}

@test "-v says what was chosen, on standard error only" {
    run_apart irrun "$data/sum.xml" -i five.npy -o csv:- -v
    [ "$(numbers <<<"$output")" = "1 3 6 10 15" ]
    [[ $stderr == *'input "x": f32 [1] from five.npy, record by record'* ]]
    [[ $stderr == *"1 of 1 outputs to - as csv"* ]]
    [[ $stderr == *"gemm auto"* ]]
    [ "$(grep -vc '^irrun: ' <<<"$stderr")" -eq 0 ]
}

@test "numbers do not depend on the locale" {
    mkdir locales
    german() {
        LOCPATH=$PWD/locales LC_ALL=de_DE.UTF-8 "$@"
    }
    localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 2>/dev/null || status=$?
    [ "$(german "$(type -P printf)" '%.1f' 1,5 2>/dev/null)" = "1,5" ] ||
        skip "localedef cannot make a locale with a decimal comma"
    printf '1.5,2.25\n' >x.csv
    [ "$(german "$IRRUN" "$data/twice.xml" -i x.csv -o csv:-)" = "3,4.5" ]
    [ "$(german "$IRRUN" "$data/twice.xml" -i x.csv | tail -n 1)" = "3 4.5" ]
    german "$IRRUN" "$data/twice.xml" -i x.csv --expect=csv:- --atol=0.5 <<<"3.25,4.25"
    [ "$(german "$IRRUN" "$data/twice.xml" '--random=uniform(0.5,0.5)' -o csv:-)" = "1,1" ]
}
