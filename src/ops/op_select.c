/* Select-1: out[i] = cond[i] ? then[i] : else[i]. With auto_broadcast numpy, all three broadcast
 * against each other; with pdpd, cond and else are aligned to the shape of then; with none, all
 * shapes are equal. Copies the bits of any type.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/select.h"
#include "ops/op.h"
#include "tensor/broadcast.h"

enum { CONDITION, THEN, ELSE };

struct select_attrs {
    int auto_broadcast;
    int64_t axis;
};

/* If at least this many bytes are read and written, stores bypass the caches. Measured with one
 * thread on Zen 4 with 32 MB of L3: bypassing costs 15 % below 9 MB, gains from 13 MB on, and is
 * twice as fast above the size of L3. Zen 3 is similar; Zen 5 gains from 1 MB on, but then the next
 * reader of the output misses the caches. With two threads the caches are twice as fast at 13 MB,
 * but not at 26 MB. */
#define STREAM_MIN_BYTES (12 << 20)
#define STREAM_SHARED_MIN_BYTES (20 << 20)

/* The minimum size of a kernel call whose stores bypass the caches: each call waits for its stores
 * at the end. */
#define STREAM_PIECE ((size_t)64 << 10)

/* The minimum size of work that is shared with the thread pool: about 6 us of work; waking a
 * sleeping thread takes 5 us. */
#define SPLIT_MIN_BYTES (512 << 10)

#define SELECT_ALIGNED 64 /* elements whose conditions fill a cache line */

struct select_state {
    struct broadcast loops; /* operands: out, cond, then, else; without the rows */
    int64_t n_rows;         /* length of the loop next to the innermost one */
    int64_t row_strides[4]; /* in elements */
    select_fn *select;
    size_t width; /* bytes of an element */
    bool is_streamed;
    size_t n_parts; /* for the thread pool */
};

/* A pass over all elements or a part of them. */
struct select_walk {
    const struct step *step;
    const struct select_state *state;
    int64_t begin[4]; /* the first element of each operand */
};

static const struct op_input_def inputs[] = {
    {.name = "cond", .types = TYPES_BOOLEAN},
    {.name = "then", .types = TYPES_ANY, .same = 1},
    {.name = "else", .types = TYPES_ANY, .same = 1},
    {.name = NULL},
};

static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct select_attrs, auto_broadcast, "numpy", AUTO_BROADCAST_CHOICES),
    ATTR_NAMED(struct select_attrs, axis, "auto_broadcast.auto_broadcast_axis", "0"),
    ATTR_END,
};

/* Infers the output with auto_broadcast numpy. In the specification only cond is broadcast to then
 * and else; OpenVINO and irrun broadcast all three against each other. */
static bool infer_numpy(struct infer *infer, struct irrun_shape *out)
{
    struct irrun_shape else_shape;
    char text[SHAPE_TEXT_BYTES];
    if (!infer_broadcast(infer, THEN, ELSE, AUTO_BROADCAST_NUMPY, 0, out, &else_shape))
        return false;
    return shape_broadcast(out, &infer->in[CONDITION]->shape, out) ||
           infer_fail_input(infer, CONDITION, "a shape that broadcasts with %s of then and else",
                            shape_format(out, text));
}

/* Removes the loop over rows, because the kernels run the two innermost loops. */
static void remove_row_loop(struct select_state *state)
{
    struct broadcast *loops = &state->loops;
    state->n_rows = 1;
    if (loops->rank == 0)
        return;
    loops->rank--;
    state->n_rows = loops->loops[loops->rank].n;
    for (size_t i = 0; i < 4; i++)
        state->row_strides[i] = loops->loops[loops->rank].strides[i];
}

static bool infer(struct infer *infer)
{
    const struct select_attrs *attrs = infer->attrs;
    struct select_state *state = infer->state;
    struct irrun_shape *out = &infer->out[0].shape;
    struct irrun_shape condition_shape = infer->in[CONDITION]->shape;
    struct irrun_shape else_shape = infer->in[ELSE]->shape;
    if (attrs->auto_broadcast == AUTO_BROADCAST_NUMPY) {
        if (!infer_numpy(infer, out))
            return false;
    } else if (!infer_broadcast(infer, THEN, ELSE, attrs->auto_broadcast, attrs->axis, out,
                                &else_shape) ||
               !infer_broadcast(infer, THEN, CONDITION, attrs->auto_broadcast, attrs->axis, out,
                                &condition_shape)) {
        return false;
    }
    struct irrun_shape shape = *out;
    if (!infer_output(infer, 0, infer->in[THEN]->dtype, &shape))
        return false;
    const struct irrun_shape *shapes[] = {out, &condition_shape, &infer->in[THEN]->shape,
                                          &else_shape};
    if (!broadcast_plan(&state->loops, 4, shapes, infer->arena, infer->err))
        return false;
    remove_row_loop(state);
    return true;
}

/* Makes the step fusable if it is small and in one row. */
static void choose_fusable(struct prepare *prepare, const struct select_state *state)
{
    const int64_t *strides = state->loops.inner_strides;
    if (state->loops.rank > 0 || state->n_rows != 1 || state->n_parts > 1 || state->is_streamed)
        return;
    if (prepare->out[0]->dtype == IRRUN_F32)
        prepare->made.fusable = (struct fusable){.code = FUSED_SELECT,
                                                 .scalars = (strides[1] == 0 ? 1U : 0) |
                                                            (strides[2] == 0 ? 1U << THEN : 0) |
                                                            (strides[3] == 0 ? 1U << ELSE : 0),
                                                 .n = (size_t)state->loops.n_inner};
}

static bool prepare(struct prepare *prepare)
{
    const struct kernels *kernels = prepare->kernels;
    struct select_state *state = prepare->state;
    state->width = dtype_size(prepare->out[0]->dtype);
    state->select = state->width == 1   ? kernels->select_x8
                    : state->width == 2 ? kernels->select_x16
                    : state->width == 4 ? kernels->select_x32
                                        : kernels->select_x64;
    double n_bytes = (double)tensor_n_bytes(prepare->out[0]); /* read and written */
    for (uint32_t i = 0; i < 3; i++)
        n_bytes += (double)tensor_n_bytes(prepare->in[i]);
    state->n_parts = n_bytes >= SPLIT_MIN_BYTES ? thread_pool_n_threads(prepare->pool) : 1;
    state->is_streamed =
        n_bytes >= (state->n_parts > 1 ? STREAM_SHARED_MIN_BYTES : STREAM_MIN_BYTES) &&
        (size_t)state->loops.n_inner >= STREAM_PIECE / state->width / (size_t)state->n_rows;
    choose_fusable(prepare, state);
    return true;
}

static bool select_piece(void *context, const int64_t *offsets, size_t n)
{
    const struct select_walk *walk = context;
    const struct select_state *state = walk->state;
    const int64_t *strides = state->loops.inner_strides, *rows = state->row_strides;
    struct irrun_tensor *const *in = walk->step->in;
    size_t at[4];
    for (size_t i = 0; i < 4; i++)
        at[i] = (size_t)(walk->begin[i] + offsets[i]) * (i == 1 ? 1 : state->width);
    state->select(&(struct select_run){
        .n = n,
        .n_rows = (size_t)state->n_rows,
        .condition = (const unsigned char *)in[CONDITION]->data + at[1],
        .then_values = (const unsigned char *)in[THEN]->data + at[2],
        .else_values = (const unsigned char *)in[ELSE]->data + at[3],
        .out = (unsigned char *)walk->step->out[0]->data + at[0],
        .condition_stride = (size_t)strides[1],
        .then_stride = (size_t)strides[2],
        .else_stride = (size_t)strides[3],
        .condition_row = (size_t)rows[1],
        .then_row = (size_t)rows[2],
        .else_row = (size_t)rows[3],
        .is_streamed = state->is_streamed,
    });
    return true;
}

/* A copy of the state, whose outermost loop can be shortened. */
struct select_part_state {
    struct select_state state;
    struct broadcast_loop loops[IRRUN_MAX_RANK];
};

/* Returns the length of the outermost loop, and sets the stride of each operand in it. */
static int64_t *find_outermost(struct select_part_state *copy, const int64_t **strides)
{
    struct select_state *state = &copy->state;
    struct broadcast *loops = &state->loops;
    if (loops->rank > 0) {
        memcpy(copy->loops, loops->loops, loops->rank * sizeof copy->loops[0]);
        loops->loops = copy->loops;
        *strides = copy->loops[0].strides;
        return &copy->loops[0].n;
    }
    *strides = state->n_rows > 1 ? state->row_strides : loops->inner_strides;
    return state->n_rows > 1 ? &state->n_rows : &loops->n_inner;
}

/* Runs one of n_parts of the outermost loop. A single row is divided at cache lines. */
static void select_part(void *context, size_t part, size_t n_parts)
{
    const struct step *step = context;
    struct select_part_state copy;
    struct select_walk walk = {.step = step, .state = &copy.state};
    const int64_t *strides;
    copy.state = *(const struct select_state *)step->state;
    int64_t *n = find_outermost(&copy, &strides);
    size_t unit = n == &copy.state.loops.n_inner ? SELECT_ALIGNED : 1;
    size_t n_units = ((size_t)*n + unit - 1) / unit;
    int64_t begin = (int64_t)(n_units * part / n_parts * unit);
    int64_t end = (int64_t)(n_units * (part + 1) / n_parts * unit);
    *n = (end < *n ? end : *n) - begin;
    if (*n <= 0)
        return;
    for (size_t i = 0; i < 4; i++)
        walk.begin[i] = begin * strides[i];
    broadcast_walk(&copy.state.loops, select_piece, &walk);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct select_state *state = step->state;
    struct select_walk walk = {.step = step, .state = state};
    (void)err;
    if (state->n_parts == 1)
        return broadcast_walk(&state->loops, select_piece, &walk);
    thread_pool_run(step->pool, select_part, (void *)step, state->n_parts);
    return true;
}

const struct op_def op_select = {
    .type = "Select",
    .opset = 1,
    .flags = OP_DATA_MOVEMENT | OP_IN_PLACE,
    .inputs = inputs,
    .n_outputs = 1,
    OP_ATTRS(attr_table, struct select_attrs),
    .state_size = sizeof(struct select_state),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};
