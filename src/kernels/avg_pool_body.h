/* The loops of average pooling for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_float.h instead"
#endif

#define SUMS 64 /* positions that are summed at a time */

static inline void NAME(add)(const T *restrict in, int64_t stride, double *restrict to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] += in[i * stride];
}

/* Computes n positions whose windows lie within the row. */
static void NAME(average_interior)(const struct window *w, bool exclude_pad,
                                   struct clipped_window c, const T *in, T *out, int64_t n)
{
    double sums[SUMS] = {0};
    for (int64_t z = c.first[0]; z < c.end[0]; z++) {
        for (int64_t y = c.first[1]; y < c.end[1]; y++) {
            const T *row = in + row_start(w, &c, z, y);
            for (int64_t x = 0; x < w->kernel[2]; x++) {
                if (w->stride[2] == 1)
                    NAME(add)(row + x * w->dilation[2], 1, sums, n);
                else
                    NAME(add)(row + x * w->dilation[2], w->stride[2], sums, n);
            }
        }
    }
    int64_t n_terms = count_terms(w, &c, exclude_pad);
    for (int64_t i = 0; i < n; i++)
        out[i] = (T)(n_terms ? sums[i] / (double)n_terms : 0);
}

static void NAME(average)(const struct window *w, bool exclude_pad, const struct clipped_window *c,
                          const T *in, T *out)
{
    double sum = 0;
    for (int64_t z = c->first[0]; z < c->end[0]; z++) {
        for (int64_t y = c->first[1]; y < c->end[1]; y++) {
            const T *row = in + row_start(w, c, z, y);
            for (int64_t x = c->first[2]; x < c->end[2]; x++)
                sum += row[x * w->dilation[2]];
        }
    }
    int64_t n = count_terms(w, c, exclude_pad);
    *out = (T)(n ? sum / (double)n : 0);
}

static void NAME(avg_pool)(const struct window *w, bool exclude_pad, const void *in, void *out)
{
    int64_t n_out = window_product(w->out), first, end, n;
    find_interior(w, &first, &end);
    for (int64_t i = 0; i < n_out; i += n) {
        int64_t x = i % w->out[2];
        struct clipped_window c = clip_window(w, i);
        n = x >= first && x < end ? (end - x < SUMS ? end - x : SUMS) : 1;
        if (n > 1)
            NAME(average_interior)(w, exclude_pad, c, in, (T *)out + i, n);
        else
            NAME(average)(w, exclude_pad, &c, in, (T *)out + i);
    }
}
