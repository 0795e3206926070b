/* Plain loops of the resampling: neighbours along the inner axis share the weights.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/resample.h"

#define LANES 64 /* sums held at a time */

#define LOOP(T, suffix)                                                                            \
    /* One output of the axis, for n neighbours. */                                                \
    static void add_taps_##suffix(const struct taps *taps, size_t i, size_t n_inner, size_t n,     \
                                  const T *in, T *out)                                             \
    {                                                                                              \
        double sums[LANES] = {0};                                                                  \
        for (size_t k = taps->first[i]; k < taps->first[i + 1]; k++) {                             \
            const T *row = in + taps->index[k] * n_inner;                                          \
            double weight = taps->weight[k];                                                       \
            for (size_t j = 0; j < n; j++)                                                         \
                sums[j] += weight * (double)row[j];                                                \
        }                                                                                          \
        for (size_t j = 0; j < n; j++)                                                             \
            out[j] = (T)sums[j];                                                                   \
    }                                                                                              \
                                                                                                   \
    /* The same of a dense row. */                                                                 \
    static void add_row_##suffix(const struct taps *taps, const T *in, T *out)                     \
    {                                                                                              \
        for (size_t i = 0; i < taps->n_out; i++) {                                                 \
            double sum = 0;                                                                        \
            for (size_t k = taps->first[i]; k < taps->first[i + 1]; k++)                           \
                sum += taps->weight[k] * (double)in[taps->index[k]];                               \
            out[i] = (T)sum;                                                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    void resample_##suffix(const struct taps *taps, size_t n_outer, size_t n_inner, const T *in,   \
                           T *out)                                                                 \
    {                                                                                              \
        for (size_t outer = 0; outer < n_outer; outer++) {                                         \
            if (n_inner == 1)                                                                      \
                add_row_##suffix(taps, in, out);                                                   \
            for (size_t i = 0; n_inner > 1 && i < taps->n_out; i++)                                \
                for (size_t j = 0; j < n_inner; j += LANES)                                        \
                    add_taps_##suffix(taps, i, n_inner, n_inner - j < LANES ? n_inner - j : LANES, \
                                      in + j, out + i * n_inner + j);                              \
            in += taps->n_in * n_inner;                                                            \
            out += taps->n_out * n_inner;                                                          \
        }                                                                                          \
    }

LOOP(float, f32)
LOOP(double, f64)
