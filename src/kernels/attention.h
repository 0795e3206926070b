/* Attention: turns rows of scores into weights.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_ATTENTION_H
#define IRRUN_KERNELS_ATTENTION_H

#include <stddef.h>

#include "irrun.h"

enum attention_mask {
    ATTENTION_ALL,
    ATTENTION_CAUSAL,  /* row i sees columns 0 … first_row + i */
    ATTENTION_BOOLEAN, /* row i sees columns with a mask that is not 0 */
    ATTENTION_ADDED,   /* mask is added; it has the type of the scores */
};

/* scores [n_rows][n] become softmax(scores * scale, masked) along each row. Strides count elements
 * and may be 0. sink: an extra score of each row, whose weight is not stored; NULL for none. A row
 * that sees nothing, or that has a NaN, is NaN. */
struct attention_rows {
    size_t n_rows, n;
    size_t first_row;
    double scale;
    enum attention_mask kind;
    const void *mask, *sink;
    size_t mask_row_stride, mask_stride, sink_row_stride;
};

typedef void attention_fn(const struct attention_rows *rows, void *scores);

/* Scales and masks only: before a softmax, if there is no sink. */
void attention_mask_f32(const struct attention_rows *rows, float *scores);

/* Of f32 and f64. */
attention_fn *attention_scalar(enum irrun_dtype dtype);

#endif
