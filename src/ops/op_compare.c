/* Comparisons of two operands; the result is boolean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/elementwise.h"

static const struct op_input_def inputs[] = {
    {"A", .types = TYPES_NUMBER | TYPES_BOOLEAN, .same = 1},
    {"B", .types = TYPES_NUMBER | TYPES_BOOLEAN, .same = 1},
    {.name = NULL},
};

BINARY_OP(op_equal, "Equal", 1, inputs, BINARY_EQUAL);
BINARY_OP(op_not_equal, "NotEqual", 1, inputs, BINARY_NOT_EQUAL);
BINARY_OP(op_less, "Less", 1, inputs, BINARY_LESS);
BINARY_OP(op_less_equal, "LessEqual", 1, inputs, BINARY_LESS_EQUAL);
BINARY_OP(op_greater, "Greater", 1, inputs, BINARY_GREATER);
BINARY_OP(op_greater_equal, "GreaterEqual", 1, inputs, BINARY_GREATER_EQUAL);
