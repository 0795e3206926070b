/* The loops of max pooling for one type of type_body.h. Without indices, the positions of a
 * row whose windows lie inside the input along the row are computed together, others one by one. A
 * window whose maximum is LOWEST is computed again alone: its elements may all be -inf or NaN.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_float.h or a similar header instead"
#endif

static T NAME(find_highest)(const struct window *w, const struct view *v, const T *in,
                            int64_t *place)
{
    T highest = LOWEST;
    *place = -1;
    for (int64_t z = v->first[0]; z < v->end[0]; z++) {
        for (int64_t y = v->first[1]; y < v->end[1]; y++) {
            int64_t start = row_start(w, v, z, y);
            for (int64_t x = v->first[2]; x < v->end[2]; x++) {
                int64_t i = start + x * w->dilation[2];
                /* NaN must fail both comparisons; GCC 12 lets it pass `<= highest`. */
                if (in[i] > highest || (*place < 0 && in[i] <= LOWEST)) {
                    highest = in[i];
                    *place = i;
                }
            }
        }
    }
    return highest;
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

static void NAME(pool_row)(const struct window *w, struct view v, const T *in, T *out,
                           int64_t first, int64_t end)
{
    v.at[2] = first * w->stride[2] - w->pad_begin[2];
    for (int64_t o = first; o < end; o++)
        out[o] = LOWEST;
    for (int64_t z = v.first[0]; z < v.end[0]; z++) {
        for (int64_t y = v.first[1]; y < v.end[1]; y++) {
            const T *row = in + row_start(w, &v, z, y);
            for (int64_t x = 0; x < w->kernel[2]; x++, row += w->dilation[2])
                NAME(update_max_row)(row, w->stride[2], out + first, end - first);
        }
    }
}

static void NAME(max_pool)(const struct window *w, const void *in, void *out, int64_t *places)
{
    int64_t n_out = window_product(w->out), place, first, end;
    find_whole(w, &first, &end);
    for (int64_t row = 0; row < n_out; row += w->out[2]) {
        T *to = (T *)out + row;
        if (!places)
            NAME(pool_row)(w, see(w, row), in, to, first, end);
        for (int64_t o = 0; o < w->out[2]; o++) {
            if (!places && o >= first && o < end && to[o] != LOWEST)
                continue;
            struct view view = see(w, row + o);
            to[o] = NAME(find_highest)(w, &view, in, &place);
            if (places)
                places[row + o] = place < 0 ? 0 : place;
        }
    }
}
