#!/usr/bin/env bats
# --pace and --deadline. Nothing here depends on the speed of the machine: times are only ever at
# least so long, and deadlines are hours or a nanosecond.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets the names
load common

setup() {
    common_setup
    seq 12 | xargs -n 2 >x.csv # twice_open.xml takes [?,2]
    paced=("$data/twice_open.xml" -i x.csv --axis=0:2 -o csv:y.csv)
}

# The words of the report about the deadline.
late() {
    jq -c '.deadline | [.records, .late, .late_in_a_row]' r.json
}

@test "--deadline counts what comes later" {
    irrun "${paced[@]}" --deadline=10000 --report=r.json
    [ "$(late)" = '[3,0,0]' ]
    [ "$(jq -c '.deadline | [.late_by_max_s, .late_by_mean_s]' r.json)" = '[0,0]' ]
    irrun "${paced[@]}" --deadline=1e-9 --report=r.json
    [ "$(late)" = '[3,3,3]' ]
    jq -e '.deadline | .late_by_max_s > 0 and .late_by_mean_s > 0 and .late_by_mean_s <= .late_by_max_s' r.json
    irrun "${paced[@]}" --report=r.json
    jq -e '.deadline == null' r.json
    irrun "${paced[@]}" -s --deadline=1e-9 2>stats
    grep -qx 'late               3 of 3 (deadline 1 ns)' stats
    grep -qx '  in a row         3' stats
    irrun "${paced[@]}" -s --deadline=1e4 2>stats
    grep -qx 'late               0 of 3 (deadline 10000 s)' stats
    [ "$(grep -c "in a row" stats)" -eq 0 ]
}

@test "late results are a warning where nothing else tells of them" {
    local late="irrun: warning: --deadline: 3 of 3 results came later than 1 ns, by at most "
    run_apart irrun "${paced[@]}" --deadline=1e-9
    [ "$status" -eq 0 ]
    [[ $stderr == "$late"*s ]]
    run_apart irrun "${paced[@]}" --deadline=1e-9 -s
    [[ $stderr != *warning:* ]]
    local quiet
    for quiet in "-q --deadline=1e-9" "--report=r.json --deadline=1e-9" --deadline=10000; do
        # shellcheck disable=SC2086 # several options
        run_apart irrun "${paced[@]}" $quiet
        [ "$status$stderr" = 0 ]
    done
}

@test "--deadline=SEC,fail is exit status 1, and the outputs stay" {
    irrun "${paced[@]}" --deadline=10000,fail
    rm y.csv
    refused 1 "--deadline: 3 of 3 results came later than 1 ns, by at most " "${paced[@]}" --deadline=1e-9,fail
    [ "$(wc -l <y.csv)" -eq 6 ]
    printf 'one\tx.csv\ntwo\tx.csv\n' | sed 's/x.csv/x=x.csv/' >list
    refused 1 "--deadline: 6 of 6 results" "$data/twice_open.xml" --manifest=list --axis=0:2 -o csv:y.csv \
        --jobs=2 --deadline=1e-9,fail
}

@test "--pace takes the time of life, and the outputs are the same" {
    irrun "${paced[@]}"
    cp y.csv want.csv
    irrun "${paced[@]}" --pace --rate=20 -s --report=r.json 2>stats
    cmp y.csv want.csv
    jq -e '.time_s.total >= 0.3' r.json # three records of a tenth of a second
    jq -e '.latency_s.min < 0.1 and .throughput.real_time_factor < 1' r.json
    [ "$(jq .deadline.deadline_s r.json)" = 0.1 ]
    # A stream that stops for three seconds: the second record is late, from its time in life on.
    { head -n 2 x.csv && sleep 3 && tail -n 4 x.csv; } |
        irrun "$data/twice_open.xml" -i csv:- --axis=0:2 -o csv:y.csv --pace --rate=20 --report=r.json \
            --deadline=1 --samples
    cmp y.csv want.csv
    jq -e '.latency_s.samples | length == 3 and .[1] >= 1' r.json
    jq -e '.deadline.late >= 1' r.json
}

@test "a signal does not wait for the next record" {
    irrun "${paced[@]}"
    mv y.csv want.csv
    # A record every 2,000 seconds. Not by timeout(1), which passes a signal on twice: the second ends the run at once.
    "$IRRUN" "${paced[@]}" --pace --rate=0.001 --timeout=200 --checkpoint=ck --checkpoint-every=1 2>stderr &
    local pid=$! i
    for ((i = 0; i < 1200; i++)); do
        [ ! -e y.csv.partial ] || break
        sleep 0.05
    done
    kill -TERM $pid # signals were deferred before the file appeared
    status=0
    wait $pid || status=$?
    [ "$status" -eq 75 ]
    [[ $(cat stderr) == "irrun: error: interrupted after 1 iterations"* ]]
    irrun "${paced[@]}" --checkpoint=ck --checkpoint-every=1
    cmp y.csv want.csv
}

@test "--pace and --deadline that cannot be" {
    answered 2 '--pace needs --rate and --axis' \
        '--rate=16000 --axis=1:512 gives 512 of 16000 samples to each record' "$data/twice_open.xml" -i x.csv --pace
    usage_error '--pace needs --rate and --axis' "${paced[@]}" --pace
    usage_error "--deadline: '0' is not SEC[,fail] with seconds above 0" "${paced[@]}" --deadline=0
    usage_error "--deadline: '1,fial' is not SEC[,fail]" "${paced[@]}" --deadline=1,fial
    usage_error "--deadline: 'nan' is not SEC[,fail]" "${paced[@]}" --deadline=nan
    usage_error "--deadline: '1,' is not SEC[,fail]" "${paced[@]}" --deadline=1,
}
