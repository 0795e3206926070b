/* Element-wise ops of two broadcast operands: the rows of elementwise.def, and PReLU-1, whose slope
 * broadcasts differently.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/internal_ops.h"
#include "ops/op.h"
#include "ops/op_state.h"
#include "tensor/broadcast.h"

struct binary_state {
    struct broadcast loops;
    binary_fn *fn;
    binary_fn *vector; /* runs the innermost loop directly; NULL: binary_apply with fn */
    size_t operand_bytes, out_bytes; /* bytes per element */
};

static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct binary_attrs, auto_broadcast, "numpy", AUTO_BROADCAST_CHOICES),
    ATTR_NAMED(struct binary_attrs, axis, "auto_broadcast.auto_broadcast_axis", "0"),
    ATTR(struct binary_attrs, m_pythondiv, "true"),
};

#define TWO_INPUTS(type_set)                                                                       \
    {                                                                                              \
        {"A", .types = type_set, .same = 1}, {"B", .types = type_set, .same = 1},                  \
    }
static const struct op_input_def number[] = TWO_INPUTS(TYPES_NUMBER);
static const struct op_input_def integer[] = TWO_INPUTS(TYPES_INTEGER);
static const struct op_input_def boolean[] = TWO_INPUTS(TYPES_BOOLEAN);
static const struct op_input_def bits[] = TWO_INPUTS(TYPES_INTEGER | TYPES_BOOLEAN);
static const struct op_input_def comparable[] = TWO_INPUTS(TYPES_NUMBER | TYPES_BOOLEAN);

/* Sets the output, and plans the loops over input 0 and over input 1, viewed in the shape b. */
static bool infer_loops(struct infer *infer, enum irrun_dtype dtype, const struct irrun_shape *out,
                        const struct irrun_shape *b)
{
    struct binary_state *state = infer->state;
    const struct irrun_shape *shapes[] = {out, &infer->in[0]->shape, b};
    return infer_output(infer, 0, dtype, out) &&
           broadcast_plan(&state->loops, 3, shapes, infer->arena, infer->err);
}

static enum binary_operation operation_of(const struct op *op)
{
    return *(const enum binary_operation *)op->def->family;
}

static bool infer(struct infer *infer)
{
    const struct binary_attrs *attrs = infer->attrs;
    enum irrun_dtype dtype =
        binary_gives_boolean(operation_of(infer->op)) ? IRRUN_BOOLEAN : infer->in[0]->dtype;
    struct irrun_shape out, b;
    return infer_broadcast(infer, 0, 1, attrs->auto_broadcast, attrs->axis, &out, &b) &&
           infer_loops(infer, dtype, &out, &b);
}

/* Infers PReLU. A slope of rank 1 applies to dimension 1 of the data, the channels, if their sizes
 * are equal, otherwise to the last dimension. The data of op_prelu_last has dimension 1 moved to
 * the end. */
static bool infer_prelu(struct infer *infer)
{
    const struct irrun_shape *data = &infer->in[0]->shape, *given = &infer->in[1]->shape;
    bool is_last = infer->op->def == &op_prelu_last;
    struct irrun_shape slope = *given, out;
    if (given->rank == 1 && data->rank > 1 && given->dims[0] != 1) {
        uint32_t channel = is_last ? data->rank - 1 : 1;
        bool has_channels = given->dims[0] == data->dims[channel];
        slope.rank = has_channels ? data->rank - channel : is_last ? 2 : 1;
        for (uint32_t i = 1; i < slope.rank; i++)
            slope.dims[i] = 1;
    }
    if (!shape_broadcast(data, &slope, &out) || !shape_equals(data, &out))
        return infer_fail_input(infer, 1, "a shape that broadcasts to that of input 0");
    return infer_loops(infer, infer->in[0]->dtype, &out, &slope);
}

static bool run(const struct step *step, struct irrun_error *err);

/* Runs the kernel once, without loops. If it divides by zero, run reports it. */
static bool run_flat(const struct step *step, struct irrun_error *err)
{
    return step->flat.kernel.binary(step->data[0], step->data[1], step->data[2], step->flat.n) ||
           run(step, err);
}

/* Extends a repetition by the next outer loop, of n iterations. Returns false unless the operand is
 * repeated in the innermost loops, then advances, then is repeated in the outermost. */
static bool extend_repetition(struct repetition *found, bool *is_repeated, size_t n, size_t stride)
{
    if (stride == 0) {
        *is_repeated = found->count > 1;
        found->inner *= *is_repeated ? 1 : n;
        return true;
    }
    bool is_dense = stride == found->count && !*is_repeated;
    found->count *= n;
    return is_dense;
}

/* Finds how operand k repeats along the output. Returns false unless it has the form that
 * extend_repetition requires. */
static bool find_repetition(const struct broadcast *loops, uint32_t k, struct repetition *found)
{
    bool is_repeated = false;
    *found = (struct repetition){1, 1};
    bool is_simple = extend_repetition(found, &is_repeated, (size_t)loops->n_inner,
                                       (size_t)loops->inner_strides[k]);
    for (uint32_t i = loops->rank; i-- > 0 && is_simple;)
        is_simple = extend_repetition(found, &is_repeated, (size_t)loops->loops[i].n,
                                      (size_t)loops->loops[i].strides[k]);
    return is_simple;
}

static void offer_to_fuse(struct prepare *prepare, const struct broadcast *loops,
                          enum binary_operation operation)
{
    struct repetition a, b;
    enum fused_code code = fused_binary(operation);
    if (loops->n_inner == 0 ||
        prepare->in[0]->dtype != (fused_is_logic(code) ? IRRUN_BOOLEAN : IRRUN_F32) ||
        !find_repetition(loops, 1, &a) || !find_repetition(loops, 2, &b))
        return;
    prepare->made.fusable = (struct fusable){
        .code = code,
        .scalars = (a.inner > 1 ? 1U : 0U) | (b.inner > 1 ? 2U : 0U),
        .n = (size_t)shape_n_elements(&prepare->out[0]->shape),
    };
    if (loops->rank == 0)
        return;
    prepare->made.fusable.repeated[0] = a;
    prepare->made.fusable.repeated[1] = b;
}

static void choose_loop(struct prepare *prepare, struct binary_state *state,
                        enum binary_operation operation)
{
    const struct broadcast *loops = &state->loops;
    bool a_advances = loops->inner_strides[1] != 0, b_advances = loops->inner_strides[2] != 0;
    enum operand_form form = a_advances && b_advances ? FORM_VECTOR_VECTOR
                             : a_advances             ? FORM_VECTOR_SCALAR
                                                      : FORM_SCALAR_VECTOR;
    if (prepare->in[0]->dtype == IRRUN_F32)
        state->vector = prepare->kernels->elementwise_f32->binary[operation][form];
    offer_to_fuse(prepare, loops, operation);
    if (loops->rank > 0 || loops->n_inner == 0)
        return;
    prepare->made.flat.n = (size_t)loops->n_inner;
    prepare->made.flat.kernel.binary = state->vector              ? state->vector
                                       : a_advances && b_advances ? state->fn
                                                                  : NULL;
    if (prepare->made.flat.kernel.binary)
        prepare->made.flat.run = run_flat;
}

static bool visit(void *context, const int64_t *offsets, size_t n)
{
    const struct step *step = context;
    const struct binary_state *state = step->state;
    const int64_t *strides = state->loops.inner_strides;
    const char *a = (const char *)step->in[0]->data + (size_t)offsets[1] * state->operand_bytes;
    const char *b = (const char *)step->in[1]->data + (size_t)offsets[2] * state->operand_bytes;
    char *out = (char *)step->out[0]->data + (size_t)offsets[0] * state->out_bytes;
    if (state->vector)
        return state->vector(a, b, out, n);
    return binary_apply(state->fn, state->operand_bytes, a, strides[1] != 0, b, strides[2] != 0,
                        state->out_bytes, out, n);
}

static bool walk_units(const struct step *step, size_t begin, size_t end)
{
    const struct binary_state *state = step->state;
    return broadcast_walk_units(&state->loops, begin, end, visit, (void *)step);
}

static void run_units(const struct step *step, size_t begin, size_t end)
{
    walk_units(step, begin, end);
}

/* Divides the work among threads only for floats, because integer division can fail. */
static bool prepare_units(struct prepare *prepare, const struct binary_state *state)
{
    double n = (double)shape_n_elements(&prepare->out[0]->shape);
    return !dtype_is_float(prepare->in[0]->dtype) ||
           prepare_sharing(prepare, run_units, broadcast_n_units(&state->loops),
                           SHARE_ELEMENT_WORK * n);
}

static bool prepare(struct prepare *prepare)
{
    struct binary_state *state = prepare->state;
    enum binary_operation operation = operation_of(prepare->op);
    if (operation == BINARY_DIVIDE && dtype_is_integer(prepare->in[0]->dtype) &&
        !((const struct binary_attrs *)prepare->attrs)->m_pythondiv)
        operation = BINARY_DIVIDE_TRUNC;
    state->fn = binary_scalar(operation, prepare->in[0]->dtype);
    state->operand_bytes = dtype_size(prepare->in[0]->dtype);
    state->out_bytes = dtype_size(prepare->out[0]->dtype);
    choose_loop(prepare, state, operation);
    return prepare_units(prepare, state);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct binary_state *state = step->state;
    return walk_units(step, 0, broadcast_n_units(&state->loops)) ||
           step_fail(step, err, IRRUN_DATA, "integer division by zero");
}

#define BINARY_OP(name, type_, opset_, signature, function)                                        \
    const struct op_def op_##name = {                                                              \
        .type = type_,                                                                             \
        .opset = opset_,                                                                           \
        .flags = OP_IN_PLACE | OP_ELEMENTWISE,                                                     \
        OP_INPUTS(signature),                                                                      \
        OP_ATTRS(attr_table, struct binary_attrs),                                                 \
        .state_size = sizeof(struct binary_state),                                                 \
        .family = &(const enum binary_operation){BINARY_##function},                               \
        .infer = infer,                                                                            \
        .prepare = prepare,                                                                        \
        .run = run,                                                                                \
    };
#include "kernels/elementwise.def"

static const struct op_input_def prelu_inputs[] = {
    {"data", .types = TYPES_FLOAT | TYPES_SIGNED, .same = 1},
    {"slope", .types = TYPES_FLOAT | TYPES_SIGNED, .same = 1},
};

#define PRELU(op)                                                                                  \
    const struct op_def op = {                                                                     \
        .type = "PReLU",                                                                           \
        .opset = 1,                                                                                \
        .flags = OP_IN_PLACE,                                                                      \
        OP_INPUTS(prelu_inputs),                                                                   \
        .state_size = sizeof(struct binary_state),                                                 \
        .family = &(const enum binary_operation){BINARY_PRELU},                                    \
        .infer = infer_prelu,                                                                      \
        .prepare = prepare,                                                                        \
        .run = run,                                                                                \
    };
PRELU(op_prelu)
PRELU(op_prelu_last)
