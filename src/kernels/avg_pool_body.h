/* The loops of average pooling for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_float.h instead"
#endif

static void NAME(avg_pool)(const struct window *w, bool exclude_pad, const void *in, void *out)
{
    for (int64_t o = 0, n_out = window_product(w->out); o < n_out; o++) {
        struct clipped_window c = clip_window(w, o);
        double sum = 0;
        for (int64_t z = c.first[0]; z < c.end[0]; z++) {
            for (int64_t y = c.first[1]; y < c.end[1]; y++) {
                const T *row = (const T *)in + row_start(w, &c, z, y);
                for (int64_t x = c.first[2]; x < c.end[2]; x++)
                    sum += row[x * w->dilation[2]];
            }
        }
        int64_t n = count_terms(w, &c, exclude_pad);
        ((T *)out)[o] = (T)(n ? sum / (double)n : 0);
    }
}
