/* Runs a loop over two arrays, where an operand may be a scalar: a block, which stays in the L1
 * cache, is filled with copies of the scalar.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/binary.h"

#define BLOCK 256 /* elements */

static void spread(uint64_t *block, const void *element, size_t element_bytes, size_t n)
{
    unsigned char *to = (unsigned char *)block;
    size_t done = element_bytes, total = n * element_bytes;
    memcpy(to, element, element_bytes);
    for (; done < total; done += done <= total - done ? done : total - done)
        memcpy(to + done, to, done <= total - done ? done : total - done);
}

bool binary_apply(binary_fn *fn, size_t operand_bytes, const void *a, bool a_is_array,
                  const void *b, bool b_is_array, size_t out_bytes, void *out, size_t n)
{
    if (n <= 1 || (a_is_array && b_is_array))
        return fn(a, b, out, n);
    uint64_t a_block[BLOCK], b_block[BLOCK];
    size_t step = n < BLOCK ? n : BLOCK;
    if (!a_is_array)
        spread(a_block, a, operand_bytes, step);
    if (!b_is_array)
        spread(b_block, b, operand_bytes, step);
    for (size_t i = 0; i < n; i += step) {
        const void *x = a_is_array ? (const char *)a + i * operand_bytes : (const void *)a_block;
        const void *y = b_is_array ? (const char *)b + i * operand_bytes : (const void *)b_block;
        if (!fn(x, y, (char *)out + i * out_bytes, n - i < step ? n - i : step))
            return false;
    }
    return true;
}
