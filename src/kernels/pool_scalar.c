/* Plain loops of the poolings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/pool.h"

#include <math.h>

/* What an output position sees: kernel elements [first, end) of every dimension, and the input position
 * of kernel element 0. */
struct view {
    int64_t first[3], end[3], at[3];
};

static struct view see(const struct window *w, int64_t index)
{
    int64_t o[3] = {index / (w->out[1] * w->out[2]), index / w->out[2] % w->out[1],
                    index % w->out[2]};
    struct view view;
    for (int d = 0; d < 3; d++) {
        window_inside(w, d, o[d], &view.first[d], &view.end[d]);
        view.at[d] = o[d] * w->stride[d] - w->pad_begin[d];
    }
    return view;
}

/* The index in the input of kernel element 0 of the innermost dimension. */
static int64_t row_start(const struct window *w, const struct view *view, int64_t z, int64_t y)
{
    int64_t slice = view->at[0] + z * w->dilation[0], row = view->at[1] + y * w->dilation[1];
    return (slice * w->in[1] + row) * w->in[2] + view->at[2];
}

#define DEFINE_MAX_POOL(T, suffix, lowest)                                                         \
    static T find_highest_##suffix(const struct window *w, const struct view *v, const T *in,      \
                                   int64_t *place)                                                 \
    {                                                                                              \
        T highest = lowest;                                                                        \
        *place = -1;                                                                               \
        for (int64_t z = v->first[0]; z < v->end[0]; z++) {                                        \
            for (int64_t y = v->first[1]; y < v->end[1]; y++) {                                    \
                int64_t start = row_start(w, v, z, y);                                             \
                for (int64_t x = v->first[2]; x < v->end[2]; x++) {                                \
                    int64_t i = start + x * w->dilation[2];                                        \
                    if (in[i] > highest || (*place < 0 && in[i] >= highest)) {                     \
                        highest = in[i];                                                           \
                        *place = i;                                                                \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        return highest;                                                                            \
    }                                                                                              \
                                                                                                   \
    static void max_pool_##suffix(const struct window *w, const void *in, void *out,               \
                                  int64_t *places)                                                 \
    {                                                                                              \
        int64_t n_out = window_product(w->out), place;                                             \
        for (int64_t o = 0; o < n_out; o++) {                                                      \
            struct view view = see(w, o);                                                          \
            ((T *)out)[o] = find_highest_##suffix(w, &view, in, &place);                           \
            if (places)                                                                            \
                places[o] = place < 0 ? 0 : place;                                                 \
        }                                                                                          \
    }

DEFINE_MAX_POOL(float, f32, -INFINITY)
DEFINE_MAX_POOL(double, f64, -(double)INFINITY)
DEFINE_MAX_POOL(int8_t, i8, INT8_MIN)
DEFINE_MAX_POOL(int16_t, i16, INT16_MIN)
DEFINE_MAX_POOL(int32_t, i32, INT32_MIN)
DEFINE_MAX_POOL(int64_t, i64, INT64_MIN)
DEFINE_MAX_POOL(uint8_t, u8, 0)
DEFINE_MAX_POOL(uint16_t, u16, 0)
DEFINE_MAX_POOL(uint32_t, u32, 0)
DEFINE_MAX_POOL(uint64_t, u64, 0)

max_pool_fn *max_pool_scalar(enum irrun_dtype dtype)
{
    static max_pool_fn *const loops[IRRUN_N_DTYPES] = {
        [IRRUN_F32] = max_pool_f32, [IRRUN_F64] = max_pool_f64, [IRRUN_I8] = max_pool_i8,
        [IRRUN_I16] = max_pool_i16, [IRRUN_I32] = max_pool_i32, [IRRUN_I64] = max_pool_i64,
        [IRRUN_U8] = max_pool_u8,   [IRRUN_U16] = max_pool_u16, [IRRUN_U32] = max_pool_u32,
        [IRRUN_U64] = max_pool_u64,
    };
    return loops[dtype];
}

/* How many elements a mean is taken of. Pads count, what a window that was rounded up sees beyond
 * them does not. */
static int64_t count_terms(const struct window *w, const struct view *v, bool exclude_pad)
{
    int64_t n = 1;
    for (int d = 0; d < 3; d++) {
        int64_t room = w->in[d] + w->pad_end[d] - v->at[d];
        int64_t n_padded = room <= 0 ? 0 : (room + w->dilation[d] - 1) / w->dilation[d];
        if (exclude_pad)
            n *= v->end[d] - v->first[d];
        else
            n *= n_padded < w->kernel[d] ? n_padded : w->kernel[d];
    }
    return n;
}

#define DEFINE_AVG_POOL(T, suffix)                                                                 \
    static void avg_pool_##suffix(const struct window *w, bool exclude_pad, const void *in,        \
                                  void *out)                                                       \
    {                                                                                              \
        int64_t n_out = window_product(w->out);                                                    \
        for (int64_t o = 0; o < n_out; o++) {                                                      \
            struct view v = see(w, o);                                                             \
            double sum = 0;                                                                        \
            for (int64_t z = v.first[0]; z < v.end[0]; z++) {                                      \
                for (int64_t y = v.first[1]; y < v.end[1]; y++) {                                  \
                    const T *row = (const T *)in + row_start(w, &v, z, y);                         \
                    for (int64_t x = v.first[2]; x < v.end[2]; x++)                                \
                        sum += row[x * w->dilation[2]];                                            \
                }                                                                                  \
            }                                                                                      \
            int64_t n = count_terms(w, &v, exclude_pad);                                           \
            ((T *)out)[o] = (T)(n ? sum / (double)n : 0);                                          \
        }                                                                                          \
    }

DEFINE_AVG_POOL(float, f32)
DEFINE_AVG_POOL(double, f64)

avg_pool_fn *avg_pool_scalar(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 ? avg_pool_f32 : dtype == IRRUN_F64 ? avg_pool_f64 : NULL;
}
