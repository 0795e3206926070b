/* Maps element-wise operations to the fused instructions that compute them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/fused_f32.h"

enum fused_code fused_binary(enum binary_operation operation)
{
    static const unsigned char codes[BINARY_N_OPERATIONS] = {
#define BINARY_VECTOR(name, vector) [BINARY_##name] = FUSED_##name,
#define COMPARISON_VECTOR(name, vector) [BINARY_##name] = FUSED_##name,
#define LOGIC_VECTOR(name, vector) [BINARY_##name] = FUSED_##name,
#include "kernels/elementwise.def"
    };
    return (enum fused_code)codes[operation];
}

enum fused_code fused_unary(enum unary_operation operation)
{
    static const unsigned char codes[UNARY_N_OPERATIONS] = {
        [UNARY_NOT] = FUSED_NOT,
#define UNARY_VECTOR(name, vectors, expression, vector) [UNARY_##name] = FUSED_##name,
#include "kernels/elementwise.def"
    };
    return (enum fused_code)codes[operation];
}
