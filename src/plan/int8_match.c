/* Computes the attributes of int8 ops: packed filters and requantization.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/int8_match.h"

#include <math.h>

#define ZERO_TOLERANCE 0x1p-14 /* a value this close to 0, in units of the scale, counts as 0 */

/* ---- filters ---- */

static int64_t dilation_of_columns(const struct window_attrs *window)
{
    const struct i64_list *dilations = &window->dilations;
    return dilations->n > 0 ? dilations->items[dilations->n - 1] : 1;
}

/* Divides the taps into segments. Taps of a row of the kernel are one segment if they are
 * adjacent, except in a depthwise convolution. */
static void find_segments(struct int8_convolution_attrs *attrs)
{
    bool is_row = !attrs->is_depthwise && dilation_of_columns(&attrs->window) == 1;
    size_t n_taps = (size_t)(attrs->kernel[0] * attrs->kernel[1]);
    attrs->n_segments = is_row ? (size_t)attrs->kernel[0] : n_taps;
    attrs->segment_bytes = n_taps / attrs->n_segments * attrs->c_in;
}

/* Packs the filters. Rows are taps, and within them input channels; columns are output channels. */
static bool pack_filters(const struct int8_weights *w, struct int8_convolution_attrs *attrs,
                         struct arena *arena, struct irrun_error *err)
{
    size_t n_taps = (size_t)(attrs->kernel[0] * attrs->kernel[1]);
    size_t columns = int8_n_groups(attrs->c_out) * INT8_GROUP, bytes = attrs->segment_bytes;
    size_t segment_quads = int8_n_quads(bytes), n_quads = attrs->n_segments * segment_quads;
    int8_t *packed = arena_alloc_array(arena, columns * n_quads, INT8_QUAD, err);
    for (size_t i = 0; packed && i < w->n_channels * w->n_inner; i++) {
        size_t at = i % w->n_inner, place = at % n_taps * attrs->c_in + at / n_taps;
        size_t row = place / bytes * segment_quads * INT8_QUAD + place % bytes;
        packed[int8_packed_index(n_quads, row, i / w->n_inner)] = w->elements[i];
    }
    attrs->filters = packed;
    return packed != NULL;
}

static bool pack_taps(const struct int8_weights *w, struct int8_convolution_attrs *attrs,
                      struct arena *arena, struct irrun_error *err)
{
    size_t n_taps = attrs->n_segments, columns = int8_n_groups(attrs->c_out) * INT8_GROUP;
    int16_t(*weights)[2] = arena_alloc_array(arena, n_taps * columns, sizeof *weights, err);
    for (size_t i = 0; weights && i < w->n_channels * n_taps; i++)
        weights[i % n_taps * columns + i / n_taps][0] = w->elements[i];
    attrs->weights = (const int16_t(*)[2])weights;
    return weights != NULL;
}

/* ---- scaling ---- */

/* Returns the zero point: the quantized value that stands for the number nearest to 0. */
static uint8_t find_zero_point(const struct quantization *range)
{
    float level = nearbyintf(-range->out_low / range->scale);
    return (uint8_t)(level > 0 ? level < range->last ? level : range->last : 0);
}

static double find_bias(const struct irrun_tensor *bias, size_t channel)
{
    if (!bias)
        return 0;
    return (double)((const float *)bias->data)[shape_n_elements(&bias->shape) == 1 ? 0 : channel];
}

/* Returns the summed-area table of each filter: element [y][x] is the sum of those in rows below y
 * and columns below x. */
static const int32_t *sum_taps(const struct int8_weights *w,
                               const struct int8_convolution_attrs *attrs, struct arena *arena,
                               struct irrun_error *err)
{
    size_t height = (size_t)attrs->kernel[0], width = (size_t)attrs->kernel[1];
    size_t columns = int8_n_groups(attrs->c_out) * INT8_GROUP, line = (width + 1) * columns;
    int32_t *sums = arena_alloc_array(arena, (height + 1) * line, sizeof *sums, err);
    for (size_t i = 0; sums && i < w->n_channels * w->n_inner; i++) {
        size_t tap = i % w->n_inner % (height * width), channel = i / w->n_inner;
        sums[(tap / width + 1) * line + (tap % width + 1) * columns + channel] += w->elements[i];
    }
    for (size_t i = line + columns; sums && i < (height + 1) * line; i++)
        if (i % line >= columns)
            sums[i] += sums[i - line] + sums[i - columns] - sums[i - line - columns];
    return sums;
}

/* Fills the requantization: value = in_scale * w_scale * (sum - zero_point * sum_w) + offset *
 * w_scale * sum_w + bias. sum_w is the sum of a filter, and offset the value of the zero point.
 * For u8 the result is (value - out_low) * out_scale, the inverse of the scale. */
static bool fill_scaling(const struct int8_match *match, struct int8_convolution_attrs *attrs,
                         struct arena *arena, struct irrun_error *err)
{
    const struct int8_weights *w = &match->weights;
    size_t columns = int8_n_groups(attrs->c_out) * INT8_GROUP;
    int32_t *start = arena_alloc_array(arena, columns, sizeof *start, err);
    float *scale = arena_alloc_array(arena, columns, sizeof *scale, err);
    float *bias = arena_alloc_array(arena, columns, sizeof *bias, err);
    double *border = arena_alloc_array(arena, 2 * columns, sizeof *border, err);
    if (!start || !scale || !bias || !border)
        return false;
    double in_scale = (double)match->in_range.scale, out_low = 0, out_scale = 1;
    double off = (double)match->in_range.out_low + (double)attrs->zero * in_scale;
    if (match->has_out_range) {
        out_low = (double)match->out_range.in_low;
        out_scale = (double)match->out_range.inverse_scale;
    }
    for (size_t c = 0; c < w->n_channels; c++) {
        int32_t sum = 0;
        for (size_t i = 0; i < w->n_inner; i++)
            sum += w->elements[c * w->n_inner + i];
        border[c] = off * (double)w->scales[c] * out_scale;
        border[columns + c] = (find_bias(match->bias, c) - out_low) * out_scale;
        start[c] = -(int32_t)attrs->zero * sum;
        scale[c] = (float)(in_scale * (double)w->scales[c] * out_scale);
        bias[c] = (float)(border[c] * sum + border[columns + c]);
    }
    float low = match->has_out_range ? 0 : -INFINITY,
          high = match->has_out_range ? match->out_range.last : INFINITY;
    float clamp_low = (float)((match->clamp_low - out_low) * out_scale),
          clamp_high = (float)((match->clamp_high - out_low) * out_scale);
    attrs->start = start;
    attrs->requantization = (struct requantization){.scale = scale,
                                                    .bias = bias,
                                                    .low = fminf(fmaxf(low, clamp_low), high),
                                                    .high = fmaxf(fminf(high, clamp_high), low)};
    if (fabs(off) <= ZERO_TOLERANCE * in_scale)
        return true;
    attrs->border = (struct border_terms){sum_taps(w, attrs, arena, err), border, border + columns};
    return attrs->border.sums != NULL;
}

const struct int8_convolution_attrs *int8_match_attrs(const struct int8_match *match,
                                                      struct arena *arena, struct irrun_error *err)
{
    struct int8_convolution_attrs *attrs = arena_alloc(arena, sizeof *attrs, err);
    const int64_t *dims = match->filters.dims;
    if (!attrs)
        return NULL;
    *attrs = (struct int8_convolution_attrs){
        .is_depthwise = match->is_depthwise,
        .n_spatial = match->n_spatial,
        .kernel = {dims[2], dims[3]},
        .c_in = match->is_depthwise ? match->weights.n_channels : (size_t)dims[1],
        .c_out = match->weights.n_channels,
        .zero = find_zero_point(&match->in_range),
        .to = match->has_out_range ? INT8_TO_U8 : INT8_TO_F32,
    };
    if (!match->is_product)
        attrs->window = *(const struct window_attrs *)match->op->attrs;
    else if (match->bias)
        attrs->rank_min = match->bias->shape.rank;
    find_segments(attrs);
    bool is_packed = match->is_depthwise ? pack_taps(&match->weights, attrs, arena, err)
                                         : pack_filters(&match->weights, attrs, arena, err);
    return is_packed && fill_scaling(match, attrs, arena, err) ? attrs : NULL;
}
