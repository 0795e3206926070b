#!/usr/bin/env bats
# What the recurrent ops and Select say to models and records that are wrong: which input, which
# dimension, which element of the batch, and where to look. The models are cases with one change.
# SPDX-License-Identifier: Apache-2.0

setup() {
    root=$(realpath "$BATS_TEST_DIRNAME/../..")
    cd "${BATS_TEST_TMPDIR:=$(mktemp -d)}" || return
    IRRUN=${IRRUN:-$root/build/irrun}
}

# take CASE [SED-COMMAND...]: the model of a case, changed; its inputs stay where they are.
take() {
    local case=$root/tests/cases/$1
    shift
    cp "$case"/model.* .
    inputs=$case/in.npz
    cp model.xml before.xml
    for command; do
        sed -i -e "$command" model.xml
    done
    [ $# -eq 0 ] || ! cmp -s before.xml model.xml
}

run_model() {
    run "$IRRUN" model.xml -i "$inputs" -o none:
}

says() {
    [[ $output == *"$1"* ]] || {
        printf 'expected: %s\nsaid: %s\n' "$1" "$output" >&2
        return 1
    }
}

@test "LSTMSequence: a wrong weight is told by its dimension and its producer" {
    take lstm_sequence/forward 's/shape="1, 16, 3"/shape="1, 12, 4"/'
    run_model
    [ "$status" -eq 65 ]
    says 'input 4 (W) is f32 [1,12,4], expected [1,16,3] = [directions, 4 gates * hidden_size, input size of X]'
    says 'dimension 1, 4 gates * hidden_size, differs'
    says 'input 4 (W) comes from Const'
    says 'input 0 (X) is f32 [2,5,3] and comes from Parameter "X"'
}

@test "LSTMSequence: a wrong hidden_size" {
    take lstm_sequence/forward 's/hidden_size="4"/hidden_size="5"/'
    run_model
    [ "$status" -eq 65 ]
    says 'input 1 (initial_hidden_state) is f32 [2,1,4], expected [2,1,5] = [batch of X, directions, hidden_size]'
    take lstm_sequence/forward 's/hidden_size="4"/hidden_size="0"/'
    run_model
    [ "$status" -eq 65 ]
    says 'hidden_size is 0'
    take lstm_sequence/forward 's/hidden_size="4"/hidden_size="9223372036854775807"/'
    run_model
    [ "$status" -eq 65 ]
}

@test "LSTMSequence: a direction that the weights do not have, or that does not exist" {
    take lstm_sequence/forward 's/direction="forward"/direction="bidirectional"/'
    run_model
    [ "$status" -eq 65 ]
    says 'dimension 1, directions, differs'
    take lstm_sequence/forward 's/direction="forward"/direction="sideways"/'
    run_model
    [ "$status" -eq 65 ]
    says 'attribute direction is "sideways": expected one of forward|reverse|bidirectional'
}

@test "LSTMSequence: an activation that does not exist, and lists of the wrong length" {
    take lstm_sequence/forward 's/activations="sigmoid, tanh, tanh"/activations="sigmoid, softsign, tanh"/'
    run_model
    [ "$status" -eq 65 ]
    says 'activation "softsign" does not exist, expected sigmoid, tanh, relu or hardsigmoid'
    take lstm_sequence/forward 's/activations="sigmoid, tanh, tanh"/activations="sigmoid, tanh"/'
    run_model
    [ "$status" -eq 65 ]
    says 'activations has 2 items, expected 3 (sigmoid, tanh, tanh by default)'
    take lstm_sequence/forward 's/activations="sigmoid, tanh, tanh"/activations="sigmoid, tanh, hardsigmoid"/' \
        's/activations_beta=""/activations_beta="0.5, 0.5"/'
    run_model
    [ "$status" -eq 65 ]
    says 'activations_beta has 2 items, but activation 2 is hardsigmoid and needs one'
}

@test "activations listed for both directions are taken if they are the same" {
    take lstm_sequence/bidirectional \
        's/activations="sigmoid, tanh, tanh"/activations="sigmoid, tanh, tanh, Sigmoid, tanh, tanh"/'
    run "$IRRUN" model.xml -i "$inputs" --expect "${inputs%/*}/out.npz" --atol 2e-6 --rtol 1e-5 -o none:
    [ "$status" -eq 0 ]
    take lstm_sequence/bidirectional \
        's/activations="sigmoid, tanh, tanh"/activations="sigmoid, tanh, tanh, sigmoid, tanh, relu"/'
    run_model
    [ "$status" -eq 65 ]
    says 'activations has 6 items, expected 3: item 5 is relu, but item 2 is tanh'
}

@test "GRUSequence: linear_before_reset wants four biases" {
    take gru_sequence/forward 's/linear_before_reset="false"/linear_before_reset="true"/'
    run_model
    [ "$status" -eq 65 ]
    says 'input 5 (B)'
    says '4 * hidden_size, for linear_before_reset'
}

@test "LSTMSequence of 2020 with five inputs is refused by name" {
    take lstm_sequence/v1_opset1 '/type="LSTMSequence"/,/<\/input>/{/<port id="[56]"/,/<\/port>/d}' \
        '/<edge .*to-port="[56]"/d'
    run_model
    [ "$status" -eq 69 ]
    says 'legacy LSTMSequence of 2020'
}

@test "Select: three shapes that do not fit are all shown" {
    take select/numpy_crossed 's/shape="1,3,1,2"/shape="1,2,1,2"/'
    run "$IRRUN" model.xml --random -o none:
    [ "$status" -eq 65 ]
    says 'input 0 (cond)'
    says 'input 1 (then)'
    says 'input 2 (else)'
}

@test "sequence_lengths: one above T, and one below 0, is told by its element" {
    take lstm_sequence/lengths_const_forward 's/shape="2,4,2"/shape="2,2,2"/'
    run "$IRRUN" model.xml --random -o none:
    [ "$status" -eq 65 ]
    says 'sequence_lengths[1] (of batch element 1) is 3, outside 0 ... 2, the number of time steps of X'
    take lstm_sequence/lengths_const_forward
    printf '\001\000\000\000\377\377\377\377' | dd of=model.bin conv=notrunc status=none
    run_model
    [ "$status" -eq 65 ]
    says 'sequence_lengths[1] (of batch element 1) is -1, outside 0 ... 4'
}

@test "no time step at all: Y is empty, the states are zero" {
    take lstm_sequence/lengths_const_forward 's/shape="2,4,2"/shape="2,0,2"/' 's/offset="0" size="8"/offset="100" size="8"/'
    head -c 100 model.bin >zeros.bin
    { cat zeros.bin; head -c 8 /dev/zero; tail -c +109 model.bin; } >new.bin
    mv new.bin model.bin
    run "$IRRUN" model.xml --random -o text:-
    [ "$status" -eq 0 ]
    says '[2,1,0,3]'
}

@test "LSTMCell-1: gates in an order of their own bring a warning, fico and ifco none, -q silences it" {
    cases=$root/tests/cases/lstm_cell
    for order in iofc icof ifoc; do
        run "$IRRUN" "$cases/v1_weights_$order/model.xml" -i "$cases/v1_weights_$order/in.npz" -o none:
        [ "$status" -eq 0 ]
        [[ $output == *"warning: LSTMCell "*"in the order $order given by weights_format"* ]]
    done
    run "$IRRUN" "$cases/v1_weights_ifco/model.xml" -i "$cases/v1_weights_ifco/in.npz" -o none:
    [ "$output" = "" ]
    run "$IRRUN" -q "$cases/v1_weights_iofc/model.xml" -i "$cases/v1_weights_iofc/in.npz" -o none:
    [ "$output" = "" ]
}
