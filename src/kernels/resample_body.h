/* The loops of resampling for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_float.h instead"
#endif

/* Computes output i of n slices. The inputs of slice j begin at in[j * in_step]; its output goes to
 * out[j * out_step]. */
ALWAYS_INLINE void NAME(add_taps)(const struct taps *taps, size_t i, size_t n_inner, const size_t n,
                                  const T *in, size_t in_step, T *out, size_t out_step)
{
    double sums[LANES] = {0};
    for (size_t k = taps->first[i]; k < taps->first[i + 1]; k++) {
        const T *from = in + taps->index[k] * n_inner;
        double weight = taps->weight[k];
        for (size_t j = 0; j < n; j++)
            sums[j] += weight * (double)from[j * in_step];
    }
    for (size_t j = 0; j < n; j++)
        out[j * out_step] = (T)sums[j];
}

/* Resamples n dense rows. */
ALWAYS_INLINE void NAME(add_rows)(const struct taps *taps, const size_t n, const T *in, T *out)
{
    for (size_t i = 0; i < taps->n_out; i++)
        NAME(add_taps)(taps, i, 1, n, in, taps->n_in, out + i, taps->n_out);
}

static void NAME(resample_rows)(const struct taps *taps, size_t n, const T *in, T *out)
{
    size_t row = 0;
    for (; row + ROWS <= n; row += ROWS)
        NAME(add_rows)(taps, ROWS, in + row * taps->n_in, out + row * taps->n_out);
    for (; row < n; row++)
        NAME(add_rows)(taps, 1, in + row * taps->n_in, out + row * taps->n_out);
}

void NAME(resample)(const struct taps *taps, size_t n_outer, size_t n_inner, const T *in, T *out)
{
    if (n_inner == 1) {
        NAME(resample_rows)(taps, n_outer, in, out);
        return;
    }
    for (size_t outer = 0; outer < n_outer; outer++) {
        for (size_t i = 0; i < taps->n_out; i++, out += n_inner) {
            size_t j = 0;
            for (; j + LANES <= n_inner; j += LANES)
                NAME(add_taps)(taps, i, n_inner, LANES, in + j, 1, out + j, 1);
            if (j < n_inner)
                NAME(add_taps)(taps, i, n_inner, n_inner - j, in + j, 1, out + j, 1);
        }
        in += taps->n_in * n_inner;
    }
}
