/* Reshape-1: the same elements with a new shape. A -1 is computed from the other dimensions; with
 * special_zero, a 0 copies the dimension of the input.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "ops/internal_ops.h"
#include "ops/movement.h"

struct reshape_attrs {
    bool special_zero;
};

static const struct attr_def attr_table[] = {ATTR(struct reshape_attrs, special_zero, NULL)};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY},
    {"shape", .types = TYPES_INTEGER},
};

/* With special_zero, copies dimensions of the input where the new shape has 0. *rest is the product
 * of the input's other dimensions. */
static bool copy_zeros(struct infer *infer, struct irrun_shape *out, bool special_zero,
                       bool is_copied[IRRUN_MAX_RANK], int64_t *rest)
{
    const struct irrun_shape *in = &infer->in[0]->shape;
    *rest = 1;
    for (uint32_t i = 0; i < in->rank || i < out->rank; i++) {
        is_copied[i] = special_zero && i < out->rank && out->dims[i] == 0;
        if (!is_copied[i] && i < in->rank)
            *rest *= in->dims[i];
        else if (is_copied[i] && i < in->rank)
            out->dims[i] = in->dims[i];
        else if (is_copied[i])
            return infer_fail(infer, "shape has a 0 at index %u, but input 0 has %u dimensions", i,
                              in->rank);
    }
    return true;
}

/* Infers the shape that `pattern` describes. */
static bool infer_pattern(struct infer *infer, const struct irrun_shape *pattern, bool special_zero)
{
    struct irrun_shape out = *pattern;
    bool is_copied[IRRUN_MAX_RANK];
    int64_t rest, product = 1;
    if (!copy_zeros(infer, &out, special_zero, is_copied, &rest))
        return false;
    uint32_t inferred = NO_ID;
    bool is_valid = true;
    for (uint32_t i = 0; i < out.rank; i++) {
        if (out.dims[i] == -1 && inferred == NO_ID)
            inferred = i;
        else if (!is_copied[i])
            is_valid &= out.dims[i] >= 0 && checked_mul_i64(product, out.dims[i], &product);
    }
    if (is_valid && inferred != NO_ID && product > 0 && rest % product == 0)
        out.dims[inferred] = rest / product;
    else if (is_valid && inferred != NO_ID && product == 0 && rest == 0)
        out.dims[inferred] = 1; /* any number is valid; the reference uses 1 */
    else if (!is_valid || inferred != NO_ID || product != rest) {
        char text[SHAPE_TEXT_BYTES];
        return infer_fail_input(infer, 0, "as many elements as shape %s",
                                shape_format(pattern, text));
    }
    return infer_output(infer, 0, infer->in[0]->dtype, &out);
}

static bool infer(struct infer *infer)
{
    struct i64_list pattern = {0};
    if (!infer_ints(infer, 1, &pattern))
        return false;
    if (pattern.n > IRRUN_MAX_RANK)
        return infer_fail_input(infer, 1, "at most %d numbers", IRRUN_MAX_RANK);
    struct irrun_shape shape = shape_of(pattern.n, pattern.items);
    return infer_pattern(infer, &shape, ((const struct reshape_attrs *)infer->attrs)->special_zero);
}

static bool infer_frames(struct infer *infer)
{
    return infer_pattern(infer, infer->attrs, true);
}

VIEW_OP(op_reshape, "Reshape", 1, OP_INPUTS(inputs), infer,
        OP_ATTRS(attr_table, struct reshape_attrs));

VIEW_OP(op_reshape_frames, "(reshape frames)", 0, OP_ONE_INPUT("data", TYPES_ANY), infer_frames,
        .attrs_size = sizeof(struct irrun_shape));
