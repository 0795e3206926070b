/* Bitwise operations of two operands and the shifts. BitwiseNot, of one, is a row of op_unary.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/elementwise.h"

static const struct op_input_def bits[] = {
    {"A", .types = TYPES_INTEGER | TYPES_BOOLEAN, .same = 1},
    {"B", .types = TYPES_INTEGER | TYPES_BOOLEAN, .same = 1},
    {.name = NULL},
};
static const struct op_input_def integers[] = {
    {"A", .types = TYPES_INTEGER, .same = 1},
    {"B", .types = TYPES_INTEGER, .same = 1},
    {.name = NULL},
};

BINARY_OP(op_bitwise_and, "BitwiseAnd", 13, bits, BINARY_BIT_AND);
BINARY_OP(op_bitwise_or, "BitwiseOr", 13, bits, BINARY_BIT_OR);
BINARY_OP(op_bitwise_xor, "BitwiseXor", 13, bits, BINARY_BIT_XOR);
BINARY_OP(op_bitwise_left_shift, "BitwiseLeftShift", 15, integers, BINARY_SHIFT_LEFT);
BINARY_OP(op_bitwise_right_shift, "BitwiseRightShift", 15, integers, BINARY_SHIFT_RIGHT);
