/* LRN-1: divides every element by a power of the sum of squares in a box around it. The box extends
 * (size - 1) / 2 to each side, as in OpenVINO, even if size is even.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/lrn.h"

#include <math.h>

#include "ops/indexing.h"

struct lrn_attrs {
    double alpha, beta, bias;
    int64_t size;
};

struct lrn_state {
    bool is_set[IRRUN_MAX_RANK];
    uint32_t n_axes, first_axis;
    size_t n_blocks; /* product of the dimensions before the first axis */
    size_t n;        /* elements per block */
};

static const struct attr_def attr_table[] = {
    ATTR(struct lrn_attrs, alpha, NULL),
    ATTR(struct lrn_attrs, beta, NULL),
    ATTR(struct lrn_attrs, bias, NULL),
    ATTR(struct lrn_attrs, size, NULL),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_FLOAT},
    {"axes", .types = TYPES_INTEGER},
};

static bool infer(struct infer *infer)
{
    struct lrn_state *state = infer->state;
    const struct irrun_shape *data = &infer->in[0]->shape;
    struct i64_list axes = {0};
    if (!infer_ints(infer, 1, &axes) || !infer_axes(infer, &axes, data->rank, state->is_set))
        return false;
    if (((const struct lrn_attrs *)infer->attrs)->size < 1)
        return infer_fail(infer, "size is %lld, expected a positive number",
                          (long long)((const struct lrn_attrs *)infer->attrs)->size);
    if (!infer_output(infer, 0, infer->in[0]->dtype, data))
        return false;
    if (shape_n_elements(data) == 0)
        return true;
    state->n_axes = axes.n;
    while (state->first_axis < data->rank && !state->is_set[state->first_axis])
        state->first_axis++;
    state->n_blocks = (size_t)shape_product(data, 0, state->first_axis);
    state->n = (size_t)shape_product(data, state->first_axis, data->rank);
    return true;
}

static bool prepare(struct prepare *prepare)
{
    const struct lrn_state *state = prepare->state;
    return prepare_scratch(prepare, state->n, 2 * sizeof(double));
}

/* Returns the sums of squares for a block. They are in the first or the second half of the scratch
 * memory. */
static const double *sum_squares(const struct step *step, const void *block, size_t radius)
{
    const struct lrn_state *state = step->state;
    const struct irrun_shape *shape = &step->in[0]->shape;
    double *sums = step->scratch, *spare = sums + state->n;
    lrn_square(step->in[0]->dtype, block, sums, state->n);
    for (uint32_t i = state->first_axis; i < shape->rank; i++) {
        if (!state->is_set[i])
            continue;
        lrn_add_neighbours(sums, spare, (size_t)shape_product(shape, state->first_axis, i),
                           (size_t)shape->dims[i], (size_t)shape_product(shape, i + 1, shape->rank),
                           radius);
        double *swapped = sums;
        sums = spare;
        spare = swapped;
    }
    return sums;
}

static void run(const struct step *step)
{
    const struct lrn_state *state = step->state;
    const struct lrn_attrs *attrs = step->op->attrs;
    struct lrn_power power = {
        .bias = attrs->bias,
        .scale = attrs->alpha / pow((double)attrs->size, state->n_axes),
        .beta = attrs->beta,
    };
    for (size_t i = 0; i < state->n_blocks; i++) {
        const void *in = tensor_at(step->in[0], i * state->n);
        const double *sums = sum_squares(step, in, (size_t)(attrs->size - 1) / 2);
        lrn_divide(step->in[0]->dtype, &power, sums, in, tensor_at(step->out[0], i * state->n),
                   state->n);
    }
}

const struct op_def op_lrn = {
    .type = "LRN",
    .opset = 1,
    .flags = OP_IN_PLACE,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct lrn_attrs),
    .state_size = sizeof(struct lrn_state),
    .infer = infer,
    .prepare = prepare,
    .compute = run,
};
