/* Cumulative sums along the first axis of [n][n_inner].
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_CUM_SUM_H
#define IRRUN_KERNELS_CUM_SUM_H

#include "irrun.h"

/* Writes out[i][j] = the sum of in[0 … i][j]. With is_exclusive the sum ends at i - 1; with
 * is_reverse it covers the elements from i to the end. f32 is summed in double; integers wrap. out
 * may be in. */
typedef void cum_sum_fn(const void *in, void *out, size_t n, size_t n_inner, bool is_exclusive,
                        bool is_reverse);

/* Returns NULL for f16, bf16 and types that are not numbers. */
cum_sum_fn *cum_sum_scalar(enum irrun_dtype dtype);

#endif
