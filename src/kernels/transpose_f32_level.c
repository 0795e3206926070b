/* The kernel of transpose_f32.h, compiled for each CPU level. Transposes squares of VECTOR_LANES
 * rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

ALWAYS_INLINE size_t size_minimum(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Transposes a square of n_rows x n_columns, at most VECTOR_LANES each. */
ALWAYS_INLINE void transpose_square(const struct transpose_f32 *m, size_t row, size_t column,
                                    size_t n_rows, size_t n_columns)
{
    vec square[VECTOR_LANES];
    const float *from = m->from + row * m->from_stride + column;
    float *to = m->to + column * m->to_stride + row;

    UNROLL
    for (size_t r = 0; r < VECTOR_LANES; r++)
        square[r] = r < n_rows ? vec_load_n(from + r * m->from_stride, n_columns) : vec_zero();
    vec_transpose(square);
    UNROLL
    for (size_t c = 0; c < VECTOR_LANES; c++) {
        if (c >= n_columns)
            break;
        vec_store_n(to + c * m->to_stride, square[c], n_rows);
    }
}

void LEVEL_NAME(transpose_f32, LEVEL)(const struct transpose_f32 *m)
{
    for (size_t row = 0; row < m->n_rows; row += VECTOR_LANES) {
        size_t n_rows = size_minimum(m->n_rows - row, VECTOR_LANES);
        for (size_t column = 0; column < m->n_columns; column += VECTOR_LANES) {
            size_t n_columns = size_minimum(m->n_columns - column, VECTOR_LANES);
            if (n_rows == VECTOR_LANES && n_columns == VECTOR_LANES)
                transpose_square(m, row, column, VECTOR_LANES, VECTOR_LANES);
            else
                transpose_square(m, row, column, n_rows, n_columns);
        }
    }
}
