#!/usr/bin/env bats
# What runs otherwise than it is written: -v says so, --no-fuse turns it off, and both agree.
# SPDX-License-Identifier: Apache-2.0

load common

cases=$BATS_TEST_DIRNAME/../cases/tensor_iterator

notes_of() {
    "$IRRUN" -v "$@" -o none: 2>&1 >/dev/null | grep 'runs as one sequence' || [ $? -eq 1 ]
}

@test "a cell written out over time runs as a sequence, and -v says so" {
    for name in lstm_forward lstm_reverse lstm_time_first lstm_reshape gru_lbr rnn_forward; do
        run notes_of "$cases/$name/model.xml" -i "$cases/$name/in.npz"
        [[ $output == *'TensorIterator "TensorIterator_'*'runs as one sequence op instead of a loop over its '* ]]
    done
}

@test "a cell whose axis is counted from the end runs as a sequence" {
    : "${BATS_TEST_TMPDIR:=$(mktemp -d)}"
    sed 's/axis="1"/axis="-2"/' "$cases/gru_forward/model.xml" >"$BATS_TEST_TMPDIR/model.xml"
    cp "$cases/gru_forward/model.bin" "$BATS_TEST_TMPDIR"
    grep -c 'axis="-2"' "$BATS_TEST_TMPDIR/model.xml"
    run notes_of "$BATS_TEST_TMPDIR/model.xml" -i "$cases/gru_forward/in.npz"
    [[ $output == *'runs as one sequence op instead of a loop over its GRUCell'* ]]
}

@test "a body that differs in the least runs as it is written" {
    n=0
    for directory in "$cases"/near_*; do
        run notes_of "$directory/model.xml" -i "$directory/in.npz"
        [ "$output" = "" ]
        n=$((n + 1))
    done
    [ "$n" -ge 5 ]
}

@test "--no-fuse runs it as written" {
    run notes_of --no-fuse "$cases/lstm_forward/model.xml" -i "$cases/lstm_forward/in.npz"
    [ "$output" = "" ]
}

@test "both ways give what is expected" {
    for arguments in --no-fuse --gemm=auto; do
        IRRUN_ARGS=$arguments run "$BATS_TEST_DIRNAME/../../scripts/run-cases.sh" "$cases"
        [ "$status" -eq 0 ]
    done
}

@test "neighbouring element-wise ops are fused, and -v says so" {
    model=$BATS_TEST_DIRNAME/data/joined.xml
    run "$IRRUN" -v "$model" --random -o none:
    [[ $output == *'plan: 1 step per iteration'* ]]
    [[ $output == *'plan: 3 element-wise ops are fused'* ]]
    run "$IRRUN" -v --no-fuse "$model" --random -o none:
    [[ $output == *'plan: 3 steps per iteration'* ]]
    [[ $output != *'joined'* ]]
}

@test "what follows a product is done with it, and -v says so" {
    model=$BATS_TEST_DIRNAME/../../models/lstm_tagger/model.xml
    run "$IRRUN" -v "$model" --random -o none:
    [[ $output == *'plan: 1 element-wise op is fused into the product before it'* ]]
    run "$IRRUN" -v --no-fuse "$model" --random -o none:
    [[ $output != *'into the product'* ]]
}

@test "ops that would only copy are omitted, and -v says so" {
    directory=$cases/../view/transpose
    run "$IRRUN" -v "$directory/model.xml" -i "$directory/in.npz" -o none:
    [[ $output == *'plan: 1 op that would only copy is omitted'* ]]
    run "$IRRUN" -v --no-fuse "$directory/model.xml" -i "$directory/in.npz" -o none:
    [[ $output != *'omitted'* ]]
}

@test "a Transpose in front of a product is part of it, and -v says so" {
    directory=$cases/../transposed_factor/rank_3
    run "$IRRUN" -v "$directory/model.xml" -i "$directory/in.npz" -o none:
    [[ $output == *'MatMul "product" (line '*') takes input 1 as it is before Transpose "turn"'* ]]
    [[ $output == *'plan: 1 step per iteration'* ]]
    run "$IRRUN" -v --no-fuse "$directory/model.xml" -i "$directory/in.npz" -o none:
    [[ $output == *'plan: 2 steps per iteration'* ]]
    [[ $output != *'as it is before'* ]]
}

@test "a normalization that is written out is one op, and -v says so" {
    for form in layer_power layer_two_differences layer_squared_difference layer_inverse_power layer_inverse \
        layer_inverse_of_power layer_f64 instance instance_outside rank_of_numbers numbers_of_f16 root_mean_square \
        root_mean_square_inverse root_mean_square_divide other_axes; do
        directory=$cases/../written_norm/$form
        run "$IRRUN" -v "$directory/model.xml" -i "$directory/in.npz" -o none:
        [[ $output == *'the normalization that ends in '*' is one op'* ]]
    done
    run "$IRRUN" -v --no-fuse "$directory/model.xml" -i "$directory/in.npz" -o none:
    [[ $output != *'normalization'* ]]
    run "$IRRUN" -v --fail-on-nan "$directory/model.xml" -i "$directory/in.npz" -o none:
    [[ $output != *'normalization'* ]]
    directory=$cases/../written_norm/without_axis
    run "$IRRUN" -v "$directory/model.xml" -i "$directory/in.npz" -o none:
    [[ $output != *'normalization'* ]]
}
