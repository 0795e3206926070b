/* The loops of max pooling for one type of type_body.h. Without indices, the positions of a
 * row whose windows lie inside the input along the row are computed together, others one by one. A
 * window whose maximum is LOWEST is computed again alone: its elements may all be -inf or NaN.
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

/* Computes to[i] = max(to[i], in[i * stride]). */
static inline void NAME(update_max)(const T *restrict in, int64_t stride, T *restrict to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = in[i * stride] > to[i] ? in[i * stride] : to[i];
}

/* Calls update_max with a constant stride where one is common, so that it is vectorized. */
static void NAME(update_max_row)(const T *in, int64_t stride, T *to, int64_t n)
{
    if (stride == 1)
        NAME(update_max)(in, 1, to, n);
    else if (stride == 2)
        NAME(update_max)(in, 2, to, n);
    else
        NAME(update_max)(in, stride, to, n);
}

static void NAME(pool_row)(const struct window *w, struct clipped_window c, const T *in, T *out,
                           int64_t first, int64_t end)
{
    c.at[2] = first * w->stride[2] - w->pad_begin[2];
    for (int64_t o = first; o < end; o++)
        out[o] = LOWEST;
    for (int64_t z = c.first[0]; z < c.end[0]; z++) {
        for (int64_t y = c.first[1]; y < c.end[1]; y++) {
            const T *row = in + row_start(w, &c, z, y);
            for (int64_t x = 0; x < w->kernel[2]; x++, row += w->dilation[2])
                NAME(update_max_row)(row, w->stride[2], out + first, end - first);
        }
    }
}

static void NAME(max_pool)(const struct window *w, const void *in, void *out, int64_t *indices)
{
    int64_t n_out = window_product(w->out), index, first, end;
    find_interior(w, &first, &end);
    for (int64_t row = 0; row < n_out; row += w->out[2]) {
        T *to = (T *)out + row;
        if (!indices)
            NAME(pool_row)(w, clip_window(w, row), in, to, first, end);
        for (int64_t o = 0; o < w->out[2]; o++) {
            if (!indices && o >= first && o < end && to[o] != LOWEST)
                continue;
            struct clipped_window clipped = clip_window(w, row + o);
            to[o] = NAME(find_max)(w, &clipped, in, &index);
            if (indices)
                indices[row + o] = index < 0 ? 0 : index;
        }
    }
}
