/* Softmax of f64 with plain loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/softmax.h"

#include <math.h>

#define BLOCK 64 /* columns at a time */

/* Computes n_columns adjacent columns. A column has n numbers, n_inner elements apart. */
static void softmax_columns(const struct softmax *s, size_t n_columns, const double *in,
                            double *out)
{
    double highest[BLOCK], sum[BLOCK] = {0}, scale = (double)s->scale;
    for (size_t c = 0; c < n_columns; c++)
        highest[c] = -INFINITY;
    for (size_t i = 0; i < s->n; i++)
        for (size_t c = 0; c < n_columns; c++)
            if (in[i * s->n_inner + c] * scale > highest[c])
                highest[c] = in[i * s->n_inner + c] * scale;
    for (size_t i = 0; i < s->n; i++) {
        for (size_t c = 0; c < n_columns; c++) {
            double x = in[i * s->n_inner + c] * scale - highest[c], power = exp(x);
            sum[c] += power;
            out[i * s->n_inner + c] = s->is_log ? x : power;
        }
    }
    for (size_t c = 0; c < n_columns && s->is_log; c++)
        sum[c] = log(sum[c]);
    for (size_t i = 0; i < s->n; i++) {
        for (size_t c = 0; c < n_columns; c++) {
            double x = out[i * s->n_inner + c];
            out[i * s->n_inner + c] = s->is_log ? x - sum[c] : x / sum[c];
        }
    }
}

void softmax_f64(const struct softmax *s, const double *in, double *out)
{
    for (size_t outer = 0; outer < s->n_outer; outer++) {
        size_t first = outer * s->n * s->n_inner;
        for (size_t c = 0; c < s->n_inner; c += BLOCK)
            softmax_columns(s, s->n_inner - c < BLOCK ? s->n_inner - c : BLOCK, in + first + c,
                            out + first + c);
    }
}
