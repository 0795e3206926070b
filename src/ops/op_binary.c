/* Arithmetic of two operands: Add-1 and its like. Comparisons and logic have files of their own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/elementwise.h"

BINARY_OP(op_add, "Add", 1, binary_number_inputs, BINARY_ADD);
BINARY_OP(op_subtract, "Subtract", 1, binary_number_inputs, BINARY_SUBTRACT);
BINARY_OP(op_multiply, "Multiply", 1, binary_number_inputs, BINARY_MULTIPLY);
BINARY_OP(op_divide, "Divide", 1, binary_number_inputs, BINARY_DIVIDE);
BINARY_OP(op_maximum, "Maximum", 1, binary_number_inputs, BINARY_MAXIMUM);
BINARY_OP(op_minimum, "Minimum", 1, binary_number_inputs, BINARY_MINIMUM);
BINARY_OP(op_power, "Power", 1, binary_number_inputs, BINARY_POWER);
BINARY_OP(op_squared_difference, "SquaredDifference", 1, binary_number_inputs,
          BINARY_SQUARED_DIFFERENCE);
BINARY_OP(op_floor_mod, "FloorMod", 1, binary_number_inputs, BINARY_FLOOR_MOD);
BINARY_OP(op_mod, "Mod", 1, binary_number_inputs, BINARY_MOD);
