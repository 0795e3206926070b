/* Plain loops of the poolings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/pool.h"

#include <float.h>
#include <math.h>

/* What an output position sees: kernel elements [first, end) of every dimension, and the input
 * position of kernel element 0. */
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

/* The output positions [first, end) along the innermost dimension that see every kernel element. */
static void find_whole(const struct window *w, int64_t *first, int64_t *end)
{
    int64_t unused;
    window_positions(w, 2, 0, first, &unused);
    window_positions(w, 2, w->kernel[2] - 1, &unused, end);
    *end = *end < *first ? *first : *end;
}

/* to[i] = larger of to[i] and in[i * stride]; strides that are known are vectorised. */
#define DEFINE_RAISE(T, suffix)                                                                    \
    static inline void raise_##suffix(const T *restrict in, int64_t stride, T *restrict to,        \
                                      int64_t n)                                                   \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            to[i] = in[i * stride] > to[i] ? in[i * stride] : to[i];                               \
    }                                                                                              \
                                                                                                   \
    static void raise_row_##suffix(const T *in, int64_t stride, T *to, int64_t n)                  \
    {                                                                                              \
        if (stride == 1)                                                                           \
            raise_##suffix(in, 1, to, n);                                                          \
        else if (stride == 2)                                                                      \
            raise_##suffix(in, 2, to, n);                                                          \
        else                                                                                       \
            raise_##suffix(in, stride, to, n);                                                     \
    }

/* Whole rows at a time where every window sees all its elements, else window by window; a window
 * that found nothing above the lowest is looked at again, for it may have seen nothing at all. */
#define DEFINE_MAX_POOL(T, suffix, lowest, of_nothing)                                             \
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
        return *place < 0 ? of_nothing : highest;                                                  \
    }                                                                                              \
                                                                                                   \
    DEFINE_RAISE(T, suffix)                                                                        \
                                                                                                   \
    static void pool_row_##suffix(const struct window *w, struct view v, const T *in, T *out,      \
                                  int64_t first, int64_t end)                                      \
    {                                                                                              \
        v.at[2] = first * w->stride[2] - w->pad_begin[2];                                          \
        for (int64_t o = first; o < end; o++)                                                      \
            out[o] = lowest;                                                                       \
        for (int64_t z = v.first[0]; z < v.end[0]; z++)                                            \
            for (int64_t y = v.first[1]; y < v.end[1]; y++)                                        \
                for (int64_t x = 0; x < w->kernel[2]; x++)                                         \
                    raise_row_##suffix(in + row_start(w, &v, z, y) + x * w->dilation[2],           \
                                       w->stride[2], out + first, end - first);                    \
    }                                                                                              \
                                                                                                   \
    static void max_pool_##suffix(const struct window *w, const void *in, void *out,               \
                                  int64_t *places)                                                 \
    {                                                                                              \
        int64_t n_out = window_product(w->out), place, first, end;                                 \
        find_whole(w, &first, &end);                                                               \
        for (int64_t row = 0; row < n_out; row += w->out[2]) {                                     \
            T *to = (T *)out + row;                                                                \
            if (!places)                                                                           \
                pool_row_##suffix(w, see(w, row), in, to, first, end);                             \
            for (int64_t o = 0; o < w->out[2]; o++) {                                              \
                if (!places && o >= first && o < end && to[o] != lowest)                           \
                    continue;                                                                      \
                struct view view = see(w, row + o);                                                \
                to[o] = find_highest_##suffix(w, &view, in, &place);                               \
                if (places)                                                                        \
                    places[row + o] = place < 0 ? 0 : place;                                       \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_MAX_POOL(float, f32, -INFINITY, -FLT_MAX)
DEFINE_MAX_POOL(double, f64, -(double)INFINITY, -DBL_MAX)
DEFINE_MAX_POOL(int8_t, i8, INT8_MIN, INT8_MIN)
DEFINE_MAX_POOL(int16_t, i16, INT16_MIN, INT16_MIN)
DEFINE_MAX_POOL(int32_t, i32, INT32_MIN, INT32_MIN)
DEFINE_MAX_POOL(int64_t, i64, INT64_MIN, INT64_MIN)
DEFINE_MAX_POOL(uint8_t, u8, 0, 0)
DEFINE_MAX_POOL(uint16_t, u16, 0, 0)
DEFINE_MAX_POOL(uint32_t, u32, 0, 0)
DEFINE_MAX_POOL(uint64_t, u64, 0, 0)

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

/* How many elements a mean is taken of. With pads that count it is always the whole kernel; without
 * any, or if they do not count, what a window sees. So it is in OpenVINO, also where a window that
 * was rounded up reaches beyond the pads. */
static int64_t count_terms(const struct window *w, const struct view *v, bool exclude_pad)
{
    int64_t n = 1, n_pads = 0;
    for (int d = 0; d < 3; d++) {
        n *= v->end[d] - v->first[d];
        n_pads += w->pad_begin[d] != 0 || w->pad_end[d] != 0;
    }
    return exclude_pad || n_pads == 0 ? n : window_product(w->kernel);
}

#define SUMS 64 /* positions at a time */

#define DEFINE_AVG_POOL(T, suffix)                                                                 \
    static inline void add_##suffix(const T *restrict in, int64_t stride, double *restrict to,     \
                                    int64_t n)                                                     \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            to[i] += in[i * stride];                                                               \
    }                                                                                              \
                                                                                                   \
    /* n positions that see all their elements of a row. */                                        \
    static void average_whole_##suffix(const struct window *w, bool exclude_pad, struct view v,    \
                                       const T *in, T *out, int64_t n)                             \
    {                                                                                              \
        double sums[SUMS] = {0};                                                                   \
        for (int64_t z = v.first[0]; z < v.end[0]; z++) {                                          \
            for (int64_t y = v.first[1]; y < v.end[1]; y++) {                                      \
                const T *row = in + row_start(w, &v, z, y);                                        \
                for (int64_t x = 0; x < w->kernel[2]; x++) {                                       \
                    if (w->stride[2] == 1)                                                         \
                        add_##suffix(row + x * w->dilation[2], 1, sums, n);                        \
                    else                                                                           \
                        add_##suffix(row + x * w->dilation[2], w->stride[2], sums, n);             \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        int64_t n_terms = count_terms(w, &v, exclude_pad);                                         \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = (T)(n_terms ? sums[i] / (double)n_terms : 0);                                 \
    }                                                                                              \
                                                                                                   \
    static void average_##suffix(const struct window *w, bool exclude_pad, const struct view *v,   \
                                 const T *in, T *out)                                              \
    {                                                                                              \
        double sum = 0;                                                                            \
        for (int64_t z = v->first[0]; z < v->end[0]; z++) {                                        \
            for (int64_t y = v->first[1]; y < v->end[1]; y++) {                                    \
                const T *row = in + row_start(w, v, z, y);                                         \
                for (int64_t x = v->first[2]; x < v->end[2]; x++)                                  \
                    sum += row[x * w->dilation[2]];                                                \
            }                                                                                      \
        }                                                                                          \
        int64_t n = count_terms(w, v, exclude_pad);                                                \
        *out = (T)(n ? sum / (double)n : 0);                                                       \
    }                                                                                              \
                                                                                                   \
    static void avg_pool_##suffix(const struct window *w, bool exclude_pad, const void *in,        \
                                  void *out)                                                       \
    {                                                                                              \
        int64_t n_out = window_product(w->out), first, end, n;                                     \
        find_whole(w, &first, &end);                                                               \
        for (int64_t i = 0; i < n_out; i += n) {                                                   \
            int64_t x = i % w->out[2];                                                             \
            struct view v = see(w, i);                                                             \
            n = x >= first && x < end ? (end - x < SUMS ? end - x : SUMS) : 1;                     \
            if (n > 1)                                                                             \
                average_whole_##suffix(w, exclude_pad, v, in, (T *)out + i, n);                    \
            else                                                                                   \
                average_##suffix(w, exclude_pad, &v, in, (T *)out + i);                            \
        }                                                                                          \
    }

DEFINE_AVG_POOL(float, f32)
DEFINE_AVG_POOL(double, f64)

avg_pool_fn *avg_pool_scalar(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 ? avg_pool_f32 : dtype == IRRUN_F64 ? avg_pool_f64 : NULL;
}
