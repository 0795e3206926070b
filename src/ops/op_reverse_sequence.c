/* ReverseSequence-1: for each index i of batch_axis, reverses the first seq_lengths[i] items along
 * seq_axis and copies the others.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ops/indexing.h"

enum { DATA, LENGTHS };

struct reverse_sequence_attrs {
    int64_t batch_axis, seq_axis;
};

/* The shape of the data as [n_outer][n_first][n_between][n_second][n_inner]. The batch and sequence
 * axes are the first and second axis if is_batch_first is set, otherwise the reverse. */
struct reverse_sequence_state {
    size_t n_outer, n_first, n_between, n_second;
    size_t n_inner;
    bool is_batch_first;
    struct index_list lengths;
};

static const struct op_input_def inputs[] = {
    {.name = "data", .types = TYPES_ANY},
    {.name = "seq_lengths", .types = TYPES_INTEGER},
};

static const struct attr_def attr_table[] = {
    ATTR(struct reverse_sequence_attrs, batch_axis, "0"),
    ATTR(struct reverse_sequence_attrs, seq_axis, "1"),
};

static bool infer(struct infer *infer)
{
    const struct reverse_sequence_attrs *attrs = infer->attrs;
    struct reverse_sequence_state *state = infer->state;
    const struct irrun_shape *shape = &infer->in[DATA]->shape;
    const struct irrun_shape *lengths = &infer->in[LENGTHS]->shape;
    uint32_t batch_axis, seq_axis;
    if (shape->rank < 2)
        return infer_fail_input(infer, DATA, "a batch axis and a sequence axis");
    if (!infer_axis(infer, attrs->batch_axis, shape->rank, &batch_axis) ||
        !infer_axis(infer, attrs->seq_axis, shape->rank, &seq_axis))
        return false;
    if (batch_axis == seq_axis)
        return infer_fail(infer, "batch_axis and seq_axis are both %u", batch_axis);
    if (lengths->rank != 1 || lengths->dims[0] != shape->dims[batch_axis])
        return infer_fail_input(infer, LENGTHS, "[%lld], the batch of input 0 (data)",
                                (long long)shape->dims[batch_axis]);
    uint32_t first = batch_axis < seq_axis ? batch_axis : seq_axis;
    uint32_t second = batch_axis < seq_axis ? seq_axis : batch_axis;
    *state = (struct reverse_sequence_state){
        .n_outer = (size_t)shape_product(shape, 0, first),
        .n_first = (size_t)shape->dims[first],
        .n_between = (size_t)shape_product(shape, first + 1, second),
        .n_second = (size_t)shape->dims[second],
        .n_inner = (size_t)shape_product(shape, second + 1, shape->rank),
        .is_batch_first = batch_axis < seq_axis,
    };
    return infer_output(infer, 0, infer->in[DATA]->dtype, shape);
}

static bool resolve(const struct step *step, int64_t *lengths, struct irrun_error *err)
{
    const struct reverse_sequence_state *state = step->state;
    const struct irrun_tensor *given = step->in[LENGTHS];
    size_t n_items = state->is_batch_first ? state->n_second : state->n_first;
    size_t batch = (size_t)given->shape.dims[0];
    elements_as_i64(given->dtype, given->data, 0, batch, lengths);
    for (size_t b = 0; b < batch; b++)
        if (lengths[b] < 0 || lengths[b] > (int64_t)n_items)
            return step_fail(step, err, IRRUN_DATA,
                             "seq_lengths[%zu] is %lld, outside 0 ... %zu, the length of the "
                             "sequence axis",
                             b, (long long)lengths[b], n_items);
    return true;
}

static bool prepare(struct prepare *prepare)
{
    struct reverse_sequence_state *state = prepare->state;
    size_t batch = (size_t)prepare->in[LENGTHS]->shape.dims[0];
    return index_list_prepare(prepare, LENGTHS, batch, resolve, &state->lengths);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct reverse_sequence_state *state = step->state;
    const int64_t *lengths = index_list_get(step, &state->lengths, err);
    const unsigned char *data = step->in[DATA]->data;
    unsigned char *out = step->out[0]->data;
    size_t item_bytes = state->n_inner * dtype_size(step->in[DATA]->dtype);
    size_t n_rows = state->n_outer * state->n_first * state->n_between;
    if (!lengths)
        return false;
    if (shape_n_elements(&step->out[0]->shape) == 0)
        return true;
    for (size_t row = 0; row < n_rows; row++) {
        size_t first = row / state->n_between % state->n_first;
        for (size_t second = 0; second < state->n_second; second++) {
            size_t b = state->is_batch_first ? first : second;
            size_t t = state->is_batch_first ? second : first;
            size_t length = (size_t)lengths[b];
            size_t from_t = t < length ? length - 1 - t : t;
            size_t to = row * state->n_second + second, from = to + from_t - t;
            if (!state->is_batch_first)
                from = to + (from_t - t) * state->n_between * state->n_second;
            memcpy(out + to * item_bytes, data + from * item_bytes, item_bytes);
        }
    }
    return true;
}

const struct op_def op_reverse_sequence = {
    .type = "ReverseSequence",
    .opset = 1,
    .flags = OP_DATA_MOVEMENT,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct reverse_sequence_attrs),
    .state_size = sizeof(struct reverse_sequence_state),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};
