/* From scores to weights: the rows of attention. Knows no shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_ATTENTION_H
#define IRRUN_KERNELS_ATTENTION_H

#include <stddef.h>

#include "irrun.h"

enum attention_mask {
    ATTENTION_ALL,
    ATTENTION_CAUSAL,  /* row i sees columns 0 … first_row + i */
    ATTENTION_BOOLEAN, /* what is not zero in mask is seen */
    ATTENTION_ADDED,   /* mask is added; it has the type of the scores */
};

/* scores [n_rows][n] become softmax(scores * scale, masked) along each row. Strides count elements
 * and may be 0. sink: one more score of each row, whose weight is left out; NULL for none. A row of
 * which nothing is seen, and one with a NaN, is NaN. */
struct attention_rows {
    size_t n_rows, n;
    size_t first_row;
    double scale;
    enum attention_mask kind;
    const void *mask, *sink;
    size_t mask_row_stride, mask_stride, sink_row_stride;
};

typedef void attention_fn(const struct attention_rows *rows, void *scores);

/* Scales and masks only: what is left to a softmax where there is no sink. */
void attention_mask_f32(const struct attention_rows *rows, float *scores);

/* Of f32 and f64. */
attention_fn *attention_scalar(enum irrun_dtype dtype);

#endif
