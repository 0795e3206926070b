#!/usr/bin/env bats
# Progress, colour, buffering, time limits, the report.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    unset NO_COLOR
    npy '<f4' '3, 2' 1 2 3 4 5 6 >three.npy
}

# on_terminal COMMAND...: standard error is a terminal; what it shows goes to standard output.
on_terminal() {
    TERM=xterm script -qec "$(printf '%q ' "$@") >/dev/null" /dev/null
}

@test "no progress in a pipe, none in the first second" {
    run_apart irrun "$data/sum.xml" --random --duration=1.5 -o none:
    [ "$stderr" = "" ]
    [ "$(on_terminal "$IRRUN" "$data/sum.xml" --random --duration=0.5 -o none:)" = "" ]
}

@test "a progress line on a terminal, with rate and time left, that goes away" {
    on_terminal "$IRRUN" "$data/sum.xml" --random --duration=1.6 -o none: >seen
    grep -q 'irrun: [0-9]* iterations, .*/s' seen
    [ "$(tail -c 4 seen)" = $'\r\033[K' ]
    on_terminal timeout 2 "$IRRUN" "$data/sum.xml" --random -n 100000000000 -o none: >seen ||
        [ $? -eq 124 ]
    grep -q ' %, [0-9]* s left' seen
}

@test "no progress for -q, --progress=never, NO_COLOR, TERM=dumb; plain lines on demand" {
    [ "$(on_terminal "$IRRUN" "$data/sum.xml" --random --duration=1.3 -o none: -q)" = "" ]
    [ "$(on_terminal "$IRRUN" "$data/sum.xml" --random --duration=1.3 -o none: --progress=never)" = "" ]
    [ "$(on_terminal env NO_COLOR=1 "$IRRUN" "$data/sum.xml" --random --duration=1.3 -o none:)" = "" ]
    [ "$(on_terminal env TERM=dumb "$IRRUN" "$data/sum.xml" --random --duration=1.3 -o none:)" = "" ]
    run_apart irrun "$data/sum.xml" --random --duration=1.3 -o none: --progress=plain
    [[ $stderr =~ ^irrun:\ [0-9]+\ iterations,\ [0-9.e+]+/s$ ]]
}

@test "colour on a terminal only, or as asked" {
    run_apart irrun missing.xml
    [[ $stderr != *$'\033'* ]]
    run_apart irrun missing.xml --color=always
    [[ $stderr == *$'\033[1;31merror:\033[0m'* ]]
    run on_terminal "$IRRUN" missing.xml
    [ "$status" -eq 66 ]
    [[ $output == *$'\033'* ]]
    run on_terminal env NO_COLOR=1 "$IRRUN" missing.xml
    [ "$status" -eq 66 ]
    [[ $output == *error* && $output != *$'\033'* ]]
    run on_terminal "$IRRUN" missing.xml --color=never
    [ "$status" -eq 66 ]
    [[ $output == *error* && $output != *$'\033'* ]]
}

@test "text on a terminal is summarised, binary is refused" {
    npy '<f4' '4000, 2' $(seq 8000) >long.npy
    TERM=xterm script -qec "'$IRRUN' '$data/twice_open.xml' -i long.npy" /dev/null >seen
    [ "$(wc -l <seen)" -lt 20 ]
    grep -q '\.\.\.' seen
    [ "$(irrun "$data/twice_open.xml" -i long.npy | wc -l)" -eq 4001 ]
    TERM=xterm script -qec "'$IRRUN' '$data/twice_open.xml' -i long.npy -o npy:-; echo \"status \$?\"" /dev/null >seen
    grep -q 'status 2' seen
}

@test "--line-buffer: an answer comes before the next question" {
    mkfifo questions answers
    irrun "$data/twice.xml" -i csv:questions -o csv:- --line-buffer >answers &
    exec 8<answers 7>questions
    local answer
    echo 1,2 >&7
    read -r -t 5 answer <&8
    [ "$answer" = "2,4" ]
    echo 3,4 >&7
    read -r -t 5 answer <&8
    [ "$answer" = "6,8" ]
    exec 7>&-
    wait
    exec 8<&-
}

@test "--fsync changes no byte" {
    irrun "$data/twice.xml" -i three.npy -o a.npz
    irrun "$data/twice.xml" -i three.npy -o b.npz --fsync
    cmp a.npz b.npz
}

@test "--fsync asks the system for it" {
    type strace >/dev/null || skip "strace is not there"
    # Looking for leaks does not go together with being traced.
    export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0
    strace -f -e trace=fsync,fdatasync -o calls "$IRRUN" "$data/twice.xml" -i three.npy -o a.npz --fsync
    grep -q 'sync(' calls
    strace -f -e trace=fsync,fdatasync -o calls "$IRRUN" "$data/twice.xml" -i three.npy -o a.npz
    [ "$(grep -c 'sync(' calls)" -eq 0 ]
}

@test "--duration ends the run, cycling the records until then" {
    SECONDS=0
    run_apart irrun "$data/twice.xml" -i three.npy --duration=0.3 -s
    [ "$status" -eq 0 ]
    [ "$SECONDS" -le 2 ]
    [ "$(grep -c '^#' <<<"$output")" -eq 1 ] # the last record
    [ "$(sed -n 's/^iterations  *//p' <<<"$stderr")" -gt 1000 ]
    [ "$(irrun "$data/twice.xml" -i three.npy --duration=60 -n 2 --emit=all -o csv:- | wc -l)" -eq 2 ]
    [ "$(irrun "$data/sum.xml" --feed=sum=x --duration=0.1 -o csv:-)" = 0 ]
    run_apart irrun "$data/twice.xml" -i three.npy --duration=0
    [ "$status" -eq 2 ]
}

@test "--timeout gives up with 124 and leaves no file" {
    SECONDS=0
    run_apart irrun "$data/twice.xml" -i three.npy -n 1000000000000 --timeout=0.3 -o y.npy
    [ "$status" -eq 124 ]
    [ "$SECONDS" -le 2 ]
    [ "$stderr" = "irrun: error: timed out (--timeout)" ]
    [ ! -e y.npy ]
    [ -z "$(find . -name '.irrun*')" ]
    run_apart irrun "$data/twice.xml" -i csv:- --timeout=0.3 < <(sleep 3)
    [ "$status" -eq 124 ]
    run_apart irrun "$data/twice.xml" -i three.npy --timeout=60 -o none:
    [ "$status" -eq 0 ]
}

@test "--timeout counts from the start, whatever the process waits for" {
    mkfifo fifo
    gives_up() { # ARGUMENT...
        SECONDS=0
        run_apart timeout -s KILL 10 "$IRRUN" "$@" --timeout=0.3
        echo "irrun $*: $status"
        [ "$status" -eq 124 ]
        [ "$SECONDS" -le 3 ]
        [ "$stderr" = "irrun: error: timed out (--timeout)" ]
        nothing_left
    }
    # Nobody opens the other end.
    gives_up fifo -i three.npy
    gives_up --check fifo
    gives_up --inspect fifo
    gives_up "$data/twice.xml" -i csv:fifo
    gives_up "$data/twice.xml" -i npz:fifo
    gives_up "$data/twice.xml" --manifest=fifo -o none:
    gives_up "$data/twice.xml" -i three.npy -o csv:fifo
    gives_up "$data/twice.xml" -i three.npy --expect=csv:fifo
    gives_up "$data/sum.xml" --random --state-in=fifo
    # Somebody does, and writes nothing, or half a model.
    sleep 60 >fifo 3>&- &
    gives_up fifo -i three.npy
    gives_up "$data/twice.xml" --manifest=fifo -o none:
    kill $!
    { head -c 200 "$data/twice.xml" && exec sleep 60; } >fifo 3>&- &
    gives_up fifo -i three.npy
    kill $!
}

@test "--report has the keys that are promised" {
    irrun "$data/sum.xml" --random -n 50 --warmup=3 --reset=10 --seed=7 -r r.json
    [ "$(jq -r 'keys_unsorted | join(" ")' r.json)" = \
        "schema tool model host run time_s latency_s deadline throughput memory_bytes expect warnings" ]
    [ "$(jq -r '[.tool, .model, .host, .run, .time_s, .latency_s, .throughput, .memory_bytes | keys_unsorted | join(",")] | join(" ")' r.json)" = \
        "name,version,build xml,bin,ir_version,ops,variables,weights_bytes cpu,simd,threads,gemm,precision,quantized_products,blas iterations,warmup,records,sequences,resets,keys,keys_held,keys_spilled,batches,reset,seed,exit load,plan,first_iteration,total,cpu min,p50,p90,p95,p99,p99_9,max,mean,sd,slowest iterations_per_s,real_time_factor weights_mapped,weights_packed,arena,state,keys,peak_rss" ]
    [ "$(jq -c '[.schema, .run.iterations, .run.warmup, .run.records, .run.sequences, .run.resets, .run.reset, .run.seed, .run.exit, .model.variables, .throughput.real_time_factor]' r.json)" = \
        '["irrun.report/1",50,3,1,1,4,"10",7,0,1,null]' ]
    jq -e '.latency_s | .min <= .p50 and .p50 <= .p90 and .p90 <= .p95 and .p95 <= .p99 and .p99 <= .p99_9 and .p99_9 <= .max and .min <= .mean and .mean <= .max' r.json
    jq -e '.time_s | .load > 0 and .plan > 0 and .first_iteration > 0 and .total > .load' r.json
    jq -e '.memory_bytes.peak_rss > 100000' r.json
}

@test "--report=- leaves standard output to the report" {
    [ "$(irrun "$data/twice.xml" -i three.npy --report=- | jq .run.records)" -eq 3 ]
    run_apart irrun "$data/twice.xml" -i three.npy --report=- -o text:-
    [ "$status" -eq 2 ]
    run_apart irrun "$data/twice.xml" -i three.npy --report=y.npy -o y.npy
    [ "$status" -eq 2 ]
    status=0
    irrun "$data/twice.xml" -i three.npy --report=- >/dev/full 2>stderr || status=$?
    [ "$status" -eq 74 ]
}

@test "--samples adds every latency, in its order" {
    irrun "$data/twice.xml" -i three.npy --report=- --samples | jq -e '.latency_s | (.samples | length == 3 and min == 1 * min) and (.samples | max) == .max and .samples[0] != null'
    [ "$(irrun "$data/twice.xml" --random -n 1000 --report=- --samples | jq '.latency_s.samples | length')" -eq 1000 ]
    [ "$(irrun "$data/twice.xml" --random -n 10 --report=- | jq '.latency_s | has("samples")')" = false ]
}

@test "the report tells what --expect found, and the warnings" {
    npy '<f4' '3, 2' 2 4 6 8 10 13 >want.npy
    run_apart irrun "$data/twice.xml" -i three.npy --expect=want.npy -r r.json --reset
    [ "$status" -eq 1 ]
    [ "$(jq -c '[.run.exit, .expect[0].output, .expect[0].is_equal, .expect[0].elements, .expect[0].different, .expect[0].worst]' r.json)" = \
        '[1,"y",false,6,1,{"record":2,"index":[1],"got":12,"want":13}]' ]
    jq -e '.warnings[0] | test("no variable")' r.json
    run_apart irrun "$data/twice.xml" -i three.npy --expect=three.npy --atol=100 -r r.json
    [ "$(jq -c '[.expect[0].is_equal, .expect[0].worst]' r.json)" = '[true,null]' ]
}

@test "names with quotes and control characters stay JSON" {
    sed 's/names="y"/names="a\&quot;b\\c"/' "$data/twice.xml" >odd.xml
    npy '<f4' '3, 2' 2 4 6 8 10 12 >want.npy
    irrun odd.xml -i three.npy --expect=want.npy --report=- | jq -e '.expect[0].output == "a\"b\\c"'
}

@test "a warning cannot control the terminal" {
    sed $'s/name="x"/name="x\xc2\x9b31m"/' "$data/twice_any.xml" >odd.xml
    run_apart irrun odd.xml --check
    [[ $stderr == *'warning: input "x??31m" is '* ]]
}

@test "--rate adds the real-time factor" {
    raw $(seq 1000) >x.raw
    irrun "$data/twice.xml" -i x.raw --axis=0:2 --rate=16000 --report=- | jq -e '.throughput.real_time_factor > 0 and .throughput.real_time_factor < 1'
    run_apart irrun "$data/twice.xml" -i x.raw --axis=0:2 --rate=16000 -s -o none:
    [[ $stderr == *"real-time factor "* ]]
    run_apart irrun "$data/twice.xml" -i x.raw --rate=16000
    [ "$status" -eq 2 ]
}
