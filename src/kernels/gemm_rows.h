/* Products of few rows whose factors stay as they lie in memory: packing the second one would cost
 * more than it gains.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_GEMM_ROWS_H
#define IRRUN_KERNELS_GEMM_ROWS_H

#include "kernels/gemm.h"

/* As gemm_plain_f32, but a is not transposed. The order of the additions depends on k and
 * b_transposed alone, and on the level. */
typedef gemm_f32_fn gemm_rows_fn;

#endif
