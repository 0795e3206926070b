/* Runs a binary kernel on operands that may be scalars. A scalar is copied to all elements of a
 * block, which stays in the L1 cache, and the kernel runs block by block.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/elementwise.h"
#include "kernels/indexed_copy.h"

#define BLOCK 256 /* elements */

bool binary_apply(binary_fn *fn, size_t operand_bytes, const void *a, bool a_is_array,
                  const void *b, bool b_is_array, size_t out_bytes, void *out, size_t n)
{
    if (n <= 1 || (a_is_array && b_is_array))
        return fn(a, b, out, n);
    uint64_t a_block[BLOCK], b_block[BLOCK];
    size_t step = n < BLOCK ? n : BLOCK;
    if (!a_is_array)
        fill_elements(a_block, step, a, operand_bytes);
    if (!b_is_array)
        fill_elements(b_block, step, b, operand_bytes);
    for (size_t i = 0; i < n; i += step) {
        const void *x = a_is_array ? (const char *)a + i * operand_bytes : (const void *)a_block;
        const void *y = b_is_array ? (const char *)b + i * operand_bytes : (const void *)b_block;
        if (!fn(x, y, (char *)out + i * out_bytes, n - i < step ? n - i : step))
            return false;
    }
    return true;
}
