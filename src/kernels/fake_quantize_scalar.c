/* Plain loops of FakeQuantize.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/fake_quantize.h"

#include <math.h>
#include <stdbool.h>

#define BLOCK 256

/* Numbers of at most this size are rounded to even by adding and taking away 1.5 times a power of
 * two, beside which they have no digits behind the point. What x beyond the bounds becomes is not
 * looked at. */
#define ROUNDED_UP_TO_f32 4194304.0F
#define ROUNDER_f32 12582912.0F /* 1.5 * 2^23 */
#define ROUNDED_UP_TO_f64 2251799813685248.0
#define ROUNDER_f64 6755399441055744.0 /* 1.5 * 2^52 */

#define DEFINE_FAKE_QUANTIZE(T, suffix, f)                                                         \
    static inline T quantize_##suffix(T x, T in_low, T in_high, T out_low, T out_high, T n_steps)  \
    {                                                                                              \
        T low = in_high < in_low ? in_high : in_low, high = in_high < in_low ? in_low : in_high;   \
        T step = rint##f((x - in_low) / (in_high - in_low) * n_steps);                             \
        T between = step / n_steps * (out_high - out_low) + out_low;                               \
        return x <= low ? out_low : x > high ? out_high : between;                                 \
    }                                                                                              \
                                                                                                   \
    /* The same bounds for all, in loops that a compiler can make vectors of. */                   \
    static void quantize_block_##suffix(const struct fake_quantize_run *r, const T *x, T *out,     \
                                        size_t n)                                                  \
    {                                                                                              \
        T in_low = *(const T *)r->in_low, in_high = *(const T *)r->in_high;                        \
        T out_low = *(const T *)r->out_low, out_high = *(const T *)r->out_high;                    \
        T low = in_high < in_low ? in_high : in_low, high = in_high < in_low ? in_low : in_high;   \
        T n_steps = (T)(r->levels - 1), between[BLOCK];                                            \
        for (size_t i = 0; i < n; i++) {                                                           \
            T step = (x[i] - in_low) / (in_high - in_low) * n_steps;                               \
            step += ROUNDER_##suffix;                                                              \
            step -= ROUNDER_##suffix;                                                              \
            between[i] = step / n_steps * (out_high - out_low) + out_low;                          \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            T number = x[i], here = between[i];                                                    \
            here = number > high ? out_high : here;                                                \
            out[i] = number <= low ? out_low : here;                                               \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void fake_quantize_##suffix(const struct fake_quantize_run *r)                          \
    {                                                                                              \
        const T *x = r->x, *in_low = r->in_low, *in_high = r->in_high;                             \
        const T *out_low = r->out_low, *out_high = r->out_high;                                    \
        T n_steps = (T)(r->levels - 1), *out = r->out;                                             \
        bool is_one_range =                                                                        \
            (r->in_low_stride | r->in_high_stride | r->out_low_stride | r->out_high_stride) == 0;  \
        bool is_plain = is_one_range && r->x_stride == 1 && n_steps <= ROUNDED_UP_TO_##suffix;     \
        for (size_t i = 0; i < r->n && is_plain; i += BLOCK)                                       \
            quantize_block_##suffix(r, x + i, out + i, r->n - i < BLOCK ? r->n - i : BLOCK);       \
        for (size_t i = 0; i < r->n && !is_plain; i++)                                             \
            out[i] = quantize_##suffix(                                                            \
                x[i * r->x_stride], in_low[i * r->in_low_stride], in_high[i * r->in_high_stride],  \
                out_low[i * r->out_low_stride], out_high[i * r->out_high_stride], n_steps);        \
    }

DEFINE_FAKE_QUANTIZE(float, f32, f)
DEFINE_FAKE_QUANTIZE(double, f64, )

fake_quantize_fn *fake_quantize_scalar(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 ? fake_quantize_f32 : dtype == IRRUN_F64 ? fake_quantize_f64 : NULL;
}
