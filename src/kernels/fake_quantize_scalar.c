/* Plain loops of FakeQuantize.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/fake_quantize.h"

#include <math.h>

#define DEFINE_FAKE_QUANTIZE(T, suffix, f)                                                         \
    static inline T quantize_##suffix(T x, T in_low, T in_high, T out_low, T out_high, T n_steps)  \
    {                                                                                              \
        T low = in_high < in_low ? in_high : in_low, high = in_high < in_low ? in_low : in_high;   \
        T step = rint##f((x - in_low) / (in_high - in_low) * n_steps);                             \
        T between = step / n_steps * (out_high - out_low) + out_low;                               \
        return x <= low ? out_low : x > high ? out_high : between;                                 \
    }                                                                                              \
                                                                                                   \
    static void fake_quantize_##suffix(const struct fake_quantize_run *r)                          \
    {                                                                                              \
        const T *x = r->x, *in_low = r->in_low, *in_high = r->in_high;                             \
        const T *out_low = r->out_low, *out_high = r->out_high;                                    \
        T n_steps = (T)(r->levels - 1), *out = r->out;                                             \
        for (size_t i = 0; i < r->n; i++)                                                          \
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
