/* Select-1: out[i] = cond[i] ? then[i] : else[i]. With auto_broadcast=numpy, all three inputs are
 * broadcast against each other; with pdpd, cond and else are broadcast to the shape of then; with
 * none, all shapes are equal. Copies bits, so the elements may have any type.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/select.h"
#include "ops/op_state.h"
#include "tensor/broadcast.h"

enum { CONDITION, THEN, ELSE };
/* The operands of the broadcast loops. */
enum { OUT_OPERAND, CONDITION_OPERAND, THEN_OPERAND, ELSE_OPERAND, N_OPERANDS };

struct select_attrs {
    int auto_broadcast;
    int64_t axis;
};

/* If at least this many bytes are read and written, stores bypass the caches. Measured with one
 * thread on Zen 4 with 32 MB of L3: bypassing is 15 % slower below 9 MB, faster from 13 MB on, and
 * twice as fast above the size of L3. Zen 3 is similar. On Zen 5 it is faster from 1 MB on, but the
 * next reader of the output then misses the caches. With two threads, ordinary stores are twice as
 * fast at 13 MB, but not at 26 MB. */
#define STREAM_MIN_BYTES (12 << 20)
#define STREAM_SHARED_MIN_BYTES (20 << 20)

/* The minimum size of a kernel call whose stores bypass the caches: each call waits for its stores
 * before it returns. */
#define STREAM_PIECE ((size_t)64 << 10)

/* The minimum size to use more than one thread: about 6 us of work. Waking a thread takes 5 us. */
#define SPLIT_MIN_BYTES (512 << 10)

_Static_assert(BROADCAST_UNIT == 64, "units must consist of whole cache lines of conditions");

struct select_state {
    struct broadcast loops; /* without the loop over rows */
    int64_t n_rows; /* iterations of the loop over rows, the one around the innermost loop */
    int64_t row_strides[N_OPERANDS]; /* in elements */
    select_fn *select;
    size_t width; /* bytes per element */
    bool is_streamed;
};

/* The arguments of select_piece. */
struct select_walk {
    const struct step *step;
    size_t n_rows;
};

static const struct op_input_def inputs[] = {
    {.name = "cond", .types = TYPES_BOOLEAN},
    {.name = "then", .types = TYPES_ANY, .same = 1},
    {.name = "else", .types = TYPES_ANY, .same = 1},
};

static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct select_attrs, auto_broadcast, "numpy", AUTO_BROADCAST_CHOICES),
    ATTR_NAMED(struct select_attrs, axis, "auto_broadcast.auto_broadcast_axis", "0"),
};

/* Infers the output for auto_broadcast=numpy. In the specification only cond is broadcast to then
 * and else; OpenVINO and irrun broadcast all three against each other. */
static bool infer_numpy(struct infer *infer, struct irrun_shape *out)
{
    struct irrun_shape else_shape;
    char text[SHAPE_TEXT_BYTES];
    if (!infer_broadcast(infer, THEN, ELSE, AUTO_BROADCAST_NUMPY, 0, out, &else_shape))
        return false;
    return shape_broadcast(out, &infer->in[CONDITION]->shape, out) ||
           infer_fail_input(infer, CONDITION,
                            "a shape that broadcasts with %s, the shape of then and else",
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
    for (size_t i = 0; i < N_OPERANDS; i++)
        state->row_strides[i] = loops->loops[loops->rank].strides[i];
}

static bool infer(struct infer *infer)
{
    const struct select_attrs *attrs = infer->attrs;
    struct select_state *state = infer->state;
    struct irrun_shape out;
    struct irrun_shape condition_shape = infer->in[CONDITION]->shape;
    struct irrun_shape else_shape = infer->in[ELSE]->shape;
    if (attrs->auto_broadcast == AUTO_BROADCAST_NUMPY) {
        if (!infer_numpy(infer, &out))
            return false;
    } else if (!infer_broadcast(infer, THEN, ELSE, attrs->auto_broadcast, attrs->axis, &out,
                                &else_shape) ||
               !infer_broadcast(infer, THEN, CONDITION, attrs->auto_broadcast, attrs->axis, &out,
                                &condition_shape)) {
        return false;
    }
    if (!infer_output(infer, 0, infer->in[THEN]->dtype, &out))
        return false;
    const struct irrun_shape *shapes[] = {&out, &condition_shape, &infer->in[THEN]->shape,
                                          &else_shape};
    if (!broadcast_plan(&state->loops, N_OPERANDS, shapes, infer->arena, infer->err))
        return false;
    remove_row_loop(state);
    return true;
}

/* Returns whether the loop over rows is the outermost one. */
static bool shares_rows(const struct select_state *state)
{
    return state->loops.rank == 0 && state->n_rows > 1;
}

/* Lets the step be fused with others if its elements form one row. */
static void choose_fusable(struct prepare *prepare, const struct select_state *state)
{
    const int64_t *strides = state->loops.inner_strides;
    if (state->loops.rank > 0 || state->n_rows != 1)
        return;
    if (prepare->out[0]->dtype == IRRUN_F32)
        prepare->made.fusable =
            (struct fusable){.code = FUSED_SELECT,
                             .scalars = (strides[CONDITION_OPERAND] == 0 ? 1U : 0) |
                                        (strides[THEN_OPERAND] == 0 ? 1U << THEN : 0) |
                                        (strides[ELSE_OPERAND] == 0 ? 1U << ELSE : 0),
                             .n = (size_t)state->loops.n_inner};
}

static bool select_piece(void *context, const int64_t *offsets, size_t n)
{
    const struct select_walk *walk = context;
    const struct select_state *state = walk->step->state;
    const int64_t *strides = state->loops.inner_strides, *rows = state->row_strides;
    struct irrun_tensor *const *in = walk->step->in;
    size_t at[N_OPERANDS];
    for (size_t i = 0; i < N_OPERANDS; i++)
        at[i] = (size_t)offsets[i] * (i == CONDITION_OPERAND ? 1 : state->width);
    state->select(&(struct select_run){
        .n = n,
        .n_rows = walk->n_rows,
        .condition = (const unsigned char *)in[CONDITION]->data + at[CONDITION_OPERAND],
        .then_values = (const unsigned char *)in[THEN]->data + at[THEN_OPERAND],
        .else_values = (const unsigned char *)in[ELSE]->data + at[ELSE_OPERAND],
        .out = (unsigned char *)walk->step->out[0]->data + at[OUT_OPERAND],
        .condition_stride = (size_t)strides[CONDITION_OPERAND],
        .then_stride = (size_t)strides[THEN_OPERAND],
        .else_stride = (size_t)strides[ELSE_OPERAND],
        .condition_row = (size_t)rows[CONDITION_OPERAND],
        .then_row = (size_t)rows[THEN_OPERAND],
        .else_row = (size_t)rows[ELSE_OPERAND],
        .is_streamed = state->is_streamed,
    });
    return true;
}

/* Computes rows begin … end - 1 if threads share rows; otherwise units begin … end - 1 of the
 * broadcast loops. */
static void run_units(const struct step *step, size_t begin, size_t end)
{
    const struct select_state *state = step->state;
    struct select_walk walk = {.step = step, .n_rows = (size_t)state->n_rows};
    int64_t first[N_OPERANDS];
    if (!shares_rows(state)) {
        broadcast_walk_units(&state->loops, begin, end, select_piece, &walk);
        return;
    }
    walk.n_rows = end - begin;
    for (size_t i = 0; i < N_OPERANDS; i++)
        first[i] = (int64_t)begin * state->row_strides[i];
    select_piece(&walk, first, (size_t)state->loops.n_inner);
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
    bool is_shared = n_bytes >= SPLIT_MIN_BYTES && thread_pool_n_threads(prepare->pool) > 1;
    state->is_streamed =
        n_bytes >= (is_shared ? STREAM_SHARED_MIN_BYTES : STREAM_MIN_BYTES) &&
        (size_t)state->loops.n_inner >= STREAM_PIECE / state->width / (size_t)state->n_rows;
    if (!is_shared && !state->is_streamed)
        choose_fusable(prepare, state);
    size_t n = shares_rows(state) ? (size_t)state->n_rows : broadcast_n_units(&state->loops);
    return prepare_sharing(prepare, run_units, n, is_shared ? (double)INFINITY : 0);
}

const struct op_def op_select = {
    .type = "Select",
    .opset = 1,
    .flags = OP_DATA_MOVEMENT | OP_IN_PLACE,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct select_attrs),
    .state_size = sizeof(struct select_state),
    .infer = infer,
    .prepare = prepare,
};
