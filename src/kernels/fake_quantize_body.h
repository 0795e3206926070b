/* The loops of FakeQuantize for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include it by kernels/each_float.h"
#endif

static inline T NAME(quantize)(T x, T in_low, T in_high, T out_low, T out_high, T n_steps)
{
    T low = in_high < in_low ? in_high : in_low, high = in_high < in_low ? in_low : in_high;
    T step = rint((x - in_low) / (in_high - in_low) * n_steps);
    T between = step / n_steps * (out_high - out_low) + out_low;
    return x <= low ? out_low : x > high ? out_high : between;
}

/* The same bounds for all, in loops that a compiler can make vectors of. */
static void NAME(quantize_block)(const struct fake_quantize_run *r, const T *x, T *out, size_t n)
{
    T in_low = *(const T *)r->in_low, in_high = *(const T *)r->in_high;
    T out_low = *(const T *)r->out_low, out_high = *(const T *)r->out_high;
    T low = in_high < in_low ? in_high : in_low, high = in_high < in_low ? in_low : in_high;
    T n_steps = (T)(r->levels - 1), rounder = ROUNDER, between[BLOCK];
    for (size_t i = 0; i < n; i++) {
        T step = (x[i] - in_low) / (in_high - in_low) * n_steps;
        step += rounder;
        step -= rounder;
        between[i] = step / n_steps * (out_high - out_low) + out_low;
    }
    for (size_t i = 0; i < n; i++) {
        T number = x[i], here = between[i];
        here = number > high ? out_high : here;
        out[i] = number <= low ? out_low : here;
    }
}

static void NAME(fake_quantize)(const struct fake_quantize_run *r)
{
    const T *x = r->x, *in_low = r->in_low, *in_high = r->in_high;
    const T *out_low = r->out_low, *out_high = r->out_high;
    T n_steps = (T)(r->levels - 1), *out = r->out;
    bool is_one_range =
        (r->in_low_stride | r->in_high_stride | r->out_low_stride | r->out_high_stride) == 0;
    bool is_plain = is_one_range && r->x_stride == 1 && n_steps <= ROUNDED_UP_TO;
    for (size_t i = 0; i < r->n && is_plain; i += BLOCK)
        NAME(quantize_block)(r, x + i, out + i, r->n - i < BLOCK ? r->n - i : BLOCK);
    for (size_t i = 0; i < r->n && !is_plain; i++)
        out[i] = NAME(quantize)(x[i * r->x_stride], in_low[i * r->in_low_stride],
                                in_high[i * r->in_high_stride], out_low[i * r->out_low_stride],
                                out_high[i * r->out_high_stride], n_steps);
}
