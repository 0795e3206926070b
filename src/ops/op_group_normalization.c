/* GroupNormalization-12: normalizes each group of channels of a batch element to mean 0 and
 * variance 1, then applies a scale and a bias per channel.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ops/op.h"

enum { DATA, SCALE, BIAS };

struct group_attrs {
    int64_t num_groups;
    double epsilon;
};

struct group_state {
    size_t n_batches, n_groups, n_channels; /* n_channels: of a group */
    size_t n_inner;                         /* of a channel */
    reduce_fn *sum, *sum_of_squared_deviations;
    affine_fn *affine;
};

static const struct attr_def attr_table[] = {
    ATTR(struct group_attrs, num_groups, NULL),
    ATTR(struct group_attrs, epsilon, NULL),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_FLOAT, .same = 1},
    {"scale", .types = TYPES_FLOAT, .same = 1},
    {"bias", .types = TYPES_FLOAT, .same = 1},
};

static bool infer(struct infer *infer)
{
    const struct group_attrs *attrs = infer->attrs;
    struct group_state *state = infer->state;
    const struct irrun_shape *data = &infer->in[DATA]->shape;
    if (data->rank < 2)
        return infer_fail_input(infer, DATA, "at least 2 dimensions: batch and channels");
    int64_t n_channels = data->dims[1];
    for (uint32_t i = SCALE; i <= BIAS; i++) {
        const struct irrun_shape *shape = &infer->in[i]->shape;
        if (shape->rank != 1 || shape->dims[0] != n_channels)
            return infer_fail_input(infer, i, "a number for each of %lld channels",
                                    (long long)n_channels);
    }
    if (attrs->num_groups < 1 || n_channels % attrs->num_groups != 0)
        return infer_fail(infer, "num_groups is %lld, which does not divide %lld channels",
                          (long long)attrs->num_groups, (long long)n_channels);
    if (!infer_output(infer, 0, infer->in[DATA]->dtype, data))
        return false;
    if (shape_n_elements(data) == 0)
        return true;
    state->n_batches = (size_t)data->dims[0];
    state->n_groups = (size_t)attrs->num_groups;
    state->n_channels = (size_t)(n_channels / attrs->num_groups);
    state->n_inner = (size_t)shape_product(data, 2, data->rank);
    return true;
}

static bool prepare(struct prepare *prepare)
{
    struct group_state *state = prepare->state;
    enum irrun_dtype dtype = prepare->in[DATA]->dtype;
    const struct kernels *kernels = prepare->kernels;
    state->sum = reduce_choose(kernels->reduce, REDUCE_SUM, dtype);
    state->sum_of_squared_deviations =
        reduce_choose(kernels->reduce, REDUCE_SUM_OF_SQUARED_DEVIATIONS, dtype);
    state->affine = dtype == IRRUN_F32 ? kernels->affine->f32 : kernels->affine->f64;
    return true;
}

/* Normalizes group i, counted over all batch elements. */
static void normalize_group(const struct step *step, size_t i)
{
    const struct group_state *state = step->state;
    enum irrun_dtype dtype = step->in[DATA]->dtype;
    size_t n = state->n_channels * state->n_inner, first = i % state->n_groups * state->n_channels;
    const void *in = tensor_at(step->in[DATA], i * n);
    union accumulator sum = {.f64 = 0}, deviations = {.f64 = 0};
    state->sum(&(struct reduction){.n_rows = 1, .n = n}, in, &sum);
    double mean = sum.f64 / (double)n;
    state->sum_of_squared_deviations(&(struct reduction){.n_rows = 1, .n = n, .centers = &mean}, in,
                                     &deviations);
    double epsilon = ((const struct group_attrs *)step->op->attrs)->epsilon;
    double scale = 1 / sqrt(deviations.f64 / (double)n + epsilon);
    for (size_t c = 0; c < state->n_channels; c++) {
        struct affine affine = {
            .center = mean,
            .scale = scale * element_as_f64(dtype, step->in[SCALE]->data, first + c),
            .shift = element_as_f64(dtype, step->in[BIAS]->data, first + c),
        };
        size_t at = i * n + c * state->n_inner;
        state->affine(&affine, tensor_at(step->in[DATA], at), tensor_at(step->out[0], at),
                      state->n_inner);
    }
}

static void run(const struct step *step)
{
    const struct group_state *state = step->state;
    for (size_t i = 0; i < state->n_batches * state->n_groups; i++)
        normalize_group(step, i);
}

const struct op_def op_group_normalization = {
    .type = "GroupNormalization",
    .opset = 12,
    .flags = OP_IN_PLACE,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct group_attrs),
    .state_size = sizeof(struct group_state),
    .infer = infer,
    .prepare = prepare,
    .compute = run,
};
