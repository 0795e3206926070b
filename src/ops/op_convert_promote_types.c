/* ConvertPromoteTypes-14: converts both inputs to a common type.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op.h"

struct promote_attrs {
    bool promote_unsafe, pytorch_scalar_promotion;
    enum irrun_dtype u64_integer_promotion_target;
};

static const struct attr_def attr_table[] = {
    ATTR(struct promote_attrs, promote_unsafe, "false"),
    ATTR(struct promote_attrs, pytorch_scalar_promotion, "false"),
    ATTR(struct promote_attrs, u64_integer_promotion_target, "f32"),
};

#define TYPES_PROMOTED                                                                             \
    (TYPES_NUMBER | TYPES_BOOLEAN | TYPE_BIT(IRRUN_I4) | TYPE_BIT(IRRUN_U1) | TYPE_BIT(IRRUN_U4) | \
     TYPE_BIT(IRRUN_F8E4M3) | TYPE_BIT(IRRUN_F8E5M2))

static const struct op_input_def inputs[] = {
    {"input_0", .types = TYPES_PROMOTED},
    {"input_1", .types = TYPES_PROMOTED},
};

static bool is_float(enum irrun_dtype dtype)
{
    return !dtype_is_integer(dtype);
}

static unsigned bits(enum irrun_dtype dtype)
{
    return dtype_stored_bits(dtype);
}

static bool fail_unsafe(struct infer *infer)
{
    return infer_fail(infer, "%s and %s have no common type that is safe (promote_unsafe is false)",
                      irrun_dtype_name(infer->in[0]->dtype), irrun_dtype_name(infer->in[1]->dtype));
}

/* Promotes a float and an integer to the float type. This is safe if the float is at least twice as
 * wide as the integer. */
static bool promote_to_float(struct infer *infer, bool is_unsafe, enum irrun_dtype *common)
{
    enum irrun_dtype a = infer->in[0]->dtype, b = infer->in[1]->dtype;
    enum irrun_dtype floating = is_float(a) ? a : b, integer = is_float(a) ? b : a;
    *common = floating;
    return is_unsafe || bits(floating) >= 2 * bits(integer) || fail_unsafe(infer);
}

/* Promotes a scalar and a tensor of the same kind to the tensor's type, as PyTorch does. */
static bool promote_scalar(struct infer *infer, bool is_unsafe, enum irrun_dtype *common)
{
    enum irrun_dtype a = infer->in[0]->dtype, b = infer->in[1]->dtype;
    bool is_a_scalar = infer->in[0]->shape.rank == 0;
    enum irrun_dtype target = is_a_scalar ? b : a, scalar = is_a_scalar ? a : b;
    bool is_target_signed = is_float(target) || dtype_is_signed(target);
    bool is_scalar_signed = is_float(scalar) || dtype_is_signed(scalar);
    *common = target;
    bool is_safe = is_target_signed == is_scalar_signed
                       ? bits(target) >= bits(scalar)
                       : is_target_signed && 2 * bits(target) >= bits(scalar);
    return is_unsafe || is_safe || fail_unsafe(infer);
}

/* Promotes a signed and an unsigned integer to a signed type twice as wide as the unsigned one. */
static bool promote_mixed_signs(struct infer *infer, bool is_unsafe, enum irrun_dtype *common)
{
    const struct promote_attrs *attrs = infer->attrs;
    enum irrun_dtype a = infer->in[0]->dtype, b = infer->in[1]->dtype;
    unsigned n_signed = bits(dtype_is_signed(a) ? a : b);
    unsigned n_wanted = 2 * bits(dtype_is_signed(a) ? b : a);
    if (!is_unsafe && n_wanted > n_signed)
        return fail_unsafe(infer);
    *common = attrs->u64_integer_promotion_target;
    static const enum irrun_dtype integers[] = {IRRUN_I64, IRRUN_I32, IRRUN_I16, IRRUN_I8,
                                                IRRUN_I4};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        if (bits(integers[i]) >= n_wanted && bits(integers[i]) >= n_signed)
            *common = integers[i];
    return true;
}

static bool find_common(struct infer *infer, enum irrun_dtype *common)
{
    const struct promote_attrs *attrs = infer->attrs;
    enum irrun_dtype a = infer->in[0]->dtype, b = infer->in[1]->dtype;
    bool is_unsafe = attrs->promote_unsafe;
    *common = a == IRRUN_BOOLEAN ? b : a;
    if (a == b || a == IRRUN_BOOLEAN || b == IRRUN_BOOLEAN)
        return true;
    if (is_float(a) != is_float(b))
        return promote_to_float(infer, is_unsafe, common);
    bool is_one_scalar = (infer->in[0]->shape.rank == 0) != (infer->in[1]->shape.rank == 0);
    if (attrs->pytorch_scalar_promotion && is_one_scalar)
        return promote_scalar(infer, is_unsafe, common);
    if (!is_float(a) && dtype_is_signed(a) != dtype_is_signed(b))
        return promote_mixed_signs(infer, is_unsafe, common);
    if (bits(a) == bits(b)) { /* two different types of 16 bits, or of 8 bits */
        *common = bits(a) == 8 ? IRRUN_F16 : IRRUN_F32;
        return is_unsafe || fail_unsafe(infer);
    }
    *common = bits(a) > bits(b) ? a : b;
    return true;
}

static bool infer(struct infer *infer)
{
    enum irrun_dtype common = IRRUN_F32;
    if (!find_common(infer, &common))
        return false;
    if (!(TYPES_ANY & TYPE_BIT(common)))
        return infer_fail(infer, "irrun does not convert to %s", irrun_dtype_name(common));
    return infer_output(infer, 0, common, &infer->in[0]->shape) &&
           infer_output(infer, 1, common, &infer->in[1]->shape);
}

static void run(const struct step *step)
{
    for (uint32_t i = 0; i < 2; i++)
        convert_elements(step->in[i]->dtype, step->in[i]->data, step->out[i]->dtype,
                         step->out[i]->data, (size_t)shape_n_elements(&step->out[i]->shape));
}

const struct op_def op_convert_promote_types = {
    .type = "ConvertPromoteTypes",
    .opset = 14,
    .flags = OP_ANY_STORAGE,
    OP_INPUTS(inputs),
    .n_outputs = 2,
    OP_ATTRS(attr_table, struct promote_attrs),
    .infer = infer,
    .compute = run,
};
