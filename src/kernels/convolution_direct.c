/* Convolution and its transpose term by term: every weight is multiplied with the row that it
 * meets.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/convolution.h"

/* One kernel element with one channel of the input and of the output: the input position of output
 * position (z, y, x) is start + z * step[0] + y * step[1] + x * step[2]. */
struct term {
    int64_t first[3], end[3], start, step[3], out_step[2];
};

static struct term plan_term(const struct window *w, const int64_t k[3])
{
    struct term term;
    int64_t in_strides[3] = {w->in[1] * w->in[2], w->in[2], 1};
    term.start = 0;
    for (int d = 0; d < 3; d++) {
        window_positions(w, d, k[d], &term.first[d], &term.end[d]);
        term.start += (k[d] * w->dilation[d] - w->pad_begin[d]) * in_strides[d];
        term.step[d] = w->stride[d] * in_strides[d];
    }
    term.out_step[0] = w->out[1] * w->out[2];
    term.out_step[1] = w->out[2];
    return term;
}

/* W computes without undefined overflow. */
#define DEFINE_DIRECT(T, W, suffix)                                                                \
    static void add_term_##suffix(const struct term *t, const T *in, T weight, T *out)             \
    {                                                                                              \
        for (int64_t z = t->first[0]; z < t->end[0]; z++) {                                        \
            for (int64_t y = t->first[1]; y < t->end[1]; y++) {                                    \
                int64_t start = t->start + z * t->step[0] + y * t->step[1], step = t->step[2];     \
                T *row = out + z * t->out_step[0] + y * t->out_step[1];                            \
                for (int64_t x = t->first[2]; x < t->end[2]; x++)                                  \
                    row[x] = (T)(row[x] + (W)weight * (W)in[start + x * step]);                    \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void direct_##suffix(const struct convolution *c, const void *in, const void *weights,  \
                                void *out)                                                         \
    {                                                                                              \
        const struct window *w = &c->window;                                                       \
        int64_t n_in = window_product(w->in), n_out = window_product(w->out);                      \
        const T *weight = weights;                                                                 \
        memset(out, 0, (size_t)(c->c_out * n_out) * sizeof(T));                                    \
        for (int64_t o = 0; o < c->c_out; o++) {                                                   \
            for (int64_t i = 0; i < c->c_in; i++) {                                                \
                int64_t k[3];                                                                      \
                for (k[0] = 0; k[0] < w->kernel[0]; k[0]++) {                                      \
                    for (k[1] = 0; k[1] < w->kernel[1]; k[1]++) {                                  \
                        for (k[2] = 0; k[2] < w->kernel[2]; k[2]++) {                              \
                            struct term term = plan_term(w, k);                                    \
                            add_term_##suffix(&term, (const T *)in + i * n_in, *weight++,          \
                                              (T *)out + o * n_out);                               \
                        }                                                                          \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* The same terms with input and output exchanged. */
#define DEFINE_TRANSPOSED(T, W, suffix)                                                            \
    static void spread_term_##suffix(const struct term *t, const T *in, T weight, T *out)          \
    {                                                                                              \
        for (int64_t z = t->first[0]; z < t->end[0]; z++) {                                        \
            for (int64_t y = t->first[1]; y < t->end[1]; y++) {                                    \
                T *to = out + t->start + z * t->step[0] + y * t->step[1];                          \
                const T *row = in + z * t->out_step[0] + y * t->out_step[1];                       \
                for (int64_t x = t->first[2]; x < t->end[2]; x++)                                  \
                    to[x * t->step[2]] = (T)(to[x * t->step[2]] + (W)weight * (W)row[x]);          \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void transposed_##suffix(const struct convolution *c, const void *in,                   \
                                    const void *weights, void *out)                                \
    {                                                                                              \
        const struct window *w = &c->window;                                                       \
        int64_t n_in = window_product(w->out), n_out = window_product(w->in);                      \
        const T *weight = weights;                                                                 \
        memset(out, 0, (size_t)(c->c_out * n_out) * sizeof(T));                                    \
        for (int64_t i = 0; i < c->c_in; i++) {                                                    \
            for (int64_t o = 0; o < c->c_out; o++) {                                               \
                int64_t k[3];                                                                      \
                for (k[0] = 0; k[0] < w->kernel[0]; k[0]++) {                                      \
                    for (k[1] = 0; k[1] < w->kernel[1]; k[1]++) {                                  \
                        for (k[2] = 0; k[2] < w->kernel[2]; k[2]++) {                              \
                            struct term term = plan_term(w, k);                                    \
                            spread_term_##suffix(&term, (const T *)in + i * n_in, *weight++,       \
                                                 (T *)out + o * n_out);                            \
                        }                                                                          \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define DEFINE_BOTH(T, W, suffix)                                                                  \
    DEFINE_DIRECT(T, W, suffix)                                                                    \
    DEFINE_TRANSPOSED(T, W, suffix)

DEFINE_BOTH(float, float, f32)
DEFINE_BOTH(double, double, f64)
DEFINE_BOTH(uint8_t, uint32_t, u8)
DEFINE_BOTH(uint16_t, uint32_t, u16)
DEFINE_BOTH(uint32_t, uint32_t, u32)
DEFINE_BOTH(uint64_t, uint64_t, u64)

convolution_fn *convolution_direct(enum irrun_dtype dtype)
{
    static convolution_fn *const loops[IRRUN_N_DTYPES] = {
        [IRRUN_F32] = direct_f32, [IRRUN_F64] = direct_f64, [IRRUN_I8] = direct_u8,
        [IRRUN_I16] = direct_u16, [IRRUN_I32] = direct_u32, [IRRUN_I64] = direct_u64,
        [IRRUN_U8] = direct_u8,   [IRRUN_U16] = direct_u16, [IRRUN_U32] = direct_u32,
        [IRRUN_U64] = direct_u64,
    };
    return loops[dtype];
}

convolution_fn *convolution_transposed_direct(enum irrun_dtype dtype)
{
    static convolution_fn *const loops[IRRUN_N_DTYPES] = {
        [IRRUN_F32] = transposed_f32, [IRRUN_F64] = transposed_f64, [IRRUN_I8] = transposed_u8,
        [IRRUN_I16] = transposed_u16, [IRRUN_I32] = transposed_u32, [IRRUN_I64] = transposed_u64,
        [IRRUN_U8] = transposed_u8,   [IRRUN_U16] = transposed_u16, [IRRUN_U32] = transposed_u32,
        [IRRUN_U64] = transposed_u64,
    };
    return loops[dtype];
}
