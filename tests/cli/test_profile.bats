#!/usr/bin/env bats
# --profile: where the time goes, on standard error and in the report. --trace: when, as trace events.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    cases=$root/tests/cases
}

# profiled MODEL ARGUMENT...: the table, without its times: calls, depth of the indentation, type, line and names.
profiled() {
    irrun "$@" -q -o none: --profile 2>&1 >/dev/null | sed -nE '3,$s/^ *[^ ]+ +[^ ]+ +[^ ]+ +([^ ]+) +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+  ( *)(.*)/\1 \2\3/p' |
        tr -s ' '
}

@test "--profile has a line for every step: calls, type, line, names; outside ops; the total" {
    profiled "$data/sum.xml" --random -n 7 | sort >got
    sort >want <<'END'
1 ReadValue 10 read
7 Add 14 add
7 Assign 19 save
- outside ops
- total
END
    diff want got
    run_apart irrun "$data/sum.xml" --random -n 7 --profile
    [ "$output" = "$(irrun "$data/sum.xml" --random -n 7)" ]
    [[ $stderr == *" thread, can do "*" GFLOP/s, and read "*" GB/s from 16.0 KB"* ]]
}

@test "--profile: ops that run as one step are one line that names them" {
    profiled "$data/joined.xml" --random -n 5 | grep -x '5 Multiply+Abs+Add 6 Multiply + Abs + Add'
    [ "$(profiled "$data/joined.xml" --random -n 5 --no-fuse | grep -c '^5 ')" -eq 3 ]
    local model=$root/models/lstm_tagger/model.xml
    profiled "$model" --random -n 5 | grep '^5 MatMul+Add 289 MatMul_[0-9]* + Add_'
}

@test "--profile: bodies are indented under their Loop and If, and are part of its time" {
    local model=$cases/loop/nested
    profiled "$model/model.xml" -i "$model/in.npz" >got
    grep -xE '1 Loop 30 Loop_4' got
    grep -xE '3 Loop 75 Loop_3' got
    grep -xE '6 Multiply\+Add 112 Multiply_2 \+ Add_4' got
    irrun "$model/model.xml" -i "$model/in.npz" -o none: --profile 2>&1 | grep -E '    Multiply\+Add +112'
    irrun "$model/model.xml" -i "$model/in.npz" --profile --report=r.json 2>/dev/null
    jq -e '[.ops[] | .depth] == [0, 1, 2, 1]' r.json
    jq -e '.ops[0] | .time_s >= .in_bodies_s and .in_bodies_s > 0' r.json
    jq -e '.ops[1].time_s + .ops[3].time_s - .ops[0].in_bodies_s | fabs < 1e-9' r.json
    jq -e '.ops[0].flops == .ops[1].flops + .ops[3].flops' r.json
    model=$cases/if/state_in_branch
    profiled "$model/model.xml" -i "$model/in.npz" | grep -x '6 If 19 If_2'
    model=$cases/loop/endless_from_data # its passes run before its shape is known
    irrun "$model/model.xml" -i "$model/in.npz" --profile --report=r.json 2>/dev/null
    jq -e '.ops[0] | .members[0].type == "Loop" and .time_s >= .in_bodies_s and .in_bodies_s > 0' r.json
}

@test "--profile: planning for a shape that changes has a line of its own" {
    local model=$root/models/tiny_transformer/model.xml shapes=('--shape=tokens=1,1' '--shape=beam_idx=1')
    profiled "$model" --random "${shapes[@]}" -n 5 | grep -x '4 planning' # the first is made before
    profiled "$model" --random "${shapes[@]}" -n 5 --warmup=2 | grep -x '5 planning' # back to its shapes, too
    irrun "$model" --random "${shapes[@]}" -n 5 -o none: --profile --report=r.json 2>/dev/null
    jq -e '.profile | .plans == 4 and .planning_s > 0' r.json
    jq -e '([.ops[] | select(.depth == 0) | .time_s] | add) + .profile.planning_s + .profile.outside_ops_s - .profile.total_s | fabs < 1e-9' r.json
    [ "$(profiled "$data/sum.xml" --random -n 5 | grep -c planning)" -eq 0 ]
}

@test "--dot with --profile runs, and prints the graph with the shares of the time" {
    local model=$root/models/lstm_tagger/model.xml
    run_apart irrun "$model" --random -n 20 --dot --profile
    [ "$status" -eq 0 ]
    [[ $stderr == *" total"* ]]
    # but for the shares and their colors, it is the graph without
    diff <(sed -E 's/\\n[0-9.]+ %//; s/, fillcolor="[0-9. ]+"\]/]/' <<<"$output") <(irrun --dot "$model")
    grep -qE '^  n14 \[label="lstm\\nLSTMSequence\\n[0-9.]+ %", fillcolor="0\.08 0\.[0-9]+ 1\.000"\];$' <<<"$output"
    awk -F'\\\\n' '/ %"/ { sum += $NF } END { exit !(sum > 20 && sum < 101) }' <<<"$output"
    ! command -v dot >/dev/null || dot -Tsvg <<<"$output" >picture.svg
    # blocks that repeat add up, bodies have their own shares
    irrun "$root/models/tiny_transformer/model.xml" --random --shape=tokens=1,8 --shape=beam_idx=1 -n 3 --dot --profile 2>/dev/null |
        awk '/ %"/ { n++ } END { exit n < 20 }'
    irrun "$cases/loop/nested/model.xml" -i "$cases/loop/nested/in.npz" --dot --profile -o y.npz 2>/dev/null |
        grep -qE 'Add_4\\nMultiply, Add\\n[0-9.]+ %"'
    [ -e y.npz ]
    usage_error "-o and --dot write to standard output ('-')" "$model" --random --dot --profile -o text:-
    usage_error "--report and --dot write to standard output ('-')" "$model" --random --dot --profile -r -
    run_apart irrun - --random --dot --profile <"$data/sum.xml"
    [ "$status" -eq 2 ]
    [[ $stderr == *"reads the model twice"* ]]
}

@test "--profile=type adds up by type, without counting bodies twice" {
    local model=$cases/loop/nested
    run_apart irrun -q "$model/model.xml" -i "$model/in.npz" -o none: --profile=type
    [ "$(sed -n '3,$p' <<<"$stderr" | grep -v 'reading the clock' | awk '{ print $4, $9 }' | sort | tr '\n' ' ')" = \
        "- outside - total 3 Add 4 Loop 6 Multiply+Add " ]
    sed -n '3,$p' <<<"$stderr" | awk '/ total$/ { total = $1 } !/ total$|clock/ { sum += $1 } END { exit !(sum - total < 0.005 && total - sum < 0.005) }'
}

@test "--profile: the lines add up to the total, which is the time of the iterations" {
    irrun "$root/models/lstm_tagger/model.xml" --random -n 300 --warmup=3 --profile --report=r.json 2>/dev/null
    jq -e '([.ops[] | select(.depth == 0) | .time_s] | add) + .profile.planning_s + .profile.outside_ops_s - .profile.total_s | fabs < 1e-9' r.json
    jq -e '.profile.total_s * .throughput.iterations_per_s / .run.iterations - 1 | fabs < 1e-9' r.json
    jq -e '.profile.total_s < .time_s.total' r.json
    jq -e '[.ops[] | .calls] | max == 300' r.json # the warm-up is not in it
    jq -e '[.ops[] | .time_s] | . == (sort | reverse)' r.json
    jq -e '.profile | .peak_flops_per_s > 1e6 and .peak_bytes_per_s > 1e6 and .clock_s >= 0' r.json
    irrun "$data/sum.xml" --random --report=r.json
    jq -e 'has("ops") or has("profile") | not' r.json
}

@test "--profile counts the operations of products, convolutions and recurrent ops" {
    flops() { # family/case type: of one run
        irrun "$cases/$1/model.xml" -i "$cases/$1/in.npz" --no-fuse --profile --report=r.json >/dev/null 2>&1
        jq -r --arg type "$2" '[.ops[] | select(.members[0].type == $type) | .flops / .calls] | add' r.json
    }
    [ "$(flops matmul/batch_transpose_b MatMul)" = 240 ] # 2*3*4 sums of 5 products
    [ "$(flops matmul/transpose_a MatMul)" = 120 ]
    [ "$(flops convolution/conv2d Convolution)" = 4536 ]                                            # 3*7*6 sums of 2*3*3
    [ "$(flops group_convolution/two_groups_2d GroupConvolution)" = 768 ]                           # 2*2*3*4 of 2*2*2
    [ "$(flops convolution_backprop_data/conv2d ConvolutionBackpropData)" = 4320 ]                  # 5*4*6 in 3*3*2
    [ "$(flops group_convolution_backprop_data/groups_2d GroupConvolutionBackpropData)" = 4320 ]    # 10*4*3 in 3*2*3
    [ "$(flops lstm_sequence/bidirectional LSTMSequence)" = 4480 ]                                  # 2*5 steps, 2*16*(3+4)
    [ "$(flops lstm_cell/activations LSTMCell)" = 640 ]                                             # 2 times 20*(3+5)
    [ "$(flops scaled_dot_product_attention/causal ScaledDotProductAttention)" = 5880 ]             # 2*3*5*7*(8+6)
    [ "$(flops einsum/attention Einsum)" = 1440 ]                                                   # bqhd,bkhd: 2*3*4*5*6
    [ "$(flops einsum/ellipsis Einsum)" = 480 ]                                                     # ...ij,...jk: 2*5*3*4*2
    irrun "$cases/int8/chain/model.xml" --random -o none: --profile --report=r.json 2>/dev/null
    # 16*6*6 sums of 3*3*3, 16*6*6 of 3*3, 24*6*6 of 16, all on bytes
    jq -e '[.ops[] | select(.members[0].type == "Convolution") | .flops] | add == 69120' r.json
}

@test "--profile counts compressed weights as they are stored" {
    irrun "$cases/compressed/product_1_rows_u4/model.xml" -i "$cases/compressed/product_1_rows_u4/in.npz" \
        -o none: --profile --report=r.json 2>/dev/null
    # 41*96 codes and 41*3 zero points of u4, as many scales, 96 and 41 elements of f32
    jq -e '[.ops[] | select(.members[0].type == "MatMul") | .bytes] == [1968 + 61.5 + 492 + 384 + 164]' r.json
}

@test "--profile of several jobs and threads, and of a run that finds a difference" {
    printf '%s\n' a b c d | sed 's/.*/&\tvalue.npy/' >list
    npy '<f4' '3, 1' 1 2 3 >value.npy
    irrun "$data/sum.xml" --manifest=list --jobs=2 -j2 -o none: --profile --report=r.json 2>table
    jq -e '[.ops[] | select(.members[0].name == "add") | .calls] == [12]' r.json
    grep -q '^[^ ]*, 2 threads, can do' table
    npy '<f4' '1,' 5 >want.npy
    run_apart irrun "$data/sum.xml" -i value.npy -n 3 --expect=want.npy --profile
    [ "$status" -eq 1 ]
    [[ $stderr == *" total"* ]]
}

@test "--profile goes with no --fail-on-nan" {
    usage_error "--profile and --fail-on-nan cannot be used together" "$data/sum.xml" --random --profile --fail-on-nan
    usage_error "--trace writes a file, not standard output" "$data/sum.xml" --random --trace=- -o none:
    mkfifo pipe
    usage_error "--trace: 'pipe' is not a regular file" "$data/sum.xml" --random --trace=pipe -o none:
    usage_error "--profile takes op or type, not 'ops'" "$data/sum.xml" --random --profile=ops
}

# ---- --trace ---------------------------------------------------------------------------------------

# Whether the file is what trace viewers read: complete events, and the names of tracks.
is_trace() {
    jq -e 'all(.[]; (.ph == "M" and .name == "thread_name") or
                    (.ph == "X" and (.name | type) == "string" and .ts >= 0 and .dur >= 0 and .pid == 1 and .tid >= 0))' "$1"
}

@test "--trace has every step, iteration, read, write, plan and reset, in their order" {
    irrun "$root/models/lstm_tagger/model.xml" --random -n 20 --emit=all --reset=5 -o y.csv --trace=t.json
    irrun "$root/models/lstm_tagger/model.xml" --random -n 20 --emit=all --reset=5 -o want.csv
    cmp y.csv want.csv
    is_trace t.json
    jq -e '[.[] | select(.name == "iteration") | .args.number] == [range(20)]' t.json
    jq -e '[.[] | select(.name == "read" or .name == "write")] | length == 40' t.json
    jq -e '[.[] | select(.name == "reset") | .args.number] == [5, 10, 15]' t.json
    jq -e '[.[] | select(.name == "plan")] | length == 1' t.json
    jq -e '[.[] | select(.name == "lstm" and .cat == "LSTMSequence" and .args.line == 169)] | length == 20' t.json
    # the steps of an iteration are in it
    jq -e '(map(select(.name == "iteration"))[0]) as $i | map(select(.cat == "LSTMSequence"))[0] |
           .ts >= $i.ts and .ts + .dur <= $i.ts + $i.dur + 0.001' t.json
    jq -e '[.[] | select(.tid == 0 and (.name | IN("load", "sequence", "finish"))) | .name] == ["load", "sequence", "finish"]' t.json
}

# covers FILE.json: what is marked of the process, and of each sequence, adds up to its time but for 3 %. What another
# process takes of the CPU between two events is in neither.
covers() {
    jq -e '[.[] | select(.ph == "X" and .tid == 0)] as $x | ($x | map(.ts + .dur) | max) as $last |
           ($x | map(select(.name | IN("load", "sequence", "finish")) | .dur) | add) as $top |
           [$x[] | select(.name == "sequence")] as $s |
           [$x[] | select(.name | IN("plan", "read", "iteration", "write", "reset", "checkpoint")) |
             select(.ts >= $s[0].ts)] as $steps |
           [$x[] | select(.name == "trace" and .ts >= $s[0].ts) | .ts as $t |
             select(all($steps[]; $t < .ts or $t >= .ts + .dur))] as $between |
           ([$steps[], $between[] | .dur] | add) as $inner |
           $top <= $last * 1.000001 and $top >= 0.97 * $last and
           $inner <= $s[0].dur * 1.000001 and $inner >= 0.97 * $s[0].dur' "$1"
}

@test "--trace: the events add up to the time that passed" {
    local i
    for i in 1 2 3 4 5 6 7 8 9 10; do
        irrun "$root/models/tiny_transformer/model.xml" --random --shape=tokens=16,64 --shape=beam_idx=16 -n 100 --emit=all --reset -o logits=y.csv \
            --checkpoint=c --checkpoint-every=20 --trace=t.json 2>/dev/null
        is_trace t.json
        jq -e '[.[] | select(.name == "checkpoint") | .args.number] == [20, 40, 60, 80, 100]' t.json
        ! covers t.json || return 0
    done
    false
}

@test "--trace: a track for each job and thread; with --profile" {
    npy '<f4' '3, 1' 1 2 3 >value.npy
    printf '%s\tvalue.npy\n' a b c d e f >list
    irrun "$data/sum.xml" --manifest=list --jobs=2 -j2 -o none: --trace=t.json --profile=type 2>table
    is_trace t.json
    jq -e '[.[] | select(.ph == "M") | .args.name] == ["job 0", "job 0 thread 1", "job 1", "job 1 thread 1"]' t.json
    jq -e '[.[] | select(.name == "add")] | length == 18' t.json
    grep -q ' total$' table
    # what the second thread does lies in the step of the first
    local i
    for i in 1 2 3 4 5 6 7 8 9 10; do # the first does all where the CPUs are busy
        irrun "$root/models/tiny_transformer/model.xml" --random --shape=tokens=8,64 --shape=beam_idx=8 -n $((i * 40)) --reset -j2 -o none: --trace=t.json
        is_trace t.json
        ! jq -e '[.[] | select(.tid == 1 and .ph == "X" and .cat == "MatMul")] | length > 0' t.json || break
    done
    [ "$i" -lt 10 ]
    jq -e '[.[] | select(.ph == "X" and .cat == "MatMul")] | group_by(.tid) |
           (.[1][0]) as $part | any(.[0][]; .name == $part.name and
                                    .ts <= $part.ts and .ts + .dur + 0.001 >= $part.ts + $part.dur)' t.json
}

@test "--trace: what a signal or an error leaves is a whole file" {
    "$IRRUN" "$data/sum.xml" --random --duration=20 -o none: --trace=t.json &
    local process=$! i
    for ((i = 0; i < 100; i++)); do
        sleep 0.1
        [ "$(wc -c <t.json)" -lt 10000 ] || break
    done
    kill -TERM "$process"
    wait "$process" || [ $? -eq 143 ]
    is_trace t.json
    jq -e 'length > 100' t.json
    seq 5 >five.csv
    echo x >>five.csv
    refused 65 five.csv "$data/sum.xml" -i five.csv -o none: --trace=t.json
    is_trace t.json
    jq -e '[.[] | select(.name == "iteration")] | length == 5' t.json
}

@test "--trace: files that it cannot be" {
    usage_error "--trace: '/dev/null' is not a regular file" "$data/sum.xml" --random --trace=/dev/null
    usage_error "-o and --trace write to t.json" "$data/sum.xml" --random --trace=t.json -o csv:t.json
    usage_error "--trace and --fail-on-nan cannot be used together" "$data/sum.xml" --random --trace=t.json --fail-on-nan
    refused 73 missing/t.json "$data/sum.xml" --random --trace=missing/t.json
    irrun "$data/sum.xml" --check --trace=t.json
    irrun "$data/sum.xml" --random -n 0 --trace=t.json
    [ ! -e t.json ]
}
