/* Expands single rows of compressed matrices, for embedding lookups.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/compressed_gemm.h"

void compressed_expand_row(const struct compressed_matrix *matrix, size_t row, float *to)
{
    const unsigned char *from = matrix->row + compressed_bytes(matrix, row * matrix->k);
    for (size_t group = 0; group < matrix->k / matrix->group; group++) {
        float scale = param_of(&matrix->scales, row, group, 1);
        float zero = param_of(&matrix->zero_points, row, group, 0);
        size_t n = matrix->group;
        if (matrix->dtype == IRRUN_U8)
            for (size_t i = 0; i < n; i++)
                to[i] = ((float)from[i] - zero) * scale;
        else if (matrix->dtype == IRRUN_I8)
            for (size_t i = 0; i < n; i++)
                to[i] = ((float)(int8_t)from[i] - zero) * scale;
        else
            for (size_t i = 0; i < n; i++)
                to[i] = (matrix->values[from[i / 2] >> i % 2 * 4 & 15] - zero) * scale;
        from += compressed_bytes(matrix, n);
        to += n;
    }
}
