/* Plain loops of softmax: maximum, sum of exponentials (in double), quotients.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/kernels.h"

#define BLOCK 64 /* columns that are worked on at a time */

#define DEFINE_SOFTMAX(T, suffix, f, name)                                                         \
    static void soften_##suffix(const struct softmax *s, size_t width, const T *in, T *out)        \
    {                                                                                              \
        T highest[BLOCK];                                                                          \
        double sum[BLOCK];                                                                         \
        for (size_t c = 0; c < width; c++) {                                                       \
            highest[c] = -(T)INFINITY;                                                             \
            sum[c] = 0;                                                                            \
        }                                                                                          \
        for (size_t i = 0; i < s->n; i++)                                                          \
            for (size_t c = 0; c < width; c++)                                                     \
                if (in[i * s->n_inner + c] > highest[c])                                           \
                    highest[c] = in[i * s->n_inner + c];                                           \
        for (size_t i = 0; i < s->n; i++) {                                                        \
            for (size_t c = 0; c < width; c++) {                                                   \
                T x = in[i * s->n_inner + c] - highest[c], power = exp##f(x);                      \
                sum[c] += power;                                                                   \
                out[i * s->n_inner + c] = s->is_log ? x : power;                                   \
            }                                                                                      \
        }                                                                                          \
        for (size_t c = 0; c < width && s->is_log; c++)                                            \
            sum[c] = log(sum[c]);                                                                  \
        for (size_t i = 0; i < s->n; i++) {                                                        \
            for (size_t c = 0; c < width; c++) {                                                   \
                T x = out[i * s->n_inner + c];                                                     \
                out[i * s->n_inner + c] = (T)(s->is_log ? x - sum[c] : x / sum[c]);                \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    void name(const struct softmax *s, const T *in, T *out)                                        \
    {                                                                                              \
        for (size_t outer = 0; outer < s->n_outer; outer++) {                                      \
            size_t first = outer * s->n * s->n_inner;                                              \
            for (size_t c = 0; c < s->n_inner; c += BLOCK)                                         \
                soften_##suffix(s, s->n_inner - c < BLOCK ? s->n_inner - c : BLOCK,                \
                                in + first + c, out + first + c);                                  \
        }                                                                                          \
    }

DEFINE_SOFTMAX(float, f32, f, softmax_f32_scalar)
DEFINE_SOFTMAX(double, f64, , softmax_f64)
