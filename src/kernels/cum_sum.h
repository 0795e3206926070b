/* Running sums along the first axis of [n][n_inner].
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_CUM_SUM_H
#define IRRUN_KERNELS_CUM_SUM_H

#include "irrun.h"

/* out[i][j] = the sum of in[0 … i][j], or with is_exclusive of in[0 … i-1][j]; with is_reverse,
 * over the elements after i instead of before. f32 is summed in double; integers wrap. out may be
 * in. */
typedef void cum_sum_fn(const void *in, void *out, size_t n, size_t n_inner, bool is_exclusive,
                        bool is_reverse);

/* NULL for f16, bf16 and types that are not numbers. */
cum_sum_fn *cum_sum_scalar(enum irrun_dtype dtype);

#endif
