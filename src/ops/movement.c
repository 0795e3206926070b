/* Plans and runs the strided copy of ops that only move elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/movement.h"

void dense_strides(uint32_t rank, const int64_t *dims, int64_t *strides)
{
    int64_t stride = 1;
    for (uint32_t i = rank; i-- > 0; stride *= dims[i])
        strides[i] = stride;
}

void move_plan(struct move_state *state, uint32_t rank, const int64_t *dims,
               const int64_t *from_strides, int64_t from_offset)
{
    int64_t to_strides[STRIDED_COPY_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] == 0) { /* the product of the other dimensions may overflow */
            *state = (struct move_state){.copy.is_empty = true};
            return;
        }
    }
    dense_strides(rank, dims, to_strides);
    strided_copy_plan(&state->copy, rank, dims, from_strides, to_strides);
    state->from_offset = from_offset;
}

void move_plan_broadcast(struct move_state *state, const struct irrun_shape *in,
                         const struct irrun_shape *out)
{
    int64_t in_strides[IRRUN_MAX_RANK], strides[IRRUN_MAX_RANK];
    move_strides(in, in_strides);
    uint32_t n_missing = out->rank - in->rank;
    for (uint32_t i = 0; i < out->rank; i++) {
        bool is_broadcast = i < n_missing || in->dims[i - n_missing] == 1;
        strides[i] = is_broadcast ? 0 : in_strides[i - n_missing];
    }
    move_plan(state, out->rank, out->dims, strides, 0);
}

bool move_infer_transposed(struct infer *infer, const uint32_t order[IRRUN_MAX_RANK])
{
    const struct irrun_shape *in = &infer->in[0]->shape;
    struct irrun_shape out = {.rank = in->rank};
    int64_t in_strides[IRRUN_MAX_RANK], strides[IRRUN_MAX_RANK];
    move_strides(in, in_strides);
    for (uint32_t i = 0; i < in->rank; i++) {
        out.dims[i] = in->dims[order[i]];
        strides[i] = in_strides[order[i]];
    }
    move_plan(infer->state, out.rank, out.dims, strides, 0);
    return infer_output(infer, 0, infer->in[0]->dtype, &out);
}

bool move_views(const struct infer *infer, int64_t *firsts)
{
    const struct move_state *state = infer->state;
    const struct strided_copy *copy = &state->copy;
    firsts[0] = state->from_offset;
    return !copy->is_empty && (copy->rank == 0 || (copy->rank == 1 && copy->loops[0].from == 1));
}

/* Returns the index of the longest loop except the innermost, or 0 if there is only one loop. */
static uint32_t find_longest(const struct strided_copy *copy)
{
    uint32_t longest = 0;
    for (uint32_t i = 1; i + 1 < copy->rank; i++)
        if (copy->loops[i].n > copy->loops[longest].n)
            longest = i;
    return longest;
}

/* Copies iterations begin … end - 1 of the longest loop. */
static void run_units(const struct step *step, size_t begin, size_t end)
{
    const struct move_state *state = step->state;
    struct strided_copy part = state->copy;
    struct strided_loop *loop = &part.loops[find_longest(&part)];
    int64_t first = state->from_offset + (int64_t)begin * loop->from;
    loop->n = (int64_t)(end - begin);
    strided_copy_run(&part, dtype_size(step->in[0]->dtype), tensor_at(step->in[0], (size_t)first),
                     tensor_at(step->out[0], begin * (size_t)loop->to));
}

bool move_prepare(struct prepare *prepare)
{
    const struct strided_copy *copy = &((const struct move_state *)prepare->state)->copy;
    size_t n = copy->rank > 0 ? (size_t)copy->loops[find_longest(copy)].n : 1;
    double work = SHARE_ELEMENT_WORK * (double)shape_n_elements(&prepare->out[0]->shape);
    return prepare_sharing(prepare, run_units, n, work);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

void slice_bounds(int64_t dim, int64_t begin, int64_t end, int64_t step, int64_t *first, int64_t *n)
{
    begin += begin < 0 ? dim : 0;
    end += end < 0 ? dim : 0;
    int64_t distance;
    if (step > 0) {
        begin = clamp(begin, 0, dim);
        distance = clamp(end, 0, dim) - begin;
    } else {
        begin = clamp(begin, dim ? 0 : -1, dim - 1);
        distance = begin - clamp(end, -1, dim - 1);
        step = step == INT64_MIN ? INT64_MAX : -step;
    }
    *n = distance <= 0 ? 0 : 1 + (distance - 1) / step;
    *first = *n ? begin : 0;
}
