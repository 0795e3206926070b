#!/usr/bin/env bats
# scripts/compare-reports and scripts/plot-report: what is made of reports.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    command -v python3 >/dev/null || skip "python3 is not there"
    compare=("$root/scripts/compare-reports")
}

# report FILE SCALE SEED: a report with 400 samples around 1 ms, times SCALE.
report() {
    perl -e '
        my ($scale, $state) = @ARGV;
        my @samples = map { $state = ($state * 1103515245 + 12345) % 2147483648;
                            $scale * (1e-3 + 1e-4 * $state / 2147483648) } 1 .. 400;
        print "{\"schema\":\"irrun.report/1\",\"model\":{\"xml\":\"m/model.xml\"},\"host\":{},\"time_s\":{\"load\":0.5},",
              "\"memory_bytes\":{\"peak_rss\":1048576},\"latency_s\":{\"samples\":[", join(",", @samples), "]}}";
    ' "$2" "$3" >"$1"
}

@test "compare-reports: a difference is told, or that there is none" {
    report a.json 1 1
    report b.json 1 2
    report c.json 1.1 3
    run_apart "${compare[@]}" a.json b.json --fail-above=1%
    [ "$status" -eq 0 ]
    [[ $output == *"A: a.json (1 run, 400 samples)"*"B: b.json (1 run, 400 samples)"* ]]
    [ "$(grep -c 'no difference that can be told' <<<"$output")" -eq 4 ]
    [[ $output == *"peak RSS"*"1.0 MB"* ]]
    [[ $stderr == *"with one run of a side"* ]]
    run_apart "${compare[@]}" a.json c.json
    [ "$status" -eq 0 ]
    [ "$(grep -cE '^(p50|p90|p99|mean) .* slower$' <<<"$output")" -eq 4 ]
    grep -qE '^mean +1\.05 ms +1\.1[56] ms +\+(9|10)\.[0-9] %  \[\+[89]\.[0-9], \+1[01]\.[0-9]\] slower$' <<<"$output"
    "${compare[@]}" c.json a.json | grep -qE '^p50 .* faster$'
    # the same numbers every time
    [ "$("${compare[@]}" a.json c.json 2>/dev/null)" = "$output" ]
}

@test "compare-reports --fail-above exits 1 if the difference is larger and can be told" {
    report a.json 1 1
    report c.json 1.1 3
    run_apart "${compare[@]}" --fail-above=5% a.json c.json
    [ "$status" -eq 1 ]
    [[ $stderr == *"c.json: p50 is "*" % slower, the limit is 5 %"* ]]
    "${compare[@]}" --fail-above=20% a.json c.json
    "${compare[@]}" --fail-above=5% c.json a.json
    run_apart "${compare[@]}" --fail-above=5% --stat=mean a.json a.json c.json
    [ "$status" -eq 1 ]
    [ "$(grep -c '^B: ' <<<"$output")" -eq 2 ]
}

@test "compare-reports pools the runs of a side" {
    report a1.json 1 1
    report a2.json 1.1 2
    report b1.json 1.02 3
    report b2.json 1.12 4
    run_apart "${compare[@]}" a1.json a2.json -- b1.json b2.json --fail-above=1%
    [ "$status" -eq 0 ] # the runs of a side differ by more than the sides
    [[ $output == *"A: a1.json, a2.json (2 runs, 800 samples)"* ]]
    grep -qE '^mean .* no difference that can be told$' <<<"$output"
    [ "$stderr" = "" ]
}

@test "compare-reports: reports that cannot be used" {
    report a.json 1 1
    local words arguments
    while IFS='|' read -r words arguments; do
        read -ra arguments <<<"$arguments"
        run_apart "${compare[@]}" "${arguments[@]}"
        echo "$words: $stderr"
        [ "$status" -eq 2 ]
        [ "$output" = "" ]
        [[ $stderr == *"error: "*"$words"* ]]
    done <<'END'
needs reports of two sides|a.json
nosuch.json: No such file|a.json nosuch.json
unknown option --nosuch|--nosuch=1 a.json a.json
--stat=max: use one of p50, p90, p99, mean|--stat=max a.json a.json
needs reports of two sides|a.json --
could not convert|--fail-above=much a.json a.json
END
    irrun "$data/sum.xml" --random -n 20 -o none: -r plain.json
    run_apart "${compare[@]}" a.json plain.json
    [ "$status" -eq 2 ]
    [[ $stderr == *"plain.json: has no samples; irrun adds them with --samples"* ]]
    echo '[]' >list.json
    run_apart "${compare[@]}" a.json list.json
    [ "$status" -eq 2 ]
    [[ $stderr == *"list.json: not a report of irrun"* ]]
    irrun "$data/sum.xml" --random -n 20 -o none: --samples -r real.json
    "${compare[@]}" real.json real.json
}

# draws FILE COUNT WORD...: an SVG that a parser takes, with so many titles of this kind and these words.
draws() {
    "$root/scripts/plot-report" "$1" >picture.svg
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' picture.svg
    [ "$(grep -c 'class="title"' picture.svg)" -eq "$2" ]
    local word
    for word in "${@:3}"; do
        grep -qF "$word" picture.svg
    done
}

@test "plot-report draws iterations, a histogram, operators and the time line of a trace" {
    local model=$root/models/lstm_tagger/model.xml
    irrun "$model" --random -n 50 --samples --profile --report=r.json -o none: 2>/dev/null
    draws r.json 3 'time of the iterations: p50' 'histogram' 'LSTMSequence lstm' 'outside ops' 'prefers-color-scheme: dark'
    irrun "$model" --random -n 50 --samples --report=r.json -o none:
    draws r.json 2 histogram
    irrun "$model" --random -n 3 --trace=t.json -o none:
    draws t.json 1 'time line of ' '>LSTMSequence</text>' '>job 0</text>' '<title>LSTMSequence lstm: '
    printf '%s\tt.npy\n' a b c >list
    npy '<f4' '3, 1' 1 2 3 >t.npy
    irrun "$data/sum.xml" --manifest=list --jobs=2 --trace=t.json -o none:
    draws t.json 1 '>job '
}

@test "plot-report draws a part of a benchmark, with a bar for each model and number of threads" {
    cat >b.json <<'END'
{"models": {"machine": "a CPU", "date": "2026-01-02", "results": [
 {"model": "slow", "runs": [{"threads": 1, "ratio": 0.8}, {"threads": 2, "ratio": 0.4}]},
 {"model": "fast", "runs": [{"threads": 1, "ratio": 8.0}, {"threads": 2, "ratio": 9.5}]}]}}
END
    "$root/scripts/plot-report" b.json models >picture.svg
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' picture.svg
    [ "$(grep -c '<title>' picture.svg)" -eq 4 ]
    grep -qF 'as fast as OpenVINO: a CPU, 2026-01-02' picture.svg
    grep -qF '<title>fast, 2 threads: 9.50</title>' picture.svg
    [ "$(grep -n '>fast<' picture.svg | cut -d: -f1)" -lt "$(grep -n '>slow<' picture.svg | cut -d: -f1)" ]
    # the scale begins at a half: a bar below it has the least width
    grep -q 'width="0.30" height="8.00" class="k1"><title>slow, 2' picture.svg
    run_apart "$root/scripts/plot-report" b.json ops
    [ "$status" -eq 2 ]
    [[ $stderr == *"b.json: no results of ops"* ]]
}

@test "plot-report: files that it cannot draw" {
    irrun "$data/sum.xml" --random -n 5 --report=r.json
    run_apart "$root/scripts/plot-report" r.json
    [ "$status" -eq 2 ]
    [ "$output" = "" ]
    [[ $stderr == *"r.json: nothing to draw; run irrun with --samples or --profile"* ]]
    echo '[1]' >bad.json
    run_apart "$root/scripts/plot-report" bad.json
    [ "$status" -eq 2 ]
    [[ $stderr == *"bad.json: not a report, trace or benchmark of irrun"* ]]
    run_apart "$root/scripts/plot-report" nosuch.json
    [ "$status" -eq 2 ]
    [[ $stderr == *"nosuch.json: No such file"* ]]
}
