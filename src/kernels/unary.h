/* Element-wise functions of one operand. Knows no shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_UNARY_H
#define IRRUN_KERNELS_UNARY_H

#include "irrun.h"

#define UNARY_N_PARAMETERS 2

/* out[i] = f(in[i]); out may be in. p is what the comments below call p0 and p1. */
typedef void unary_fn(const void *in, void *out, size_t n, const double p[UNARY_N_PARAMETERS]);

/* NaN stays NaN, and what is odd keeps the sign of zero. Integers wrap. */
enum unary_operation {
    UNARY_ABS,
    UNARY_NEGATIVE,
    UNARY_SIGN,
    UNARY_RELU,
    UNARY_CLAMP, /* to p0 ... p1; integers: to the integers in that range */
    UNARY_FLOOR, /* these four leave integers as they are */
    UNARY_CEILING,
    UNARY_ROUND_HALF_TO_EVEN,
    UNARY_ROUND_HALF_AWAY_FROM_ZERO,
    UNARY_NOT, /* of booleans; of integers bit by bit */
    /* The loops from here on are of f32 and f64 only. */
    UNARY_ACOS,
    UNARY_ACOSH,
    UNARY_ASIN,
    UNARY_ASINH,
    UNARY_ATAN,
    UNARY_ATANH,
    UNARY_COS,
    UNARY_COSH,
    UNARY_ELU, /* x < 0 ? p0 * (exp(x) - 1) : x */
    UNARY_ERF,
    UNARY_EXP,
    UNARY_GELU_ERF,
    UNARY_GELU_TANH,
    UNARY_HARD_SIGMOID, /* p0 * x + p1, held in 0 ... 1 */
    UNARY_HSIGMOID,
    UNARY_HSWISH,
    UNARY_LOG,
    UNARY_MISH,
    UNARY_SELU, /* p1 * (x > 0 ? x : p0 * (exp(x) - 1)) */
    UNARY_SIGMOID,
    UNARY_SIN,
    UNARY_SINH,
    UNARY_SOFTPLUS,
    UNARY_SOFTSIGN,
    UNARY_SQRT,
    UNARY_SWISH, /* x * sigmoid(p0 * x) */
    UNARY_TAN,
    UNARY_TANH,
    UNARY_N_OPERATIONS
};

/* The plain loop for elements of this type, NULL if there is none. */
unary_fn *unary_scalar(enum unary_operation operation, enum irrun_dtype dtype);

#endif
