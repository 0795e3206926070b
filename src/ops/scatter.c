/* Combines pieces of a tensor with updates, for all scatter ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/scatter.h"
#include "kernels/indexed_copy.h"

binary_fn *scatter_function(enum scatter_reduction reduction, enum irrun_dtype dtype)
{
    static const enum binary_operation of_numbers[] = {
        [SCATTER_SUM] = BINARY_ADD,       [SCATTER_SUB] = BINARY_SUBTRACT,
        [SCATTER_PROD] = BINARY_MULTIPLY, [SCATTER_MIN] = BINARY_MINIMUM,
        [SCATTER_MAX] = BINARY_MAXIMUM,   [SCATTER_MEAN] = BINARY_ADD,
    };
    static const enum binary_operation of_booleans[] = {
        [SCATTER_SUM] = BINARY_BIT_OR,   [SCATTER_SUB] = BINARY_BIT_XOR,
        [SCATTER_PROD] = BINARY_BIT_AND, [SCATTER_MIN] = BINARY_BIT_AND,
        [SCATTER_MAX] = BINARY_BIT_OR,
    };
    if (reduction == SCATTER_NONE || (dtype == IRRUN_BOOLEAN && reduction == SCATTER_MEAN))
        return NULL;
    return binary_scalar((dtype == IRRUN_BOOLEAN ? of_booleans : of_numbers)[reduction], dtype);
}

void scatter_apply(binary_fn *fn, const void *from, size_t n, size_t piece_elements,
                   size_t element_bytes, void *to, const int64_t *offsets)
{
    size_t piece_bytes = piece_elements * element_bytes;
    if (!fn) {
        indexed_scatter(from, n, piece_bytes, to, offsets);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        char *piece = (char *)to + offsets[k];
        fn(piece, (const char *)from + k * piece_bytes, piece, piece_elements);
    }
}
