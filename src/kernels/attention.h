/* Attention: scales and masks rows of scores, and turns them into weights by a softmax.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_ATTENTION_H
#define IRRUN_KERNELS_ATTENTION_H

#include <stddef.h>

#include "irrun.h"

enum attention_mask {
    ATTENTION_ALL,
    ATTENTION_CAUSAL,   /* row i attends to columns 0 … first_row + i */
    ATTENTION_BOOLEAN,  /* row i attends to columns whose mask is not 0 */
    ATTENTION_ADDITIVE, /* the mask is added; it has the type of the scores */
};

/* Rows of scores [n_rows][n] and their masks. Strides are in elements and may be 0. `sink` adds one
 * more score to each row, for which no weight is stored; NULL: none. */
struct attention_rows {
    size_t n_rows, n;
    size_t first_row;
    double scale;
    enum attention_mask kind;
    const void *mask, *sink;
    size_t mask_row_stride, mask_stride, sink_row_stride;
};

/* Replaces each row of scores with its masked softmax(scores * scale). A row that contains a NaN
 * becomes NaN. A row whose mask hides all columns becomes zeros, because NaN would spread through
 * the keys and values of the next layer to all rows. */
typedef void attention_fn(const struct attention_rows *rows, void *scores);

/* Applies only the scale and the mask; the caller then computes the softmax. Ignores the sink. */
void attention_mask_f32(const struct attention_rows *rows, float *scores);

/* Sets rows whose mask hides all columns to 0, because the softmax of such a row is NaN. */
void attention_zero_hidden_rows_f32(const struct attention_rows *rows, float *weights);

/* Returns the loop for f32 or f64; NULL for other types. */
attention_fn *attention_scalar(enum irrun_dtype dtype);

#endif
