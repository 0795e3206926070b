/* The loops of the resampling for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include it by kernels/each_float.h"
#endif

/* One output of the axis, for n neighbours. */
static void NAME(add_taps)(const struct taps *taps, size_t i, size_t n_inner, size_t n, const T *in,
                           T *out)
{
    double sums[LANES] = {0};
    for (size_t k = taps->first[i]; k < taps->first[i + 1]; k++) {
        const T *row = in + taps->index[k] * n_inner;
        double weight = taps->weight[k];
        for (size_t j = 0; j < n; j++)
            sums[j] += weight * (double)row[j];
    }
    for (size_t j = 0; j < n; j++)
        out[j] = (T)sums[j];
}

/* The same of a dense row. */
static void NAME(add_row)(const struct taps *taps, const T *in, T *out)
{
    for (size_t i = 0; i < taps->n_out; i++) {
        double sum = 0;
        for (size_t k = taps->first[i]; k < taps->first[i + 1]; k++)
            sum += taps->weight[k] * (double)in[taps->index[k]];
        out[i] = (T)sum;
    }
}

void NAME(resample)(const struct taps *taps, size_t n_outer, size_t n_inner, const T *in, T *out)
{
    for (size_t outer = 0; outer < n_outer; outer++) {
        if (n_inner == 1)
            NAME(add_row)(taps, in, out);
        for (size_t i = 0; n_inner > 1 && i < taps->n_out; i++) {
            for (size_t j = 0; j < n_inner; j += LANES) {
                size_t n = n_inner - j < LANES ? n_inner - j : LANES;
                NAME(add_taps)(taps, i, n_inner, n, in + j, out + i * n_inner + j);
            }
        }
        in += taps->n_in * n_inner;
        out += taps->n_out * n_inner;
    }
}
