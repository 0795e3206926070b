/* The loops of FakeQuantize for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_float.h instead"
#endif

static inline T NAME(quantize)(T x, T in_low, T in_high, T out_low, T out_high, T last)
{
    T low = in_high < in_low ? in_high : in_low, high = in_high < in_low ? in_low : in_high;
    T inverse_scale = (T)((double)last / ((double)in_high - (double)in_low));
    T scale = (T)(((double)out_high - (double)out_low) / (double)last);
    T level = rint((x - in_low) * inverse_scale);
    T between = level == last ? out_high : level * scale + out_low;
    return x <= low ? out_low : x > high ? out_high : between;
}

static void NAME(fake_quantize)(const struct fake_quantize_run *r)
{
    const T *x = r->x, *in_low = r->in_low, *in_high = r->in_high;
    const T *out_low = r->out_low, *out_high = r->out_high;
    T last = (T)(r->levels - 1), *out = r->out;
    for (size_t i = 0; i < r->n; i++)
        out[i] = NAME(quantize)(x[i * r->x_stride], in_low[i * r->in_low_stride],
                                in_high[i * r->in_high_stride], out_low[i * r->out_low_stride],
                                out_high[i * r->out_high_stride], last);
}
