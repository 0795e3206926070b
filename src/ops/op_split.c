/* Split-1 and VariadicSplit-1: split an axis into pieces of equal or given lengths.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "ops/op.h"

enum { DATA, AXIS, LENGTHS };

struct split_attrs {
    int64_t num_splits;
};

/* The data has n_rows rows. Each row has one piece for every output. */
struct split_state {
    uint32_t axis;
    size_t n_rows, row_elements;
};

static const struct attr_def split_attr_table[] = {ATTR(struct split_attrs, num_splits, NULL)};

static const struct op_input_def split_inputs[] = {
    {"data", .types = TYPES_ANY},
    {"axis", .types = TYPES_INTEGER},
};

static const struct op_input_def variadic_split_inputs[] = {
    {"data", .types = TYPES_ANY},
    {"axis", .types = TYPES_INTEGER},
    {"split_lengths", .types = TYPES_INTEGER},
};

static bool infer_split_axis(struct infer *infer, int64_t *dim)
{
    const struct irrun_shape *data = &infer->in[DATA]->shape;
    struct split_state *state = infer->state;
    int64_t axis = 0;
    if (!infer_int(infer, AXIS, &axis) || !infer_axis(infer, axis, data->rank, &state->axis))
        return false;
    *dim = data->dims[state->axis];
    state->n_rows = (size_t)shape_product(data, 0, state->axis);
    state->row_elements = (size_t)shape_product(data, state->axis, data->rank);
    return true;
}

static bool set_piece(struct infer *infer, uint32_t i, int64_t length)
{
    struct irrun_shape out = infer->in[DATA]->shape;
    out.dims[((const struct split_state *)infer->state)->axis] = length;
    return infer_output(infer, i, infer->in[DATA]->dtype, &out);
}

static bool infer_split(struct infer *infer)
{
    int64_t n = ((const struct split_attrs *)infer->attrs)->num_splits, dim = 0;
    if (!infer_split_axis(infer, &dim))
        return false;
    if (n != infer->n_outputs)
        return infer_fail(infer, "num_splits is %lld, but the layer has %u outputs", (long long)n,
                          infer->n_outputs);
    if (dim % n != 0)
        return infer_fail_input(infer, DATA, "dimension %u to be a multiple of num_splits, %lld",
                                ((const struct split_state *)infer->state)->axis, (long long)n);
    for (uint32_t i = 0; i < infer->n_outputs; i++)
        if (!set_piece(infer, i, dim / n))
            return false;
    return true;
}

static bool infer_variadic_split(struct infer *infer)
{
    int64_t dim = 0, sum = 0;
    struct i64_list lengths = {0};
    if (!infer_split_axis(infer, &dim) || !infer_ints(infer, LENGTHS, &lengths))
        return false;
    if (lengths.n != infer->n_outputs)
        return infer_fail_input(infer, LENGTHS, "%u numbers, one for each output",
                                infer->n_outputs);
    uint32_t inferred = NO_ID;
    for (uint32_t i = 0; i < lengths.n; i++) {
        if (lengths.items[i] == -1 && inferred == NO_ID)
            inferred = i;
        else if (lengths.items[i] == -1)
            return infer_fail(infer, "split_lengths has -1 twice");
        else if (lengths.items[i] < 0)
            return infer_fail(infer, "split_lengths has %lld, expected 0 or more, or one -1",
                              (long long)lengths.items[i]);
        else if (!checked_add_i64(sum, lengths.items[i], &sum))
            return infer_fail(infer, "split_lengths are too large");
    }
    if (inferred == NO_ID ? sum != dim : sum > dim)
        return infer_fail(
            infer, "split_lengths add up to %lld, but dimension %u of the data is %lld",
            (long long)sum, ((const struct split_state *)infer->state)->axis, (long long)dim);
    for (uint32_t i = 0; i < lengths.n; i++)
        if (!set_piece(infer, i, i == inferred ? dim - sum : lengths.items[i]))
            return false;
    return true;
}

/* Implements op_def.views: a piece is contiguous if all dimensions before the axis are 1. */
static bool views(const struct infer *infer, int64_t *firsts)
{
    if (((const struct split_state *)infer->state)->n_rows != 1)
        return false;
    for (uint32_t i = 1; i < infer->n_outputs; i++)
        firsts[i] = firsts[i - 1] + shape_n_elements(&infer->out[i - 1].shape);
    for (uint32_t i = 0; i < infer->n_outputs; i++)
        if (shape_n_elements(&infer->out[i].shape) == 0)
            return false;
    return true;
}

static void run(const struct step *step)
{
    const struct split_state *state = step->state;
    size_t size = dtype_size(step->in[DATA]->dtype), row_bytes = state->row_elements * size;
    const char *from = step->in[DATA]->data;
    for (uint32_t i = 0; i < step->n_outputs && row_bytes > 0 && state->n_rows > 0; i++) {
        size_t piece_bytes = tensor_n_bytes(step->out[i]) / state->n_rows;
        char *to = step->out[i]->data;
        for (size_t row = 0; row < state->n_rows && piece_bytes > 0; row++)
            memcpy(to + row * piece_bytes, from + row * row_bytes, piece_bytes);
        from += piece_bytes;
    }
}

#define SPLIT_OP(object, type_, inputs_, infer_, ...)                                              \
    const struct op_def object = {.type = type_,                                                   \
                                  .opset = 1,                                                      \
                                  .flags = OP_DATA_MOVEMENT,                                       \
                                  OP_INPUTS(inputs_),                                              \
                                  .n_outputs = OUTPUTS_LISTED,                                     \
                                  .state_size = sizeof(struct split_state),                        \
                                  .infer = infer_,                                                 \
                                  .views = views,                                                  \
                                  .compute = run,                                                  \
                                  __VA_ARGS__}

SPLIT_OP(op_split, "Split", split_inputs, infer_split,
         OP_ATTRS(split_attr_table, struct split_attrs));
SPLIT_OP(op_variadic_split, "VariadicSplit", variadic_split_inputs, infer_variadic_split, );
