/* Element-wise functions of two operands: one loop per operation and type. Knows no shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_BINARY_H
#define IRRUN_KERNELS_BINARY_H

#include "irrun.h"

/* out[i] = f(a[i], b[i]); out may be a or b. False: an integer was divided by zero. */
typedef bool binary_fn(const void *a, const void *b, void *out, size_t n);

/* Integers wrap. Divide, Mod, FloorMod and Power of integers refuse to divide by zero, and give the
 * lowest number for the lowest number divided by -1. Names and meanings are those of the IR. */
enum binary_operation {
    BINARY_ADD,
    BINARY_SUBTRACT,
    BINARY_MULTIPLY,
    BINARY_DIVIDE,       /* of integers: rounded toward minus infinity, as in Python */
    BINARY_DIVIDE_TRUNC, /* of integers: rounded toward zero, as in C */
    BINARY_MAXIMUM,      /* a NaN on the left is kept, one on the right gives the left operand */
    BINARY_MINIMUM,
    BINARY_POWER,
    BINARY_SQUARED_DIFFERENCE,
    BINARY_FLOOR_MOD, /* the sign of b */
    BINARY_MOD,       /* the sign of a */
    BINARY_PRELU,     /* a < 0 ? a * b : a */
    BINARY_BIT_AND,   /* of integers bit by bit, of booleans as logic */
    BINARY_BIT_OR,
    BINARY_BIT_XOR,
    BINARY_SHIFT_LEFT,  /* of integers; all bits leave for a b outside 0 ... width - 1 */
    BINARY_SHIFT_RIGHT, /* of signed ones: copies the sign */
    /* From here on out is boolean, one byte of 0 or 1. */
    BINARY_EQUAL,
    BINARY_NOT_EQUAL,
    BINARY_LESS,
    BINARY_LESS_EQUAL,
    BINARY_GREATER,
    BINARY_GREATER_EQUAL,
    BINARY_AND,
    BINARY_OR,
    BINARY_XOR,
    BINARY_N_OPERATIONS
};

/* The plain loop for operands of this type; NULL if there is none (f16 and bf16 have none). */
binary_fn *binary_scalar(enum binary_operation operation, enum irrun_dtype dtype);

/* The same over an operand that stands still: a_moves (b_moves) false means a (b) is one element
 * for all n. Element sizes are in bytes. */
bool binary_apply(binary_fn *fn, size_t operand_bytes, const void *a, bool a_moves, const void *b,
                  bool b_moves, size_t out_bytes, void *out, size_t n);

#endif
