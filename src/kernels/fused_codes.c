/* Which operations a program of fused ones can hold.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/fused_f32.h"

enum fused_code fused_binary(enum binary_operation operation)
{
    static const unsigned char codes[BINARY_N_OPERATIONS] = {
        [BINARY_ADD] = FUSED_ADD,
        [BINARY_SUBTRACT] = FUSED_SUBTRACT,
        [BINARY_MULTIPLY] = FUSED_MULTIPLY,
        [BINARY_DIVIDE] = FUSED_DIVIDE,
        [BINARY_DIVIDE_TRUNC] = FUSED_DIVIDE,
        [BINARY_MAXIMUM] = FUSED_MAXIMUM,
        [BINARY_MINIMUM] = FUSED_MINIMUM,
        [BINARY_SQUARED_DIFFERENCE] = FUSED_SQUARED_DIFFERENCE,
        [BINARY_PRELU] = FUSED_PRELU,
        [BINARY_EQUAL] = FUSED_EQUAL,
        [BINARY_NOT_EQUAL] = FUSED_NOT_EQUAL,
        [BINARY_LESS] = FUSED_LESS,
        [BINARY_LESS_EQUAL] = FUSED_LESS_EQUAL,
        [BINARY_GREATER] = FUSED_GREATER,
        [BINARY_GREATER_EQUAL] = FUSED_GREATER_EQUAL,
        [BINARY_AND] = FUSED_AND,
        [BINARY_OR] = FUSED_OR,
        [BINARY_XOR] = FUSED_XOR,
    };
    return (enum fused_code)codes[operation];
}

enum fused_code fused_unary(enum unary_operation operation)
{
    static const unsigned char codes[UNARY_N_OPERATIONS] = {
        [UNARY_NOT] = FUSED_NOT,           [UNARY_ABS] = FUSED_ABS,
        [UNARY_NEGATIVE] = FUSED_NEGATIVE, [UNARY_RELU] = FUSED_RELU,
        [UNARY_CLAMP] = FUSED_CLAMP,       [UNARY_FLOOR] = FUSED_FLOOR,
        [UNARY_CEILING] = FUSED_CEILING,   [UNARY_ROUND_HALF_TO_EVEN] = FUSED_ROUND,
        [UNARY_SQRT] = FUSED_SQRT,         [UNARY_SIGMOID] = FUSED_SIGMOID,
        [UNARY_TANH] = FUSED_TANH,         [UNARY_EXP] = FUSED_EXP,
        [UNARY_LOG] = FUSED_LOG,           [UNARY_ERF] = FUSED_ERF,
        [UNARY_SOFTPLUS] = FUSED_SOFTPLUS, [UNARY_MISH] = FUSED_MISH,
        [UNARY_HSIGMOID] = FUSED_HSIGMOID, [UNARY_HSWISH] = FUSED_HSWISH,
        [UNARY_SOFTSIGN] = FUSED_SOFTSIGN, [UNARY_SWISH] = FUSED_SWISH,
        [UNARY_GELU_ERF] = FUSED_GELU_ERF, [UNARY_GELU_TANH] = FUSED_GELU_TANH,
    };
    return (enum fused_code)codes[operation];
}
