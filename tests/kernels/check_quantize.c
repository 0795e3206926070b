/* Checks quantization by one range against the loops of FakeQuantize, bit for bit: numbers outside
 * the range, ties, NaN, infinities, and reversed ranges.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "check_kernels.h"
#include "kernels/fake_quantize.h"

#define MAX_CHANNELS 11

static float random_number(float low, float high, float last)
{
    static const float special[] = {0.0F, -0.0F, INFINITY, -INFINITY, NAN, 3e38F, -3e38F, 1e-40F};
    uint32_t kind = random_below(20);
    if (kind == 0)
        return special[random_below(8)];
    if (kind < 5) /* between two levels, or on one */
        return low + (high - low) * (float)random_below(2 * (uint32_t)last + 1) / (2 * last);
    return random_float(3.0F);
}

static bool try_range(const struct trial *trial, size_t n, float low, float high, float out_low,
                      float out_high, int64_t levels)
{
    struct guarded in = guarded_new(n * sizeof(float)), out = guarded_new(n * sizeof(float));
    float *x = (void *)guarded_last(&in, n * sizeof(float));
    float *y = (void *)guarded_last(&out, n * sizeof(float));
    bool is_good = true;
    trial_says("n=%zu %g...%g to %g...%g, %d levels", n, (double)low, (double)high, (double)out_low,
               (double)out_high, (int)levels);
    for (size_t i = 0; i < n; i++)
        x[i] = random_number(low, high, (float)(levels - 1));
    struct quantization q = quantization_of(low, high, out_low, out_high, levels);
    trial->variant->quantize->fake(&q, x, y, n);
    for (size_t i = 0; i < n && is_good; i++) {
        float wanted;
        fake_quantize_scalar(IRRUN_F32)(&(struct fake_quantize_run){.n = 1,
                                                                    .levels = levels,
                                                                    .x = &x[i],
                                                                    .in_low = &low,
                                                                    .in_high = &high,
                                                                    .out_low = &out_low,
                                                                    .out_high = &out_high,
                                                                    .out = &wanted});
        bool is_same = memcmp(&y[i], &wanted, sizeof wanted) == 0;
        is_good =
            is_same || (isnan(y[i]) && isnan(wanted)) ||
            trial_fail("%.9g becomes %.9g, not %.9g", (double)x[i], (double)y[i], (double)wanted);
    }
    guarded_free(&in);
    guarded_free(&out);
    return is_good;
}

/* Returns whether rows_to_u8 gives the same bytes for the transposed numbers. Divides some of them
 * by slopes, by which rows_to_u8 multiplies them again. */
static bool try_rows(const struct trial *trial, const struct channel_ranges *ranges, const float *x,
                     const uint8_t *bytes, size_t n_channels, size_t n)
{
    size_t size = n_channels * n;
    float low[MAX_CHANNELS], scale[MAX_CHANNELS], last[MAX_CHANNELS], slopes[MAX_CHANNELS];
    bool has_slopes = random_below(2);
    struct guarded in = guarded_new(size * sizeof(float)), out = guarded_new(size);
    float *rows = (void *)guarded_last(&in, size * sizeof(float));
    uint8_t *levels = guarded_last(&out, size);
    for (size_t c = 0; c < n_channels; c++) {
        low[c] = range_of(ranges, c)->in_low;
        scale[c] = range_of(ranges, c)->inverse_scale;
        last[c] = range_of(ranges, c)->last;
        slopes[c] = has_slopes && random_below(2) ? 0.5F : 1;
    }
    for (size_t i = 0; i < size; i++) {
        float from = x[i % n_channels * n + i / n_channels];
        rows[i] = from < 0 ? from / slopes[i % n_channels] : from;
    }
    trial->variant->quantize->rows_to_u8(
        &(struct column_levels){low, scale, last, has_slopes ? slopes : NULL}, rows, levels, n,
        n_channels);
    bool is_good = memcmp(levels, bytes, size) == 0 || trial_fail("rows_to_u8 gives other bytes");
    guarded_free(&in);
    guarded_free(&out);
    return is_good;
}

/* Converts to bytes with the channels last, and back. The result must be that of FakeQuantize. */
static bool try_bytes(const struct trial *trial, size_t n_channels, size_t n)
{
    size_t size = n_channels * n;
    struct guarded in = guarded_new(size * sizeof(float)), bytes = guarded_new(size);
    struct guarded out = guarded_new(size * sizeof(float));
    float *x = (void *)guarded_last(&in, size * sizeof(float));
    float *y = (void *)guarded_last(&out, size * sizeof(float)), wanted;
    uint8_t *levels = guarded_last(&bytes, size);
    struct quantization all[MAX_CHANNELS];
    struct channel_ranges ranges = {all, random_below(2) ? n_channels : 1};
    int64_t n_levels = 2 + random_below(255);
    bool is_good;
    trial_says("bytes: channels=%zu ranges=%zu n=%zu", n_channels, ranges.n, n);
    for (size_t c = 0; c < ranges.n; c++)
        all[c] = quantization_of(-0.5F, 1.25F + (float)c, -1 - (float)c, 3, n_levels);
    for (size_t i = 0; i < size; i++)
        x[i] = random_below(9) == 0 ? INFINITY : random_number(-0.5F, 1.25F, all->last);
    trial->variant->quantize->to_u8(&ranges, x, n, levels, n_channels, n);
    trial->variant->quantize->from_u8(&ranges, levels, y, n, n_channels, n);
    is_good = try_rows(trial, &ranges, x, levels, n_channels, n);
    for (size_t i = 0; i < size && is_good; i++) {
        trial->reference->quantize->fake(range_of(&ranges, i / n), &x[i], &wanted, 1);
        is_good = isnan(x[i]) ? levels[i % n * n_channels + i / n] == 0 : y[i] == wanted;
        if (!is_good)
            trial_fail("%.9g becomes %.9g, not %.9g", (double)x[i], (double)y[i], (double)wanted);
    }
    guarded_free(&in);
    guarded_free(&bytes);
    guarded_free(&out);
    return is_good;
}

static bool try_sum(const struct trial *trial, size_t n, size_t a_stride, size_t b_stride)
{
    struct guarded in[2] = {guarded_new(n), guarded_new(n)}, to = guarded_new(n);
    uint8_t *a = guarded_last(&in[0], n), *b = guarded_last(&in[1], n), *out = guarded_last(&to, n);
    struct bytes_sum sum = {random_float(1), random_float(1), random_float(90), 3, 250};
    bool is_good = true;
    trial_says("sum: n=%zu strides=%zu,%zu", n, a_stride, b_stride);
    for (size_t i = 0; i < n; i++) {
        a[i] = (uint8_t)random_below(256);
        b[i] = (uint8_t)random_below(256);
    }
    trial->variant->quantize->add_u8(&sum, a, a_stride, b, b_stride, out, n);
    for (size_t i = 0; i < n && is_good; i++) {
        volatile float left = (float)a[i * a_stride] * sum.a_scale;
        volatile float right = (float)b[i * b_stride] * sum.b_scale, both = left + right;
        float x = both + sum.bias;
        uint8_t wanted = (uint8_t)nearbyintf(fminf(fmaxf(x, sum.low), sum.high));
        is_good = out[i] == wanted || trial_fail("byte %zu: %d, not %d", i, out[i], wanted);
    }
    guarded_free(&in[0]);
    guarded_free(&in[1]);
    guarded_free(&to);
    return is_good;
}

bool check_quantize(const struct trial *trial)
{
    for (size_t n = 1; n < 70; n++)
        if (!try_sum(trial, n, 1, 1) || !try_sum(trial, n, 0, 1) || !try_sum(trial, n, 1, 0))
            return false;
    for (size_t channels = 1; channels <= MAX_CHANNELS; channels++)
        if (!try_bytes(trial, channels, 1 + random_below(50)))
            return false;
    for (size_t n = 0; n < 80; n++) {
        float low = random_float(1.0F) - 1, high = low + 0.1F + (float)random_below(30) / 10;
        int64_t levels = 2 + random_below(300);
        if (!try_range(trial, n, low, high, low, high, levels) ||
            !try_range(trial, n, high, low, 1, -1, levels) ||
            !try_range(trial, n, -1, 1, -128, 127, 256) || !try_range(trial, n, 1, 1, 0, 1, 2))
            return false;
    }
    return true;
}

static void quantize(const void *context)
{
    const void *const *all = context;
    const struct trial *trial = all[0];
    static float y[102400];
    trial->variant->quantize->fake(all[1], all[2], y, 102400);
}

void measure_quantize(const struct trial *trial)
{
    static float x[102400];
    struct quantization q = quantization_of(-1, 1, -1, 1, 256);
    for (size_t i = 0; i < 102400; i++)
        x[i] = random_float(2.0F);
    measure_line("102400 f32", measure_s(quantize, (const void *[]){trial, &q, x}), 819200);
}
