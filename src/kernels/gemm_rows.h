/* Products of few rows without packing, which would cost more than it gains.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_GEMM_ROWS_H
#define IRRUN_KERNELS_GEMM_ROWS_H

#include "kernels/gemm.h"

/* Computes a product as gemm_plain_f32 does. a must not be transposed. The order of the additions
 * depends only on k, b_transposed and the level. */
typedef gemm_f32_fn gemm_rows_fn;

#endif
