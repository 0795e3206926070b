/* Element-wise ops of one operand, some with scalar parameters: the rows of elementwise.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"

struct unary_state {
    unary_fn *fn;
    bool is_through_f64; /* integers are computed in f64: the function has only float loops */
    bool is_rounded;     /* integers are rounded to nearest; false: toward zero (the reference) */
    double p[UNARY_N_PARAMETERS];
    float parameters[UNARY_N_PARAMETERS]; /* p as floats, for a program of fused ops */
};

static bool infer(struct infer *infer)
{
    struct unary_state *state = infer->state;
    const struct unary_attrs *attrs = infer->attrs;
    bool gives_boolean = unary_gives_boolean(*(const enum unary_operation *)infer->op->def->family);
    for (int i = 0; i < UNARY_N_PARAMETERS && infer->op->def->attrs_size > 0; i++)
        state->p[i] = gives_boolean ? attrs->detect[i] : attrs->p[i];
    for (uint32_t i = 1; i < infer->n_inputs; i++)
        if (shape_n_elements(&infer->in[i]->shape) != 1)
            return infer_fail_input(infer, i, "one number");
    return infer_output(infer, 0, gives_boolean ? IRRUN_BOOLEAN : infer->in[0]->dtype,
                        &infer->in[0]->shape);
}

static bool run_flat(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct unary_state *state = step->state;
    step->flat.kernel.unary(step->data[0], step->data[1], step->flat.n, state->p);
    return true;
}

/* Reads the parameters that are inputs. Returns false if one is not known yet. */
static bool read_parameters(const struct irrun_tensor *const *in, uint32_t n_inputs, double *p)
{
    for (uint32_t i = 1; i < n_inputs; i++) {
        if (!in[i]->data)
            return false;
        p[i - 1] = element_as_f64(in[i]->dtype, in[i]->data, 0);
    }
    return true;
}

/* Computes integers in double, rounds if is_rounded, and converts back as Convert does. */
static void run_through_f64(const struct unary_state *state, const struct irrun_tensor *in,
                            struct irrun_tensor *out, struct share_range range)
{
    unary_fn *round = unary_scalar(UNARY_ROUND_HALF_AWAY_FROM_ZERO, IRRUN_F64);
    double block[128];
    size_t step = sizeof block / sizeof *block, end = range.first + range.n;
    for (size_t i = range.first; i < end; i += step) {
        size_t n = end - i < step ? end - i : step;
        convert_elements(in->dtype, tensor_at(in, i), IRRUN_F64, block, n);
        state->fn(block, block, n, state->p);
        if (state->is_rounded)
            round(block, block, n, state->p);
        convert_elements(IRRUN_F64, block, out->dtype, tensor_at(out, i), n);
    }
}

/* Computes units of SHARE_UNIT elements. */
static void run_units(const struct step *step, size_t begin, size_t end)
{
    const struct unary_state *state = step->state;
    double p[UNARY_N_PARAMETERS] = {state->p[0], state->p[1]};
    read_parameters((const struct irrun_tensor *const *)step->in, step->n_inputs, p);
    struct share_range range =
        share_range((size_t)shape_n_elements(&step->out[0]->shape), begin, end);
    if (state->is_through_f64)
        run_through_f64(state, step->in[0], step->out[0], range);
    else
        state->fn(tensor_at(step->in[0], range.first), tensor_at(step->out[0], range.first),
                  range.n, p);
}

static void offer_to_fuse(struct prepare *prepare, struct unary_state *state,
                          enum unary_operation operation)
{
    enum fused_code code = fused_unary(operation);
    if (prepare->in[0]->dtype != (fused_is_logic(code) ? IRRUN_BOOLEAN : IRRUN_F32) ||
        !read_parameters(prepare->in, prepare->n_inputs, state->p))
        return;
    for (int i = 0; i < UNARY_N_PARAMETERS; i++)
        state->parameters[i] = (float)state->p[i];
    prepare->made.fusable = (struct fusable){.code = code,
                                             .n = (size_t)shape_n_elements(&prepare->out[0]->shape),
                                             .parameters = state->parameters};
}

enum unary_operation unary_operation_of(const struct op_def *def, const void *op_attrs,
                                        uint32_t n_inputs)
{
    enum unary_operation operation = *(const enum unary_operation *)def->family;
    const struct unary_attrs *attrs = op_attrs;
    if (operation == UNARY_SWISH && n_inputs == 1)
        return UNARY_SILU;
    if (operation == UNARY_ROUND_HALF_TO_EVEN && attrs->mode > 0)
        return UNARY_ROUND_HALF_AWAY_FROM_ZERO;
    if (operation == UNARY_GELU_ERF && def->attrs_size > 0 && attrs->mode > 0)
        return UNARY_GELU_TANH;
    return operation;
}

static bool prepare(struct prepare *prepare)
{
    struct unary_state *state = prepare->state;
    enum unary_operation operation =
        unary_operation_of(prepare->op->def, prepare->attrs, prepare->n_inputs);
    state->fn = unary_scalar(operation, prepare->in[0]->dtype);
    offer_to_fuse(prepare, state, operation);
    const struct elementwise_kernels *vector = prepare->kernels->elementwise_f32;
    if (prepare->in[0]->dtype == IRRUN_F32 && vector->unary[operation])
        state->fn = vector->unary[operation];
    size_t n = (size_t)shape_n_elements(&prepare->out[0]->shape);
    if (state->fn && prepare->n_inputs == 1)
        prepare->made.flat = (struct flat){.run = run_flat, .kernel.unary = state->fn, .n = n};
    state->is_through_f64 = !state->fn;
    state->is_rounded = operation != UNARY_EXP && operation != UNARY_LOG && operation != UNARY_SIN;
    if (!state->fn)
        state->fn = unary_scalar(operation, IRRUN_F64);
    return prepare_sharing(prepare, run_units, share_units(n), SHARE_ELEMENT_WORK * (double)n);
}

/* ---- signatures ---- */

static const struct op_input_def hard_sigmoid_inputs[] = {
    {"data", .types = TYPES_FLOAT, .same = 1},
    {"alpha", .types = TYPES_FLOAT, .same = 1},
    {"beta", .types = TYPES_FLOAT, .same = 1},
};
static const struct op_input_def selu_inputs[] = {
    {"data", .types = TYPES_FLOAT, .same = 1},
    {"alpha", .types = TYPES_FLOAT, .same = 1},
    {"lambda", .types = TYPES_FLOAT, .same = 1},
};
static const struct op_input_def swish_inputs[] = {
    {"data", .types = TYPES_FLOAT, .same = 1},
    {"beta", .types = TYPES_FLOAT, .same = 1, .is_optional = true},
};

static const struct attr_def clamp_attrs[] = {
    ATTR_NAMED(struct unary_attrs, p[0], "min", NULL),
    ATTR_NAMED(struct unary_attrs, p[1], "max", NULL),
};
static const struct attr_def elu_attrs[] = {ATTR_NAMED(struct unary_attrs, p[0], "alpha", NULL)};
static const struct attr_def is_inf_attrs[] = {
    ATTR_NAMED(struct unary_attrs, detect[0], "detect_negative", "true"),
    ATTR_NAMED(struct unary_attrs, detect[1], "detect_positive", "true"),
};
static const struct attr_def round_attrs[] = {
    ATTR_CHOICE(struct unary_attrs, mode, "half_to_even", "half_to_even|half_away_from_zero"),
};
static const struct attr_def gelu_attrs[] = {
    ATTR_CHOICE_NAMED(struct unary_attrs, mode, "approximation_mode", "erf", "erf|tanh"),
};

#define ATTRS(table) OP_ATTRS(table, struct unary_attrs)
#define SIGNATURE_number OP_ONE_INPUT("data", TYPES_NUMBER)
#define SIGNATURE_floating OP_ONE_INPUT("data", TYPES_FLOAT)
#define SIGNATURE_boolean OP_ONE_INPUT("data", TYPES_BOOLEAN)
#define SIGNATURE_bits OP_ONE_INPUT("data", TYPES_INTEGER | TYPES_BOOLEAN)
#define SIGNATURE_hard_sigmoid OP_INPUTS(hard_sigmoid_inputs)
#define SIGNATURE_selu OP_INPUTS(selu_inputs)
#define SIGNATURE_swish OP_INPUTS(swish_inputs)
#define SIGNATURE_clamp OP_ONE_INPUT("data", TYPES_NUMBER), ATTRS(clamp_attrs)
#define SIGNATURE_elu OP_ONE_INPUT("data", TYPES_FLOAT), ATTRS(elu_attrs)
#define SIGNATURE_is_inf OP_ONE_INPUT("data", TYPES_FLOAT), ATTRS(is_inf_attrs)
#define SIGNATURE_round OP_ONE_INPUT("data", TYPES_NUMBER), ATTRS(round_attrs)
#define SIGNATURE_gelu OP_ONE_INPUT("data", TYPES_FLOAT), ATTRS(gelu_attrs)
#define SIGNATURE_gelu_v2 OP_ONE_INPUT("data", TYPES_FLOAT), .opset_last = 6

#define UNARY_OP(name, type_, opset_, signature, function)                                         \
    const struct op_def op_##name = {                                                              \
        .type = type_,                                                                             \
        .opset = opset_,                                                                           \
        .flags = OP_IN_PLACE | OP_ELEMENTWISE,                                                     \
        SIGNATURE_##signature,                                                                     \
        .state_size = sizeof(struct unary_state),                                                  \
        .family = &(const enum unary_operation){UNARY_##function},                                 \
        .infer = infer,                                                                            \
        .prepare = prepare,                                                                        \
    };
#include "kernels/elementwise.def"
