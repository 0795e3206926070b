/* Checks depthwise convolutions of bytes against their definition, bit for bit, in memory that ends
 * at an unmapped page.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "check_kernels.h"

struct problem {
    struct int8_depthwise d;
    size_t lane_taps;
    struct guarded in, taps, weights, start, floats, biases, c;
};

static void *alloc_guarded(struct guarded *guarded, size_t n_bytes)
{
    *guarded = guarded_new(n_bytes);
    return guarded_last(guarded, n_bytes);
}

static void fill_requantization(struct problem *problem, size_t n_all)
{
    struct int8_depthwise *d = &problem->d;
    int32_t *start = alloc_guarded(&problem->start, n_all * sizeof *start);
    float *floats = alloc_guarded(&problem->floats, 4 * n_all * sizeof *floats);
    const float **biases = alloc_guarded(&problem->biases, d->n * sizeof *biases);
    for (size_t c = 0; c < n_all; c++) {
        start[c] = (int32_t)random_below(1 << 20) - (1 << 19);
        floats[c] = random_float(1e-3F);
        floats[n_all + c] = random_float(100) + 100;
        floats[2 * n_all + c] = (float)random_below(100);
        floats[3 * n_all + c] = floats[2 * n_all + c] + (float)random_below(155);
    }
    for (size_t i = 0; i < d->n; i++)
        biases[i] = floats + i % 2 * n_all;
    d->start = start;
    d->requantization =
        (struct requantization){floats, floats + n_all, floats + 2 * n_all, floats + 3 * n_all};
    d->pixel_biases = random_below(2) ? biases : NULL;
}

/* Sets random weights for all taps, and zeros as padding. */
static void fill_weights(struct problem *problem, size_t n_all)
{
    struct int8_depthwise *d = &problem->d;
    size_t lane_taps = problem->lane_taps, n_taps = d->n_rows * d->n_columns;
    size_t n = (d->n_rows + lane_taps - 1) / lane_taps * d->n_columns * n_all * sizeof(int32_t);
    void *weights = alloc_guarded(&problem->weights, n);
    memset(weights, 0, n);
    for (size_t i = 0; i < n_taps * d->n_channels; i++) {
        int weight = (int)random_below(256) - 128;
        size_t at = int8_tap_index(lane_taps, d->n_columns, i % n_taps, n_all, i / n_taps);
        if (lane_taps == 4)
            ((int8_t *)weights)[at] = (int8_t)weight;
        else
            ((int16_t *)weights)[at] = (int16_t)weight;
    }
    d->weights = weights;
}

/* Makes an image with as many rows as the filter, which gives one row of output pixels. */
static void fill_image(struct problem *problem, size_t stride)
{
    struct int8_depthwise *d = &problem->d;
    size_t row_bytes = ((d->n - 1) * stride + d->n_columns) * d->n_channels;
    size_t n_bytes = d->n_rows * row_bytes, n_taps = d->n_rows * d->n_columns;
    uint8_t *x = alloc_guarded(&problem->in, n_bytes);
    const uint8_t **taps = alloc_guarded(&problem->taps, n_taps * sizeof *taps);
    for (size_t i = 0; i < n_bytes; i++)
        x[i] = (uint8_t)random_below(256);
    for (size_t i = 0; i < n_taps; i++)
        taps[i] = x + i / d->n_columns * row_bytes + i % d->n_columns * d->n_channels;
    d->taps = taps;
    d->end = x + n_bytes;
    d->pixel_stride = stride * d->n_channels;
    d->column_stride = d->n_channels;
}

static bool is_right(const struct problem *problem, size_t n_all, size_t pixel, size_t channel)
{
    const struct int8_depthwise *d = &problem->d;
    const struct requantization *r = &d->requantization;
    int32_t sum = d->start[channel];
    for (size_t tap = 0; tap < d->n_rows * d->n_columns; tap++) {
        size_t at = int8_tap_index(problem->lane_taps, d->n_columns, tap, n_all, channel);
        int weight = problem->lane_taps == 4 ? ((const int8_t *)d->weights)[at]
                                             : ((const int16_t *)d->weights)[at];
        sum += d->taps[tap][pixel * d->pixel_stride + channel] * weight;
    }
    volatile float scaled = (float)sum * r->scale[channel]; /* rounded before the addition */
    float x = scaled + (d->pixel_biases ? d->pixel_biases[pixel] : r->bias)[channel];
    float low = r->low[channel], high = r->high[channel];
    x = x < low ? low : x > high ? high : x;
    size_t at = pixel * d->n_channels + channel;
    return d->to == INT8_TO_F32 ? ((const float *)d->c)[at] == x
                                : ((const uint8_t *)d->c)[at] == (uint8_t)nearbyintf(x);
}

static bool try_depthwise(const struct trial *trial, size_t n, size_t n_rows, size_t n_columns,
                          size_t n_channels, enum int8_result to)
{
    struct problem problem = {
        .d = {.n = n, .n_channels = n_channels, .n_rows = n_rows, .n_columns = n_columns, .to = to},
        .lane_taps = trial->variant->gemm_int8->lane_taps};
    size_t n_all = int8_n_groups(n_channels) * INT8_GROUP;
    fill_requantization(&problem, n_all);
    fill_weights(&problem, n_all);
    fill_image(&problem, n_columns > 2 ? 1 + random_below(2) : 3);
    problem.d.c =
        alloc_guarded(&problem.c, n * n_channels * (to == INT8_TO_F32 ? sizeof(float) : 1));
    trial_says("depthwise n=%zu taps=%zux%zu channels=%zu", n, n_rows, n_columns, n_channels);
    trial->variant->gemm_int8->depthwise(&problem.d);
    bool is_good = true;
    for (size_t i = 0; i < n * n_channels && is_good; i++)
        is_good = is_right(&problem, n_all, i / n_channels, i % n_channels) ||
                  trial_fail("pixel %zu, channel %zu", i / n_channels, i % n_channels);
    struct guarded *all[] = {&problem.in,     &problem.taps,   &problem.weights, &problem.start,
                             &problem.floats, &problem.biases, &problem.c};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        guarded_free(all[i]);
    return is_good;
}

bool check_int8_depthwise(const struct trial *trial)
{
    for (size_t channels = 1; channels <= 40; channels++)
        for (size_t rows = 1; rows <= 9; rows++)
            if (!try_depthwise(trial, 1 + random_below(30), rows, 3, channels, INT8_TO_U8) ||
                !try_depthwise(trial, 1 + random_below(30), rows, 5, channels, INT8_TO_U8) ||
                !try_depthwise(trial, 1 + random_below(99), rows, 1, channels, INT8_TO_F32))
                return false;
    return try_depthwise(trial, 200, 2, INT8_MAX_SHARED_TAPS / 2, 16, INT8_TO_U8);
}
