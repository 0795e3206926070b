/* ops: compares the tables of the ops with the attributes and numbers of inputs that the pages of
 * the specification require.
 *
 * Some attributes that the pages require are optional here: direction of the sequences (the
 * examples of the pages lack it), eps of MVN-1 (the page gives a default), and type and shape of a
 * ReadValue-6 (OpenVINO wrote none before 2023.1) and of a Const (the first IRs of version 10 have
 * them in its port).
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ops/op.h"

#define POOL "strides pads_begin pads_end kernel"
#define CONVOLUTION "strides pads_begin pads_end dilations"

/* Every other op requires no attribute. */
static const struct {
    const char *op, *attributes;
} required[] = {
    {"Assign-3", "variable_id"},
    {"Assign-6", "variable_id"},
    {"AvgPool-1", POOL " exclude-pad"},
    {"AvgPool-14", POOL " exclude-pad"},
    {"AvgPool-16", POOL " exclude-pad"},
    {"BatchNormInference-1", "epsilon"},
    {"BatchNormInference-5", "epsilon"},
    {"Clamp-1", "min max"},
    {"Concat-1", "axis"},
    {"Const-1", "offset size"},
    {"Convert-1", "destination_type"},
    {"Convolution-1", CONVOLUTION},
    {"ConvolutionBackpropData-1", CONVOLUTION},
    {"DepthToSpace-1", "mode"},
    {"Einsum-7", "equation"},
    {"Elu-1", "alpha"},
    {"Eye-9", "output_type"},
    {"FakeQuantize-1", "levels"},
    {"GRUCell-3", "hidden_size"},
    {"GRUSequence-5", "hidden_size"},
    {"GatherElements-6", "axis"},
    {"GroupConvolution-1", CONVOLUTION},
    {"GroupConvolutionBackpropData-1", CONVOLUTION},
    {"GroupNormalization-12", "num_groups epsilon"},
    {"ISTFT-16", "center normalized"},
    {"Interpolate-1", "mode axes"},
    {"Interpolate-4", "mode shape_calculation_mode"},
    {"Interpolate-11", "mode shape_calculation_mode"},
    {"LRN-1", "alpha beta bias size"},
    {"LSTMCell-1", "hidden_size"},
    {"LSTMCell-4", "hidden_size"},
    {"LSTMSequence-1", "hidden_size"},
    {"LSTMSequence-5", "hidden_size"},
    {"MVN-6", "normalize_variance eps eps_mode"},
    {"MaxPool-1", POOL},
    {"MaxPool-8", POOL},
    {"MaxPool-14", POOL},
    {"NormalizeL2-1", "eps eps_mode"},
    {"OneHot-1", "axis"},
    {"OneHot-16", "axis"},
    {"Pad-1", "pad_mode"},
    {"Pad-12", "pad_mode"},
    {"Parameter-1", "element_type shape"},
    {"RNNCell-1", "hidden_size"},
    {"RNNSequence-5", "hidden_size"},
    {"Range-4", "output_type"},
    {"ReadValue-3", "variable_id"},
    {"ReadValue-6", "variable_id"},
    {"Reshape-1", "special_zero"},
    {"Reverse-1", "mode"},
    {"STFT-15", "transpose_frames"},
    {"ScaledDotProductAttention-13", "causal"},
    {"SpaceToDepth-1", "mode"},
    {"Split-1", "num_splits"},
    {"StridedSlice-1", "begin_mask end_mask"},
    {"TopK-1", "axis mode sort"},
};

/* Every other op has as many inputs as its table names. LSTMSequence-1 also accepts five, the
 * legacy form, which it rejects later with its own message. */
static const struct {
    const char *op;
    unsigned n_min, n_max; /* n_max 0: any number */
} optional[] = {
    {"Broadcast-1", 2, 3},
    {"Broadcast-3", 2, 3},
    {"CTCGreedyDecoderSeqLen-6", 2, 3},
    {"Concat-1", 1, 0},
    {"ConvolutionBackpropData-1", 2, 3},
    {"CumSum-3", 1, 2},
    {"DFT-7", 2, 3},
    {"Einsum-7", 1, 0},
    {"EmbeddingBagOffsets-15", 3, 5},
    {"EmbeddingBagOffsetsSum-3", 3, 5},
    {"EmbeddingBagPacked-15", 2, 3},
    {"EmbeddingBagPackedSum-3", 2, 3},
    {"EmbeddingSegmentsSum-3", 4, 6},
    {"Eye-9", 3, 4},
    {"GRUCell-3", 4, 5},
    {"GroupConvolutionBackpropData-1", 2, 3},
    {"IDFT-7", 2, 3},
    {"IRDFT-9", 2, 3},
    {"ISTFT-16", 4, 5},
    {"If-8", 1, 0},
    {"Interpolate-4", 3, 4},
    {"Interpolate-11", 2, 3},
    {"LSTMCell-1", 5, 7},
    {"LSTMCell-4", 5, 6},
    {"LSTMSequence-1", 5, 8},
    {"Loop-5", 2, 0},
    {"Pad-1", 3, 4},
    {"Pad-12", 3, 4},
    {"RDFT-9", 2, 3},
    {"ReadValue-6", 0, 1},
    {"ScaledDotProductAttention-13", 3, 6},
    {"Slice-8", 4, 5},
    {"Squeeze-1", 1, 2},
    {"Squeeze-15", 1, 2},
    {"StridedSlice-1", 3, 4},
    {"Swish-4", 1, 2},
    {"TensorIterator-1", 0, 0},
    {"Unique-10", 1, 2},
};

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

static void every_required_attribute_is_required(void **state)
{
    (void)state;
    size_t n_found = 0;
    for (size_t i = 0; i < n_op_defs; i++) {
        const struct op_def *def = op_defs[i];
        struct text name = {0}, names = {0};
        text_add(&name, "%s-%d", def->type, def->opset);
        text_add(&names, "%s", "");
        for (uint32_t k = 0; k < def->n_attrs; k++)
            if (!def->attrs[k].default_text)
                text_add(&names, "%s%s", names.length ? " " : "", def->attrs[k].name);
        const char *expected = "";
        for (size_t k = 0; k < N_OF(required); k++)
            if (strcmp(required[k].op, name.data) == 0)
                expected = required[k].attributes;
        n_found += *expected != '\0';
        if (strcmp(names.data, expected) != 0)
            fail_test("%s requires \"%s\", expected \"%s\"\n", name.data, names.data, expected);
        text_free(&name);
        text_free(&names);
    }
    assert_int_equal(n_found, N_OF(required));
}

static void only_optional_inputs_may_be_absent(void **state)
{
    (void)state;
    size_t n_found = 0;
    for (size_t i = 0; i < n_op_defs; i++) {
        const struct op_def *def = op_defs[i];
        unsigned n_min = 0, n_max = 0;
        bool is_repeated = false;
        for (uint32_t k = 0; k < def->n_inputs; k++) {
            n_min += !def->inputs[k].is_optional;
            n_max++;
            is_repeated = is_repeated || def->inputs[k].is_repeated;
        }
        unsigned expected_min = n_max, expected_max = n_max;
        struct text name = {0};
        text_add(&name, "%s-%d", def->type, def->opset);
        for (size_t k = 0; k < N_OF(optional); k++) {
            if (strcmp(optional[k].op, name.data) != 0)
                continue;
            expected_min = optional[k].n_min;
            expected_max = optional[k].n_max;
            n_found++;
        }
        n_max = is_repeated ? 0 : n_max;
        if (n_min != expected_min || n_max != expected_max)
            fail_test("%s takes %u to %u inputs, expected %u to %u\n", name.data, n_min, n_max,
                      expected_min, expected_max);
        text_free(&name);
    }
    assert_int_equal(n_found, N_OF(optional));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_required_attribute_is_required),
        cmocka_unit_test(only_optional_inputs_may_be_absent),
    };
    return cmocka_run_group_tests_name("required", tests, NULL, NULL);
}
