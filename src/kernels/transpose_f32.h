/* Transposes a matrix of f32 with vectors.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_TRANSPOSE_F32_H
#define IRRUN_KERNELS_TRANSPOSE_F32_H

#include <stddef.h>

struct transpose_f32 {
    size_t n_rows, n_columns;
    const float *from;
    size_t from_stride; /* floats from one row to the next */
    float *to;          /* [n_columns][n_rows] */
    size_t to_stride;
};
typedef void transpose_f32_fn(const struct transpose_f32 *matrix);

#endif
