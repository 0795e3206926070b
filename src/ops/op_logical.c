/* Logic of two booleans. LogicalNot, of one, is a row of op_unary.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/elementwise.h"

static const struct op_input_def inputs[] = {
    {"A", .types = TYPES_BOOLEAN},
    {"B", .types = TYPES_BOOLEAN},
    {.name = NULL},
};

BINARY_OP(op_logical_and, "LogicalAnd", 1, inputs, BINARY_AND);
BINARY_OP(op_logical_or, "LogicalOr", 1, inputs, BINARY_OR);
BINARY_OP(op_logical_xor, "LogicalXor", 1, inputs, BINARY_XOR);
