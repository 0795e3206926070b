/* Plain loops of attention: scale, mask, softmax with its sum in double.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/attention.h"

#include <math.h>

#define DEFINE_ATTENTION(T, suffix, f)                                                             \
    static void mask_row_##suffix(const struct attention_rows *r, size_t row, T *scores)           \
    {                                                                                              \
        T scale = (T)r->scale;                                                                     \
        const T *added = r->mask;                                                                  \
        const unsigned char *seen = r->mask;                                                       \
        size_t first = row * r->mask_row_stride, step = r->mask_stride;                            \
        for (size_t i = 0; i < r->n; i++)                                                          \
            scores[i] *= scale;                                                                    \
        if (r->kind == ATTENTION_ADDED)                                                            \
            for (size_t i = 0; i < r->n; i++)                                                      \
                scores[i] += added[first + i * step];                                              \
        if (r->kind == ATTENTION_BOOLEAN)                                                          \
            for (size_t i = 0; i < r->n; i++)                                                      \
                scores[i] = seen[first + i * step] ? scores[i] : -(T)INFINITY;                     \
        if (r->kind == ATTENTION_CAUSAL)                                                           \
            for (size_t i = r->first_row + row + 1; i < r->n; i++)                                 \
                scores[i] = -(T)INFINITY;                                                          \
    }                                                                                              \
                                                                                                   \
    static void attention_##suffix(const struct attention_rows *r, void *all_scores)               \
    {                                                                                              \
        for (size_t row = 0; row < r->n_rows; row++) {                                             \
            T *scores = (T *)all_scores + row * r->n, highest = -(T)INFINITY;                      \
            double sum = 0;                                                                        \
            mask_row_##suffix(r, row, scores);                                                     \
            if (r->sink)                                                                           \
                highest = ((const T *)r->sink)[row * r->sink_row_stride];                          \
            T sink = highest;                                                                      \
            for (size_t i = 0; i < r->n; i++)                                                      \
                highest = scores[i] > highest ? scores[i] : highest;                               \
            if (r->sink)                                                                           \
                sum = exp##f(sink - highest);                                                      \
            for (size_t i = 0; i < r->n; i++) {                                                    \
                scores[i] = exp##f(scores[i] - highest);                                           \
                sum += scores[i];                                                                  \
            }                                                                                      \
            for (size_t i = 0; i < r->n; i++)                                                      \
                scores[i] = (T)(scores[i] / sum);                                                  \
        }                                                                                          \
    }

DEFINE_ATTENTION(float, f32, f)
DEFINE_ATTENTION(double, f64, )

void attention_mask_f32(const struct attention_rows *rows, float *scores)
{
    for (size_t row = 0; row < rows->n_rows; row++)
        mask_row_f32(rows, row, scores + row * rows->n);
}

attention_fn *attention_scalar(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 ? attention_f32 : dtype == IRRUN_F64 ? attention_f64 : NULL;
}
