/* Matches constants that are stored as integers or small floats, and large matrices of floats.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/compressed_match.h"

#include <math.h>

#include "tensor/small_float.h"

#define MAX_ZERO_POINT 0x1p16 /* for stored integers; kernels/compressed_gemm.h requires it */

const struct constant *compressed_constant(const struct compressed_matcher *matcher,
                                           uint32_t value_id)
{
    return value_id < matcher->n_values ? matcher->constants[value_id] : NULL;
}

const struct op *compressed_producer(const struct compressed_matcher *matcher, uint32_t value_id,
                                     const char *type)
{
    const struct op *op = value_producer(matcher->graph, value_id);
    return op_is_type(op, type) && compressed_constant(matcher, value_id) ? op : NULL;
}

#define MIN_FLOAT_BYTES (1 << 20) /* minimum size of a large matrix of floats */

bool compressed_is_large_matrix(const struct const_attrs *attrs)
{
    enum irrun_dtype dtype = attrs->element_type;
    return (dtype == IRRUN_F32 || dtype_is_half(dtype)) && attrs->shape.rank == 2 &&
           shape_n_elements(&attrs->shape) * (int64_t)dtype_size(dtype) >= MIN_FLOAT_BYTES;
}

static bool is_compressed(const struct compressed_matcher *matcher, uint32_t value_id)
{
    const struct op *op = value_producer(matcher->graph, value_id);
    return op_role_of(op) == ROLE_CONST &&
           compressed_type_is_supported(((const struct const_attrs *)op->attrs)->element_type);
}

/* Matches Const -> Convert to a float. */
static bool match_convert(const struct compressed_matcher *matcher, uint32_t value_id,
                          uint32_t *stored)
{
    const struct op *convert = compressed_producer(matcher, value_id, "Convert");
    if (!convert || !is_compressed(matcher, op_input(matcher->graph, convert, 0)))
        return false;
    enum irrun_dtype to = matcher->constants[value_id]->declared;
    *stored = op_input(matcher->graph, convert, 0);
    return to == IRRUN_F32 || dtype_is_half(to);
}

/* Matches Const -> Convert [-> Subtract]. */
static bool match_shifted(const struct compressed_matcher *matcher, uint32_t value_id,
                          struct compressed_match *match)
{
    const struct op *subtract = compressed_producer(matcher, value_id, "Subtract");
    if (!subtract)
        return match_convert(matcher, value_id, &match->stored);
    uint32_t zero_points = op_input(matcher->graph, subtract, 1), stored;
    bool is_integer = match_convert(matcher, zero_points, &stored) &&
                      !small_float_is(matcher->constants[stored]->declared);
    match->zero_points = is_integer ? stored : zero_points;
    return match_convert(matcher, op_input(matcher->graph, subtract, 0), &match->stored);
}

/* Matches Const -> Convert [-> Subtract] [-> Multiply]. */
static bool match_scaled(const struct compressed_matcher *matcher, uint32_t value_id,
                         struct compressed_match *match)
{
    const struct op *multiply = compressed_producer(matcher, value_id, "Multiply");
    if (!multiply)
        return match_shifted(matcher, value_id, match);
    uint32_t a = op_input(matcher->graph, multiply, 0), b = op_input(matcher->graph, multiply, 1);
    match->scales = b;
    if (match_shifted(matcher, a, match))
        return true;
    match->zero_points = NO_ID;
    match->scales = a;
    return match_shifted(matcher, b, match);
}

/* If an op of type `type` computes the value from a constant, returns its input; otherwise
 * value_id. Does not skip a Convert that reads the stored codes, because match_convert needs it. */
static uint32_t skip_op(const struct compressed_matcher *matcher, uint32_t value_id,
                        const char *type)
{
    const struct op *op = compressed_producer(matcher, value_id, type);
    if (!op || is_compressed(matcher, op_input(matcher->graph, op, 0)) ||
        !compressed_constant(matcher, op_input(matcher->graph, op, 0)))
        return value_id;
    return op_input(matcher->graph, op, 0);
}

/* ---- shapes ---- */

/* Finds the strides of the scales or zero points from row to row and from group to group. `axes`:
 * the dimensions of the stored constant for rows, for groups, and for elements of a group; NO_ID:
 * none. Returns false if the shapes do not fit, or if a group has more than one scale or zero
 * point. */
static bool find_strides(const struct compressed_matcher *matcher, uint32_t value_id,
                         const struct irrun_shape *shape, const uint32_t axes[3],
                         size_t *row_stride, size_t *group_stride)
{
    size_t strides[3] = {0, 0, 0};
    if (value_id == NO_ID)
        return true;
    const struct irrun_shape *numbers = &compressed_constant(matcher, value_id)->tensor.shape;
    if (shape_n_elements(numbers) != 1 && numbers->rank != shape->rank)
        return false;
    for (uint32_t i = 0; i < 3 && shape_n_elements(numbers) != 1; i++) {
        uint32_t axis = axes[i];
        if (axis == NO_ID || numbers->dims[axis] == 1)
            continue;
        if (numbers->dims[axis] != shape->dims[axis])
            return false;
        strides[i] = (size_t)shape_product(numbers, axis + 1, numbers->rank);
    }
    *row_stride = strides[0];
    *group_stride = strides[1];
    return strides[2] == 0;
}

/* Returns whether the zero points are integers, as the kernels require for stored integers. Reads
 * their values if their type is a float. */
static bool are_integers(struct compressed_matcher *matcher, uint32_t value_id)
{
    const struct constant *constant = compressed_constant(matcher, value_id);
    if (dtype_is_integer(constant->declared))
        return true;
    const struct irrun_tensor *tensor =
        constant_get(&matcher->finder, matcher->graph, value_id, matcher->err);
    size_t n = tensor ? (size_t)shape_n_elements(&tensor->shape) : 0;
    for (size_t i = 0; i < n; i++) {
        double zero = element_as_f64(tensor->dtype, tensor->data, i);
        if (!(fabs(zero) < MAX_ZERO_POINT) || zero != nearbyint(zero))
            return false;
    }
    return tensor != NULL;
}

/* Finds the rows and groups of a matrix that may have been reshaped. `is_transposed`: the matrix is
 * [k][n]. */
static bool find_layout(const struct compressed_matcher *matcher, const struct irrun_shape *matrix,
                        bool is_transposed, struct compressed_match *match)
{
    /* [rank - 2][is_transposed]: the dimensions for rows, groups and elements of a group. */
    static const uint32_t layouts[2][2][3] = {{{0, NO_ID, 1}, {1, NO_ID, 0}},
                                              {{0, 1, 2}, {2, 0, 1}}};
    const struct irrun_shape *shape = &compressed_constant(matcher, match->stored)->tensor.shape;
    struct compressed_attrs *attrs = &match->attrs;
    if (matrix->rank != 2 || shape->rank < 2 || shape->rank > 3)
        return false;
    const uint32_t *axes = layouts[shape->rank - 2][is_transposed];
    attrs->is_transposed = is_transposed;
    attrs->n = (size_t)matrix->dims[is_transposed];
    attrs->k = (size_t)matrix->dims[!is_transposed];
    attrs->group = (size_t)shape->dims[axes[2]];
    bool is_4bit = dtype_stored_bits(compressed_constant(matcher, match->stored)->declared) == 4;
    return attrs->n > 0 && attrs->k > 0 && shape->dims[axes[0]] == (int64_t)attrs->n &&
           shape_n_elements(shape) == (int64_t)(attrs->n * attrs->k) &&
           !(is_4bit && attrs->group % 2 != 0) &&
           find_strides(matcher, match->scales, shape, axes, &attrs->scale_row_stride,
                        &attrs->scale_group_stride) &&
           find_strides(matcher, match->zero_points, shape, axes, &attrs->zero_row_stride,
                        &attrs->zero_group_stride);
}

static const struct compressed_match no_match = {
    .stored = NO_ID, .scales = NO_ID, .zero_points = NO_ID};

bool compressed_match_floats(const struct compressed_matcher *matcher, uint32_t value_id,
                             struct compressed_match *match)
{
    *match = no_match;
    const struct op *convert = compressed_producer(matcher, value_id, "Convert");
    match->stored = convert ? op_input(matcher->graph, convert, 0) : value_id;
    const struct op *op = value_producer(matcher->graph, match->stored);
    if (!compressed_constant(matcher, match->stored) || op_role_of(op) != ROLE_CONST ||
        !matcher->keeps_floats || !compressed_is_large_matrix(op->attrs))
        return false;
    const struct const_attrs *stored = op->attrs;
    match->attrs.dtype = matcher->constants[value_id]->declared;
    match->attrs.n = (size_t)stored->shape.dims[0];
    match->attrs.k = match->attrs.group = (size_t)stored->shape.dims[1];
    return match->attrs.dtype == (convert ? IRRUN_F32 : stored->element_type);
}

bool compressed_match_codes(struct compressed_matcher *matcher, uint32_t value_id,
                            bool is_transposed, struct compressed_match *match)
{
    *match = no_match;
    const struct constant *constant = compressed_constant(matcher, value_id);
    if (!constant || !(constant->declared == IRRUN_F32 || dtype_is_half(constant->declared)))
        return false;
    match->attrs.dtype = constant->declared;
    uint32_t inner = skip_op(matcher, value_id, "Convert");
    inner = skip_op(matcher, inner, "Reshape");
    if (!match_scaled(matcher, inner, match) ||
        !find_layout(matcher, &constant->tensor.shape, is_transposed, match))
        return false;
    return match->zero_points == NO_ID ||
           small_float_is(compressed_constant(matcher, match->stored)->declared) ||
           are_integers(matcher, match->zero_points);
}
