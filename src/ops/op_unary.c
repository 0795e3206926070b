/* Element-wise ops of one operand, and of one operand with scalar parameters: a row each. PReLU,
 * whose second operand broadcasts, has a file of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/unary.h"
#include "ops/op.h"

struct unary_attrs {
    double p[UNARY_N_PARAMETERS]; /* what kernels/unary.h calls p0 and p1 */
    int mode;                     /* added to the row's operation */
};

struct unary_state {
    unary_fn *fn;
    bool is_through_f64; /* integers in a function that has loops for floating types only */
    bool is_rounded; /* then: to the nearest; else cut off at the point, as the reference does */
    double p[UNARY_N_PARAMETERS];
    float bounds[2]; /* of Clamp */
};

static bool infer(struct infer *infer)
{
    struct unary_state *state = infer->state;
    state->p[0] = 1; /* Swish without its second input */
    if (infer->attrs && infer->op->def->attrs_size > 0)
        for (int i = 0; i < UNARY_N_PARAMETERS; i++)
            state->p[i] = ((const struct unary_attrs *)infer->attrs)->p[i];
    for (uint32_t i = 1; i < infer->n_inputs; i++)
        if (shape_n_elements(&infer->in[i]->shape) != 1)
            return infer_fail_input(infer, i, "one number");
    return infer_output(infer, 0, infer->in[0]->dtype, &infer->in[0]->shape);
}

static bool run_flat(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct unary_state *state = step->state;
    step->flat.kernel.unary(step->data[0], step->data[1], step->flat.n, state->p);
    return true;
}

static void offer_to_fuse(struct prepare *prepare, struct unary_state *state,
                          enum unary_operation operation)
{
    enum irrun_dtype dtype = prepare->in[0]->dtype;
    if (dtype != (operation == UNARY_NOT ? IRRUN_BOOLEAN : IRRUN_F32) || prepare->n_inputs != 1)
        return;
    state->bounds[0] = (float)state->p[0];
    state->bounds[1] = (float)state->p[1];
    prepare->made.fusable = (struct fusable){.code = fused_unary(operation),
                                             .n = (size_t)shape_n_elements(&prepare->out[0]->shape),
                                             .bounds = state->bounds};
}

static bool prepare(struct prepare *prepare)
{
    struct unary_state *state = prepare->state;
    int operation = (int)*(const enum unary_operation *)prepare->op->def->family;
    if (prepare->op->def->attrs_size > 0)
        operation += ((const struct unary_attrs *)prepare->attrs)->mode;
    state->fn = unary_scalar((enum unary_operation)operation, prepare->in[0]->dtype);
    offer_to_fuse(prepare, state, (enum unary_operation)operation);
    const struct elementwise_kernels *vector = prepare->kernels->elementwise_f32;
    if (prepare->in[0]->dtype == IRRUN_F32 && vector->unary[operation])
        state->fn = vector->unary[operation];
    if (state->fn && prepare->n_inputs == 1)
        prepare->made.flat = (struct flat){.run = run_flat,
                                           .kernel.unary = state->fn,
                                           .n = (size_t)shape_n_elements(&prepare->out[0]->shape)};
    if (!state->fn) {
        state->is_through_f64 = true;
        state->is_rounded =
            operation != UNARY_EXP && operation != UNARY_LOG && operation != UNARY_SIN;
        state->fn = unary_scalar((enum unary_operation)operation, IRRUN_F64);
    }
    return true;
}

/* Integers: computed in double, rounded if is_rounded, back by the rules of Convert. */
static void run_through_f64(const struct unary_state *state, const double *p,
                            const struct irrun_tensor *in, struct irrun_tensor *out, size_t n)
{
    unary_fn *round = unary_scalar(UNARY_ROUND_HALF_AWAY_FROM_ZERO, IRRUN_F64);
    double block[128];
    size_t size = dtype_size(in->dtype), step = sizeof block / sizeof *block;
    for (size_t i = 0; i < n; i += step) {
        size_t n_now = n - i < step ? n - i : step;
        convert_elements(in->dtype, (const char *)in->data + i * size, IRRUN_F64, block, n_now);
        state->fn(block, block, n_now, p);
        if (state->is_rounded)
            round(block, block, n_now, p);
        convert_elements(IRRUN_F64, block, out->dtype, (char *)out->data + i * size, n_now);
    }
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct unary_state *state = step->state;
    double p[UNARY_N_PARAMETERS] = {state->p[0], state->p[1]};
    for (uint32_t i = 1; i < step->n_inputs; i++)
        p[i - 1] = element_as_f64(step->in[i]->dtype, step->in[i]->data, 0);
    size_t n = (size_t)shape_n_elements(&step->out[0]->shape);
    if (state->is_through_f64)
        run_through_f64(state, p, step->in[0], step->out[0], n);
    else
        state->fn(step->in[0]->data, step->out[0]->data, n, p);
    return true;
}

static const struct op_input_def number[] = {{"data", .types = TYPES_NUMBER}, {.name = NULL}};
static const struct op_input_def floating[] = {{"data", .types = TYPES_FLOAT}, {.name = NULL}};
static const struct op_input_def boolean[] = {{"data", .types = TYPES_BOOLEAN}, {.name = NULL}};
static const struct op_input_def bits[] = {{"data", .types = TYPES_INTEGER | TYPES_BOOLEAN},
                                           {.name = NULL}};
static const struct op_input_def hard_sigmoid_inputs[] = {
    {"data", .types = TYPES_FLOAT, .same = 1},
    {"alpha", .types = TYPES_FLOAT, .same = 1},
    {"beta", .types = TYPES_FLOAT, .same = 1},
    {.name = NULL},
};
static const struct op_input_def selu_inputs[] = {
    {"data", .types = TYPES_FLOAT, .same = 1},
    {"alpha", .types = TYPES_FLOAT, .same = 1},
    {"lambda", .types = TYPES_FLOAT, .same = 1},
    {.name = NULL},
};
static const struct op_input_def swish_inputs[] = {
    {"data", .types = TYPES_FLOAT, .same = 1},
    {"beta", .types = TYPES_FLOAT, .same = 1, .is_optional = true},
    {.name = NULL},
};

static const struct attr_def clamp_attrs[] = {
    ATTR_NAMED(struct unary_attrs, p[0], "min", NULL),
    ATTR_NAMED(struct unary_attrs, p[1], "max", NULL),
    ATTR_END,
};
static const struct attr_def elu_attrs[] = {
    ATTR_NAMED(struct unary_attrs, p[0], "alpha", NULL),
    ATTR_END,
};
static const struct attr_def round_attrs[] = {
    ATTR_CHOICE(struct unary_attrs, mode, "half_to_even", "half_to_even|half_away_from_zero"),
    ATTR_END,
};
static const struct attr_def gelu_attrs[] = {
    {
        .name = "approximation_mode",
        .kind = ATTR_KIND_CHOICE,
        .offset = offsetof(struct unary_attrs, mode),
        .default_text = "erf",
        .choices = "erf|tanh",
    },
    ATTR_END,
};

#define UNARY_OP(object, type_, opset_, inputs_, operation, ...)                                   \
    const struct op_def object = {.type = type_,                                                   \
                                  .opset = opset_,                                                 \
                                  .flags = OP_IN_PLACE,                                            \
                                  .inputs = inputs_,                                               \
                                  .n_outputs = 1,                                                  \
                                  .state_size = sizeof(struct unary_state),                        \
                                  .family = &(const enum unary_operation){operation},              \
                                  .infer = infer,                                                  \
                                  .prepare = prepare,                                              \
                                  .run = run,                                                      \
                                  __VA_ARGS__}
#define WITH_ATTRS(table) .attrs = table, .attrs_size = sizeof(struct unary_attrs)

UNARY_OP(op_abs, "Abs", 1, number, UNARY_ABS, );
UNARY_OP(op_acos, "Acos", 1, number, UNARY_ACOS, );
UNARY_OP(op_acosh, "Acosh", 4, number, UNARY_ACOSH, );
UNARY_OP(op_asin, "Asin", 1, number, UNARY_ASIN, );
UNARY_OP(op_asinh, "Asinh", 4, number, UNARY_ASINH, );
UNARY_OP(op_atan, "Atan", 1, number, UNARY_ATAN, );
UNARY_OP(op_atanh, "Atanh", 4, number, UNARY_ATANH, );
UNARY_OP(op_bitwise_not, "BitwiseNot", 13, bits, UNARY_NOT, );
UNARY_OP(op_ceiling, "Ceiling", 1, number, UNARY_CEILING, );
UNARY_OP(op_clamp, "Clamp", 1, number, UNARY_CLAMP, WITH_ATTRS(clamp_attrs));
UNARY_OP(op_cos, "Cos", 1, number, UNARY_COS, );
UNARY_OP(op_cosh, "Cosh", 1, number, UNARY_COSH, );
UNARY_OP(op_elu, "Elu", 1, floating, UNARY_ELU, WITH_ATTRS(elu_attrs));
UNARY_OP(op_erf, "Erf", 1, number, UNARY_ERF, );
UNARY_OP(op_exp, "Exp", 1, number, UNARY_EXP, );
UNARY_OP(op_floor, "Floor", 1, number, UNARY_FLOOR, );
UNARY_OP(op_gelu_v2, "Gelu", 2, floating, UNARY_GELU_ERF, .opset_last = 6);
UNARY_OP(op_gelu_v7, "Gelu", 7, floating, UNARY_GELU_ERF, WITH_ATTRS(gelu_attrs));
UNARY_OP(op_hard_sigmoid, "HardSigmoid", 1, hard_sigmoid_inputs, UNARY_HARD_SIGMOID, );
UNARY_OP(op_hsigmoid, "HSigmoid", 5, floating, UNARY_HSIGMOID, );
UNARY_OP(op_hswish, "HSwish", 4, floating, UNARY_HSWISH, );
UNARY_OP(op_log, "Log", 1, number, UNARY_LOG, );
UNARY_OP(op_logical_not, "LogicalNot", 1, boolean, UNARY_NOT, );
UNARY_OP(op_mish, "Mish", 4, floating, UNARY_MISH, );
UNARY_OP(op_negative, "Negative", 1, number, UNARY_NEGATIVE, );
UNARY_OP(op_relu, "ReLU", 1, number, UNARY_RELU, );
UNARY_OP(op_round, "Round", 5, number, UNARY_ROUND_HALF_TO_EVEN, WITH_ATTRS(round_attrs));
UNARY_OP(op_selu, "Selu", 1, selu_inputs, UNARY_SELU, );
UNARY_OP(op_sigmoid, "Sigmoid", 1, floating, UNARY_SIGMOID, );
UNARY_OP(op_sign, "Sign", 1, number, UNARY_SIGN, );
UNARY_OP(op_sin, "Sin", 1, number, UNARY_SIN, );
UNARY_OP(op_sinh, "Sinh", 1, number, UNARY_SINH, );
UNARY_OP(op_softplus, "SoftPlus", 4, floating, UNARY_SOFTPLUS, );
UNARY_OP(op_softsign, "SoftSign", 9, floating, UNARY_SOFTSIGN, );
UNARY_OP(op_sqrt, "Sqrt", 1, number, UNARY_SQRT, );
UNARY_OP(op_swish, "Swish", 4, swish_inputs, UNARY_SWISH, );
UNARY_OP(op_tan, "Tan", 1, number, UNARY_TAN, );
UNARY_OP(op_tanh, "Tanh", 1, number, UNARY_TANH, );
