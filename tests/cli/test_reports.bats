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
