/* Computes the attributes of int8 ops (ops/int8_ops.h), including their requantization.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/int8_match.h"

#include <math.h>

#define ZERO_TOLERANCE 0x1p-14 /* a value this close to 0, in units of the scale, counts as 0 */

/* Returns the zero point: the quantized value that represents the number nearest to 0. */
static uint8_t find_zero_point(const struct quantization *range)
{
    float level = nearbyintf(-range->out_low / range->scale);
    return (uint8_t)(level > 0 ? level < range->last ? level : range->last : 0);
}

/* Returns the zero points of n input channels. Pads are filled with them, too. */
static const uint8_t *find_zeros(const struct channel_ranges *ranges, size_t n, struct arena *arena,
                                 struct irrun_error *err)
{
    uint8_t *zeros = arena_alloc(arena, n, err);
    for (size_t c = 0; zeros && c < n; c++)
        zeros[c] = find_zero_point(range_of(ranges, c));
    return zeros;
}

static float channel_value(const struct irrun_tensor *tensor, size_t channel)
{
    return ((const float *)tensor->data)[channel % (size_t)shape_n_elements(&tensor->shape)];
}

/* Returns the summed-area table of each filter: element [y][x] is the sum of the taps in rows
 * before y and columns before x. */
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

/* The scaling of the sums. The arrays have an element for each column of all packed groups. */
struct scaling {
    int32_t *start;
    float *scale, *bias, *low, *high;
    double *border_scale, *border_shift;
    bool has_borders; /* pads change the bias, because a channel has no level that is 0 */
};

static bool scaling_new(size_t n, struct scaling *scaling, struct arena *arena,
                        struct irrun_error *err)
{
    float *floats = arena_alloc_array(arena, 4 * n, sizeof *floats, err);
    double *doubles = arena_alloc_array(arena, 2 * n, sizeof *doubles, err);
    int32_t *start = arena_alloc_array(arena, n, sizeof *start, err);
    if (!floats || !doubles || !start)
        return false;
    *scaling = (struct scaling){.start = start,
                                .scale = floats,
                                .bias = floats + n,
                                .low = floats + 2 * n,
                                .high = floats + 3 * n,
                                .border_scale = doubles,
                                .border_shift = doubles + n};
    return true;
}

/* Returns whether the sums are converted to levels of the out_format without an activation. */
static bool is_requantized(const struct int8_match *match)
{
    return match->has_out_format && !match->has_activation;
}

/* A value x becomes (x * factor + shift - low) * scale. */
struct channel_map {
    double factor, shift, low, scale;
};

/* Returns the map from the values of a channel after ReLU or Clamp to the result of the op. */
static struct channel_map channel_map_of(const struct int8_match *match, size_t c)
{
    struct channel_map map = {1, 0, 0, 1};
    if (match->multipliers)
        map.factor = (double)channel_value(match->multipliers, c);
    if (match->shifts)
        map.shift = (double)channel_value(match->shifts, c);
    if (is_requantized(match)) {
        const struct quantization *out = range_of(&match->out_format.ranges, c);
        map.low = (double)out->in_low;
        map.scale = (double)out->inverse_scale;
    }
    return map;
}

static double apply_map(const struct channel_map *map, double x)
{
    return (x * map->factor + map->shift - map->low) * map->scale;
}

/* Finds the bounds of a channel: the bounds of Clamp, limited to the levels if the result is u8. */
static void find_bounds(const struct int8_match *match, size_t c, const struct channel_map *map,
                        float *low, float *high)
{
    const struct channel_ranges *out = &match->out_format.ranges;
    float first = is_requantized(match) ? 0 : -INFINITY,
          last = is_requantized(match) ? range_of(out, c)->last : INFINITY;
    float a = (float)apply_map(map, match->clamp_low), b = (float)apply_map(map, match->clamp_high);
    *low = fminf(fmaxf(first, fminf(a, b)), last);
    *high = fmaxf(fminf(last, fmaxf(a, b)), first);
}

/* Fills the requantization of a column: value = in_scale * w_scale * (sum - zero_point * sum_w) +
 * offset * w_scale * sum_w + bias, to which the map of the channel is applied. sum_w is the sum of
 * a filter, and offset the value of the zero point. A depthwise channel has the range of the input
 * channel with the same index; otherwise all input channels have one range. */
static void fill_column(const struct int8_match *match, const uint8_t *zeros, size_t column,
                        struct scaling *scaling)
{
    const struct int8_weights *w = &match->weights;
    size_t c = column % w->n_channels, in = match->is_depthwise ? c : 0;
    const struct quantization *range = range_of(&match->in_format.ranges, in);
    struct channel_map map = channel_map_of(match, c);
    double in_scale = (double)range->scale;
    double off = (double)range->out_low + (double)zeros[in] * in_scale;
    double bias = match->bias ? (double)channel_value(match->bias, c) : 0;
    int32_t sum = 0;
    double w_scale = (double)w->scales[c] * map.factor;
    for (size_t i = 0; i < w->n_inner; i++)
        sum += w->elements[c * w->n_inner + i];
    scaling->border_scale[column] = off * w_scale * map.scale;
    scaling->border_shift[column] = apply_map(&map, bias);
    scaling->start[column] = -(int32_t)zeros[in] * sum;
    scaling->scale[column] = (float)(in_scale * w_scale * map.scale);
    scaling->bias[column] =
        (float)(scaling->border_scale[column] * sum + scaling->border_shift[column]);
    find_bounds(match, c, &map, &scaling->low[column], &scaling->high[column]);
    scaling->has_borders |= fabs(off) > ZERO_TOLERANCE * in_scale;
}

static bool fill_scaling(const struct int8_match *match, struct int8_convolution_attrs *attrs,
                         struct arena *arena, struct irrun_error *err)
{
    struct scaling all;
    size_t n_columns = int8_n_groups(attrs->c_out) * INT8_GROUP;
    if (!scaling_new(n_columns, &all, arena, err))
        return false;
    for (size_t i = 0; i < n_columns; i++) /* columns after the channels: joined pixels */
        fill_column(match, attrs->zeros, i, &all);
    attrs->start = all.start;
    attrs->requantization = (struct requantization){all.scale, all.bias, all.low, all.high};
    if (!all.has_borders)
        return true;
    attrs->border = (struct border_terms){sum_taps(&match->weights, attrs, arena, err),
                                          all.border_scale, all.border_shift};
    return attrs->border.sums != NULL;
}

/* Fills attrs->levels: the output ranges of an activation, and the slopes of a PReLU. */
static bool fill_levels(const struct int8_match *match, struct int8_convolution_attrs *attrs,
                        struct arena *arena, struct irrun_error *err)
{
    size_t n = attrs->c_out;
    float *floats = arena_alloc_array(arena, 4 * n, sizeof *floats, err);
    for (size_t c = 0; floats && c < n; c++) {
        const struct quantization *range = range_of(&match->out_format.ranges, c);
        floats[c] = range->in_low;
        floats[n + c] = range->inverse_scale;
        floats[2 * n + c] = range->last;
        if (match->slopes)
            floats[3 * n + c] = channel_value(match->slopes, c);
    }
    attrs->levels = (struct column_levels){floats, floats + n, floats + 2 * n,
                                           match->slopes ? floats + 3 * n : NULL};
    return floats != NULL;
}

const struct int8_convolution_attrs *int8_match_attrs(const struct int8_match *match,
                                                      const struct int8_kernels *kernels,
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
        .c_in = match->n_groups * (size_t)dims[1],
        .group_c_in = (size_t)dims[1],
        .enlarge = {match->enlarge[0], match->enlarge[1]},
        .c_out = match->weights.n_channels,
        .to = match->has_out_format ? INT8_TO_U8 : INT8_TO_F32,
        .is_last = match->out_channels_last,
        .is_activated = match->has_activation,
        .activation = match->activation,
    };
    if (match->window)
        attrs->window = *match->window;
    else if (match->bias)
        attrs->rank_min = match->bias->shape.rank;
    if (!int8_find_segments(match, attrs, arena, err))
        return NULL;
    attrs->zeros = find_zeros(&match->in_format.ranges, attrs->c_in, arena, err);
    if (!attrs->zeros || !fill_scaling(match, attrs, arena, err) ||
        (attrs->is_activated && !fill_levels(match, attrs, arena, err)))
        return NULL;
    return int8_pack_weights(match, kernels, attrs, arena, err) ? attrs : NULL;
}

const struct bytes_sum *int8_match_sum(const struct int8_match *match, const struct quantization *a,
                                       const struct quantization *b, struct arena *arena,
                                       struct irrun_error *err)
{
    struct bytes_sum *sum = arena_alloc(arena, sizeof *sum, err);
    struct channel_map map = channel_map_of(match, 0);
    if (!sum)
        return NULL;
    *sum =
        (struct bytes_sum){.a_scale = (float)((double)a->scale * map.scale),
                           .b_scale = (float)((double)b->scale * map.scale),
                           .bias = (float)apply_map(&map, (double)a->out_low + (double)b->out_low)};
    find_bounds(match, 0, &map, &sum->low, &sum->high);
    return sum;
}

const struct int8_scale_attrs *int8_match_scale(const struct int8_match *match, size_t lane_taps,
                                                struct arena *arena, struct irrun_error *err)
{
    size_t n = match->weights.n_channels, n_all = int8_n_groups(n) * INT8_GROUP;
    struct int8_convolution_attrs one = {.kernel = {1, 1}, .n_segments = 1, .c_out = n};
    struct int8_scale_attrs *attrs = arena_alloc(arena, sizeof *attrs, err);
    float *floats = arena_alloc_array(arena, 5 * n_all, sizeof *floats, err);
    int32_t *start = arena_alloc_array(arena, n_all, sizeof *start, err);
    if (!attrs || !floats || !start ||
        !int8_pack_taps(&match->weights, &one, lane_taps, arena, err))
        return NULL;
    float *scale = floats, *bias = scale + n_all, *offset = bias + n_all, *low = offset + n_all,
          *high = low + n_all;
    for (size_t c = 0; c < n; c++) {
        const struct quantization *in = range_of(&match->in_format.ranges, c);
        struct channel_map map = channel_map_of(match, c);
        double slope = map.factor * map.scale;
        scale[c] = (float)((double)in->scale * slope);
        bias[c] = (float)apply_map(&map, 0);
        offset[c] = (float)((double)in->out_low * slope);
        find_bounds(match, c, &map, &low[c], &high[c]);
    }
    *attrs = (struct int8_scale_attrs){match->n_spatial, n,           {scale, bias, low, high},
                                       offset,           one.weights, start};
    return attrs;
}
