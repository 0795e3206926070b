/* The loops of max pooling for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_float.h or a similar header instead"
#endif

static T NAME(find_max)(const struct window *w, const struct clipped_window *c, const T *in,
                        int64_t *index)
{
    T max = LOWEST;
    *index = -1;
    for (int64_t z = c->first[0]; z < c->end[0]; z++) {
        for (int64_t y = c->first[1]; y < c->end[1]; y++) {
            int64_t start = row_start(w, c, z, y);
            for (int64_t x = c->first[2]; x < c->end[2]; x++) {
                int64_t i = start + x * w->dilation[2];
                /* NaN must fail both comparisons; GCC 12 lets it pass `<= max`. */
                if (in[i] > max || (*index < 0 && in[i] <= LOWEST)) {
                    max = in[i];
                    *index = i;
                }
            }
        }
    }
    return max;
}

static void NAME(max_pool)(const struct window *w, const void *in, void *out, int64_t *indices)
{
    for (int64_t o = 0, n_out = window_product(w->out), index; o < n_out; o++) {
        struct clipped_window clipped = clip_window(w, o);
        ((T *)out)[o] = NAME(find_max)(w, &clipped, in, &index);
        if (indices)
            indices[o] = index < 0 ? 0 : index;
    }
}
