#!/usr/bin/env bats
# --low-latency: models of whole sequences, a chunk at a time.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    cases=$root/tests/cases/low_latency
}

# in_chunks CASE FRAMES OUTPUT...: the outputs equal those of the whole run, bit for bit. An output
# without a frame for each of the input's is the last one's.
in_chunks() {
    local case=$1 frames=$2 options output last=()
    options=$(sed "s/N/$frames/g" "$case/chunks")
    # shellcheck disable=SC2086 # options are words
    irrun "$case/model.xml" -i "$case/in.npz" --low-latency $options -o chunks_%n.npy
    # shellcheck disable=SC2086
    irrun "$case/model.xml" -i "$case/in.npz" --low-latency ${options%%--concat*} --emit=last -o last_%n.npy
    irrun "$case/model.xml" -i "$case/in.npz" -o whole_%n.npy
    for output in whole_*.npy; do
        if cmp -s "$output" "last_${output#whole_}"; then
            last+=("$output")
        elif ! cmp "$output" "chunks_${output#whole_}"; then
            echo "$case: chunks of $frames"
            return 1
        fi
    done
    rm ./*.npy
    [ "${#last[@]}" -lt 3 ]
}

@test "chunks of 1, 3 and 7 frames equal the whole, bit for bit" {
    local case frames n=0
    for case in "$cases"/*/chunks; do
        for frames in 1 3 7; do
            in_chunks "${case%/chunks}" "$frames"
        done
        n=$((n + 1))
    done
    [ "$n" -ge 22 ]
}

@test "what would give other results is refused by name" {
    local case n=0
    for case in "$cases"/*/refused; do
        refused 69 "$(cat "$case")" "${case%/refused}/model.xml" --random --low-latency -o none:
        [[ $stderr == *"${case%/refused}/model.xml:"*": error: the model cannot run in chunks: "* ]]
        n=$((n + 1))
    done
    [ "$n" -ge 11 ]
    refused 69 "the model has no LSTMSequence, GRUSequence" "$data/sum.xml" --random --low-latency
    refused 69 "its recurrent ops have no state, or keep it in variables already" \
        "$root/tests/cases/lstm_sequence/chunks_with_variables/model.xml" --random --low-latency
}

@test "some ops by name" {
    local model=$cases/two_layers/model.xml
    usage_error 'no recurrent op is called "third"; the model has:' "$model" --random --low-latency=first,third
    [[ $stderr == *"  first"*"  second"* ]]
    usage_error 'no recurrent op is called "firs"' "$model" --random --low-latency=firs
    usage_error '--low-latency and --partial=pad cannot be used together' "$model" --random --low-latency --partial=pad
    usage_error '--low-latency= names no op' "$model" --random --low-latency=
    irrun "$model" --check --low-latency=second,first
    refused 69 'GRUSequence "second" does not keep its state' "$model" --random --low-latency=first -o none:
    refused 69 'GRUSequence "gru" starts from a state that depends on input "start"' \
        "$cases/refused_state_from_input/model.xml" --random --low-latency=gru -o none:
}

@test "the states are variables like any other" {
    local model=$cases/lstm/model.xml
    irrun "$model" --low-latency --inspect >text
    grep -qE '^  lstm.h  f32 \[1,1,4\]  init: ' text
    grep -qE '^  lstm.c  f32 \[1,1,4\]  init: ' text
    grep -qF 'x  f32 [1,1..,3]' text
    grep -qF 'y  f32 [1,1,?,4]' text
    irrun "$cases/iterator_cells/model.xml" --low-latency --inspect | grep -qE '^  cells.1  f32 \[1,4\]  init: 0 '
    irrun "$model" --low-latency --list-ops | tr '\t' ' ' | grep -q '^lstm.h ReadValue opset6 '
    grep -qF ', 64 of state' text
}

# run_lstm INPUT.csv OPTION...: a frame is a line; y as csv.
run_lstm() {
    irrun "$cases/lstm/model.xml" -i "$1" --low-latency -o y=csv:- -o h=none: -o c=none: "${@:2}"
}

@test "state files and resets, a frame a record" {
    seq 63 | awk '{ printf "%s%s", sin($1), NR % 3 ? "," : "\n" }' >all.csv
    head -n 7 all.csv >first.csv
    sed -n 8,14p all.csv >second.csv
    tail -n 7 all.csv >third.csv
    run_lstm all.csv --axis=1:21 >whole
    run_lstm all.csv --axis=1 | cmp - whole
    run_lstm first.csv --axis=1:7 --state-out=s.npz >one
    run_lstm second.csv --axis=1 --state-in=s.npz --state-out=t.npz >two
    run_lstm third.csv --axis=1 --state-in=t.npz >three
    cat one two three | cmp - whole
    run_lstm all.csv --axis=1 --reset=7 >reset
    run_lstm second.csv --axis=1 >two
    run_lstm third.csv --axis=1 >three
    cat one two three | cmp - reset
    refused 65 's.npz: ' "$cases/gru/model.xml" --low-latency --random --shape=x=1,2,3 --state-in=s.npz
    usage_error 'input "x" is [1,1..,3]' "$cases/lstm/model.xml" --low-latency --random --shape=x=1,0,3 -o none:
    run_apart irrun "$cases/lstm/model.xml" --low-latency --random --check -v
    [[ $stderr == *'LSTMSequence "lstm" (line '*') keeps its state from one record to the next'* ]]
}

@test "two ops of one name have variables of two names" {
    sed 's/name="second"/name="first"/' "$cases/two_layers/model.xml" >model.xml
    cmp -s model.xml "$cases/two_layers/model.xml" && false
    cp "$cases/two_layers/model.bin" model.bin
    irrun model.xml -i "$cases/two_layers/in.npz" --low-latency --axis=1:3 --concat=1 -o chunks.npy --state-out=s.npz
    irrun model.xml -i "$cases/two_layers/in.npz" -o whole.npy
    cmp chunks.npy whole.npy
    [ "$(unzip -Z1 s.npz | LC_ALL=C sort | lines)" = "first.2.h.npy first.c.npy first.h.npy" ]
}

@test "a stream without --axis: the hint says what cuts it" {
    seq 21 >x.csv
    answered 2 'input "x" is [1,1..,3], and x.csv contains no shape: the open dimensions are unknown' \
        '--axis=K:1 reads a frame of axis K for each record' "$cases/rnn/model.xml" -i x.csv --low-latency
}

@test "layers that nothing reads may be of unknown types" {
    local dead='<layer id="1000" name="dead" type="Nonsense" version="opset1"/>'
    dead+='<layer id="1001" name="read" type="ReadValue" version="opset6"><data variable_type="junk"/></layer>'
    sed "s|<layers>|<layers>$dead|" "$root/tests/cases/lstm_sequence/chunks_with_variables/model.xml" >carried.xml
    cp "$root/tests/cases/lstm_sequence/chunks_with_variables/model.bin" carried.bin
    refused 69 "keep it in variables already" carried.xml --random --low-latency
    sed "s|<layers>|<layers>$dead|" "$cases/rnn/model.xml" >model.xml
    cp "$cases/rnn/model.bin" model.bin
    irrun model.xml --low-latency --inspect | grep -qE '^  rnn.h  f32 '
}
