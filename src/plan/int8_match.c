/* Computes the attributes of int8 ops: packed filters and requantization.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/int8_match.h"

#include <math.h>

/* At most one in this many quads may have an excess: adding one costs 8 times what multiplying a
 * quad by words instead of bytes does. */
#define QUADS_PER_EXCESS 8
#define WINOGRAD_MIN_CHANNELS 16   /* of the input */
#define WINOGRAD_MAX_CHANNELS 1024 /* the fourfold of a sum of 9 * 1024 products fits into i32 */
#define WINOGRAD_FEW_FILTERS ((size_t)256 * 256) /* of 16 words each when packed: 2 MB */
#define ZERO_TOLERANCE 0x1p-14 /* a value this close to 0, in units of the scale, counts as 0 */

/* ---- filters ---- */

/* Returns the last of a list, which is for the columns of an image. */
static size_t last_of(const struct i64_list *list)
{
    return list->n > 0 ? (size_t)list->items[list->n - 1] : 1;
}

/* Finds the input channels that the columns of each packed group read. All read the same number of
 * them, so that the columns of some groups also have zeros. */
static bool find_offsets(const struct int8_match *match, struct int8_convolution_attrs *attrs,
                         struct arena *arena, struct irrun_error *err)
{
    size_t n = int8_n_groups(attrs->c_out), c_out = (size_t)match->filters.dims[0], n_read = 0;
    uint32_t *offsets = arena_alloc_array(arena, n, sizeof *offsets, err);
    for (size_t i = 0; offsets && i < n; i++) {
        size_t end = (i + 1) * INT8_GROUP, last = (end < attrs->c_out ? end : attrs->c_out) - 1;
        size_t first = i * INT8_GROUP / c_out;
        size_t n_groups = last / c_out - first + 1;
        offsets[i] = (uint32_t)(first * attrs->group_c_in);
        n_read = n_groups > n_read ? n_groups : n_read;
    }
    attrs->segment_bytes = n_read * attrs->group_c_in;
    for (size_t i = 0; offsets && i < n; i++)
        if (offsets[i] > attrs->c_in - attrs->segment_bytes)
            offsets[i] = (uint32_t)(attrs->c_in - attrs->segment_bytes);
    attrs->offsets = offsets;
    return offsets != NULL;
}

/* Divides the taps into segments. Taps of a row of the kernel are one segment if they are adjacent
 * and have all channels. */
static bool find_segments(const struct int8_match *match, struct int8_convolution_attrs *attrs,
                          struct arena *arena, struct irrun_error *err)
{
    bool is_row =
        !match->is_depthwise && match->n_groups == 1 && last_of(&attrs->window.dilations) == 1;
    size_t n_taps = (size_t)(attrs->kernel[0] * attrs->kernel[1]);
    attrs->n_segments = is_row ? (size_t)attrs->kernel[0] : n_taps;
    attrs->segment_bytes = n_taps / attrs->n_segments * attrs->c_in;
    return match->n_groups == 1 || match->is_depthwise || find_offsets(match, attrs, arena, err);
}

/* Decides how many pixels are joined: as many as need the least products for each. None if rows are
 * short, or if a bias depends on the pixel. */
static void join_pixels(const struct int8_match *match, bool adds_pairs,
                        struct int8_convolution_attrs *attrs)
{
    size_t c_out = attrs->c_out, n_taps = (size_t)attrs->kernel[1];
    size_t step = last_of(&attrs->window.strides);
    double least = 0;
    attrs->n_joined = 1;
    if (match->n_groups > 1 || match->is_depthwise || match->is_small || n_taps == 1 ||
        attrs->border.sums || last_of(&attrs->window.dilations) > 1)
        return;
    for (size_t n = 1; n * c_out <= INT8_GROUP; n++) {
        bool is_half = adds_pairs && n * c_out <= INT8_GROUP / 2; /* which takes half the time */
        size_t bytes = (n_taps + (n - 1) * step) * attrs->c_in;
        double work = (double)int8_n_quads(bytes) / (double)(is_half ? 2 * n : n);
        if (n > 1 && work >= least)
            continue;
        least = work;
        attrs->n_joined = n;
        attrs->c_out = n * c_out;
        attrs->segment_bytes = bytes;
    }
}

/* Takes what exceeds 16 bits from the filters, unless many quads have it. */
static bool take_excess(int8_t *packed, struct int8_convolution_attrs *attrs, struct arena *arena,
                        struct irrun_error *err)
{
    size_t n_groups = int8_n_groups(attrs->c_out), n_quads = int8_n_quads(attrs->segment_bytes);
    size_t n_all = n_groups * attrs->n_segments * n_quads, n = int8_excess_count(packed, n_all);
    attrs->has_words = n > n_all / QUADS_PER_EXCESS;
    if (attrs->has_words) {
        int8_halve(packed, n_all);
        return true;
    }
    struct int8_excess to = {
        arena_alloc_array(arena, n_groups + 1, sizeof *to.begins, err),
        arena_alloc_array(arena, n, sizeof *to.places, err),
        arena_alloc_array(arena, n * INT8_GROUP, sizeof *to.odd, err),
    };
    if (!to.begins || !to.places || !to.odd)
        return false;
    int8_excess_take(packed, n_groups, attrs->n_segments, n_quads, &to);
    attrs->excess = arena_copy(arena, &to, 1, sizeof to, err);
    return attrs->excess != NULL;
}

/* Packs the filters. Rows are taps, and within them input channels; columns are output channels, of
 * each of the joined pixels. */
static bool pack_filters(const struct int8_match *match, struct int8_convolution_attrs *attrs,
                         bool adds_pairs, struct arena *arena, struct irrun_error *err)
{
    const struct int8_weights *w = &match->weights;
    size_t n_taps = (size_t)(attrs->kernel[0] * attrs->kernel[1]);
    size_t columns = int8_n_groups(attrs->c_out) * INT8_GROUP;
    size_t segment_taps = n_taps / attrs->n_segments, step = last_of(&attrs->window.strides);
    size_t segment_quads = int8_n_quads(attrs->segment_bytes);
    size_t n_quads = attrs->n_segments * segment_quads;
    int8_t *packed = arena_alloc_array(arena, columns * n_quads, INT8_QUAD, err);
    for (size_t i = 0; packed && i < w->n_channels * w->n_inner; i++) {
        size_t at = i % w->n_inner, channel = i / w->n_inner, c_in = at / n_taps;
        if (attrs->offsets)
            c_in += channel / (size_t)match->filters.dims[0] * attrs->group_c_in -
                    attrs->offsets[channel / INT8_GROUP];
        size_t tap = at % n_taps, segment = tap / segment_taps * segment_quads * INT8_QUAD;
        for (size_t n = 0; n < attrs->n_joined; n++) {
            size_t row = segment + (tap % segment_taps + n * step) * attrs->c_in + c_in;
            packed[int8_packed_index(n_quads, row, n * w->n_channels + channel)] = w->elements[i];
        }
    }
    attrs->filters = packed;
    return packed && (!adds_pairs || take_excess(packed, attrs, arena, err));
}

/* Returns whether Winograd's F(2x2, 3x3) computes the convolution in less time than a product. */
static bool suits_winograd(const struct int8_match *match,
                           const struct int8_convolution_attrs *attrs)
{
    return i64_list_is_all(&attrs->window.strides, 1) &&
           i64_list_is_all(&attrs->window.dilations, 1) && attrs->n_spatial == 2 &&
           attrs->kernel[0] == 3 && attrs->kernel[1] == 3 && match->n_groups == 1 &&
           match->enlarge[0] * match->enlarge[1] == 1 && int8_sums_to(attrs) == INT8_TO_U8 &&
           !attrs->border.sums && attrs->c_in >= WINOGRAD_MIN_CHANNELS &&
           attrs->c_in <= WINOGRAD_MAX_CHANNELS &&
           attrs->c_out > INT8_GROUP / 2 && /* a product has tiles for half a group, too */
           (!match->is_small || attrs->c_in * attrs->c_out <= WINOGRAD_FEW_FILTERS);
}

static bool pack_winograd(const struct int8_match *match, struct int8_convolution_attrs *attrs,
                          struct arena *arena, struct irrun_error *err)
{
    size_t n_pairs = (attrs->c_in + 1) / 2, n_groups = int8_n_groups(attrs->c_out);
    int16_t *packed = arena_alloc_array(arena, n_groups * INT8_WINOGRAD_POSITIONS * n_pairs,
                                        INT8_GROUP * 2 * sizeof *packed, err);
    if (packed)
        int8_winograd_pack(match->weights.elements, attrs->c_out, attrs->c_in, packed);
    attrs->winograd = packed;
    return packed != NULL;
}

/* Decides whether the columns of the taps of neighbouring pixels are shared: if they are the same
 * pixels of the image, and there is more than one row of them. Otherwise all taps are rows. */
static void find_tap_columns(struct int8_convolution_attrs *attrs)
{
    const struct i64_list *strides = &attrs->window.strides;
    int64_t stride = strides->n > 0 ? strides->items[strides->n - 1] : 1;
    bool is_shared = attrs->kernel[0] > 1 && stride > 0 && stride < attrs->kernel[1] &&
                     attrs->n_segments <= INT8_MAX_SHARED_TAPS &&
                     dilation_of_columns(&attrs->window) == 1;
    attrs->tap_columns = is_shared ? (size_t)attrs->kernel[1] : 1;
}

static bool pack_taps(const struct int8_weights *w, struct int8_convolution_attrs *attrs,
                      size_t lane_taps, struct arena *arena, struct irrun_error *err)
{
    find_tap_columns(attrs);
    size_t n_taps = attrs->n_segments, columns = int8_n_groups(attrs->c_out) * INT8_GROUP;
    size_t n_rows = n_taps / attrs->tap_columns, n_chunks = (n_rows + lane_taps - 1) / lane_taps;
    int32_t *lanes =
        arena_alloc_array(arena, n_chunks * attrs->tap_columns, columns * sizeof *lanes, err);
    for (size_t i = 0; lanes && i < w->n_channels * n_taps; i++) {
        size_t at = int8_tap_index(lane_taps, attrs->tap_columns, i % n_taps, columns, i / n_taps);
        if (lane_taps == 4)
            ((int8_t *)lanes)[at] = w->elements[i];
        else
            ((int16_t *)lanes)[at] = w->elements[i];
    }
    attrs->weights = lanes;
    return lanes != NULL;
}

/* ---- scaling ---- */

/* Returns the zero point: the quantized value that stands for the number nearest to 0. */
static uint8_t find_zero_point(const struct quantization *range)
{
    float level = nearbyintf(-range->out_low / range->scale);
    return (uint8_t)(level > 0 ? level < range->last ? level : range->last : 0);
}

/* Returns the zero points of the input channels, or for the pads, the levels nearest to 0. */
static const uint8_t *find_zeros(const struct channel_ranges *ranges, size_t n, struct arena *arena,
                                 struct irrun_error *err)
{
    uint8_t *zeros = arena_alloc(arena, n, err);
    for (size_t c = 0; zeros && c < n; c++)
        zeros[c] = find_zero_point(range_of(ranges, c));
    return zeros;
}

static float of_channel(const struct irrun_tensor *tensor, size_t channel)
{
    return ((const float *)tensor->data)[channel % (size_t)shape_n_elements(&tensor->shape)];
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

/* The scaling of the sums, with an element for every column of all groups. */
struct scaling {
    int32_t *start;
    float *scale, *bias, *low, *high;
    double *border_scale, *border_shift;
    bool has_borders; /* in a channel no level is 0 */
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

/* Returns whether the sums become levels of the out_format at once. */
static bool is_requantized(const struct int8_match *match)
{
    return match->has_out_format && !match->has_activation;
}

/* A value x becomes (x * factor + shift - low) * scale. */
struct line {
    double factor, shift, low, scale;
};

/* Returns what becomes of the values of a channel after ReLU or Clamp. */
static struct line line_of(const struct int8_match *match, size_t c)
{
    struct line line = {1, 0, 0, 1};
    if (match->factors)
        line.factor = (double)of_channel(match->factors, c);
    if (match->shifts)
        line.shift = (double)of_channel(match->shifts, c);
    if (is_requantized(match)) {
        const struct quantization *out = range_of(&match->out_format.ranges, c);
        line.low = (double)out->in_low;
        line.scale = (double)out->inverse_scale;
    }
    return line;
}

static double on_line(const struct line *line, double x)
{
    return (x * line->factor + line->shift - line->low) * line->scale;
}

/* Finds the bounds of a channel: those of Clamp, and of the levels if the result is u8. */
static void find_bounds(const struct int8_match *match, size_t c, const struct line *line,
                        float *low, float *high)
{
    const struct channel_ranges *out = &match->out_format.ranges;
    float first = is_requantized(match) ? 0 : -INFINITY,
          last = is_requantized(match) ? range_of(out, c)->last : INFINITY;
    float a = (float)on_line(line, match->clamp_low), b = (float)on_line(line, match->clamp_high);
    *low = fminf(fmaxf(first, fminf(a, b)), last);
    *high = fmaxf(fminf(last, fmaxf(a, b)), first);
}

/* Fills the requantization of a column: value = in_scale * w_scale * (sum - zero_point * sum_w) +
 * offset * w_scale * sum_w + bias. sum_w is the sum of a filter, and offset the value of the zero
 * point. The result is on the line of the channel. The input of a depthwise channel is the channel
 * of the same number; the others have one range. */
static void fill_column(const struct int8_match *match, const uint8_t *zeros, size_t column,
                        struct scaling *scaling)
{
    const struct int8_weights *w = &match->weights;
    size_t c = column % w->n_channels, in = match->is_depthwise ? c : 0;
    const struct quantization *range = range_of(&match->in_format.ranges, in);
    struct line line = line_of(match, c);
    double in_scale = (double)range->scale;
    double off = (double)range->out_low + (double)zeros[in] * in_scale;
    double bias = match->bias ? (double)of_channel(match->bias, c) : 0;
    int32_t sum = 0;
    double w_scale = (double)w->scales[c] * line.factor;
    for (size_t i = 0; i < w->n_inner; i++)
        sum += w->elements[c * w->n_inner + i];
    scaling->border_scale[column] = off * w_scale * line.scale;
    scaling->border_shift[column] = on_line(&line, bias);
    scaling->start[column] = -(int32_t)zeros[in] * sum;
    scaling->scale[column] = (float)(in_scale * w_scale * line.scale);
    scaling->bias[column] =
        (float)(scaling->border_scale[column] * sum + scaling->border_shift[column]);
    find_bounds(match, c, &line, &scaling->low[column], &scaling->high[column]);
    scaling->has_borders |= fabs(off) > ZERO_TOLERANCE * in_scale;
}

static bool fill_scaling(const struct int8_match *match, struct int8_convolution_attrs *attrs,
                         struct arena *arena, struct irrun_error *err)
{
    struct scaling all;
    size_t n_columns = int8_n_groups(attrs->c_out) * INT8_GROUP;
    if (!scaling_new(n_columns, &all, arena, err))
        return false;
    for (size_t i = 0; i < n_columns; i++) /* after the channels, they are for joined pixels */
        fill_column(match, attrs->zeros, i, &all);
    attrs->start = all.start;
    attrs->requantization = (struct requantization){all.scale, all.bias, all.low, all.high};
    if (!all.has_borders)
        return true;
    attrs->border = (struct border_terms){sum_taps(&match->weights, attrs, arena, err),
                                          all.border_scale, all.border_shift};
    return attrs->border.sums != NULL;
}

/* Fills the ranges of an activation. */
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
            floats[3 * n + c] = of_channel(match->slopes, c);
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
        .is_last = match->is_last,
        .is_activated = match->has_activation,
        .activation = match->activation,
    };
    if (match->window)
        attrs->window = *match->window;
    else if (match->bias)
        attrs->rank_min = match->bias->shape.rank;
    if (!find_segments(match, attrs, arena, err))
        return NULL;
    attrs->zeros = find_zeros(&match->in_format.ranges, attrs->c_in, arena, err);
    if (!attrs->zeros || !fill_scaling(match, attrs, arena, err) ||
        (attrs->is_activated && !fill_levels(match, attrs, arena, err)))
        return NULL;
    join_pixels(match, kernels->adds_pairs, attrs);
    bool is_packed = match->is_depthwise
                         ? pack_taps(&match->weights, attrs, kernels->lane_taps, arena, err)
                     : kernels->winograd && suits_winograd(match, attrs)
                         ? pack_winograd(match, attrs, arena, err)
                         : pack_filters(match, attrs, kernels->adds_pairs, arena, err);
    return is_packed ? attrs : NULL;
}

const struct bytes_sum *int8_match_sum(const struct int8_match *match, const struct quantization *a,
                                       const struct quantization *b, struct arena *arena,
                                       struct irrun_error *err)
{
    struct bytes_sum *sum = arena_alloc(arena, sizeof *sum, err);
    struct line line = line_of(match, 0);
    if (!sum)
        return NULL;
    *sum =
        (struct bytes_sum){.a_scale = (float)((double)a->scale * line.scale),
                           .b_scale = (float)((double)b->scale * line.scale),
                           .bias = (float)on_line(&line, (double)a->out_low + (double)b->out_low)};
    find_bounds(match, 0, &line, &sum->low, &sum->high);
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
    if (!attrs || !floats || !start || !pack_taps(&match->weights, &one, lane_taps, arena, err))
        return NULL;
    for (size_t c = 0; c < n; c++) {
        const struct quantization *in = range_of(&match->in_format.ranges, c);
        const struct quantization *out = range_of(&match->out_format.ranges, c);
        double out_low = (double)out->in_low, out_scale = (double)out->inverse_scale;
        floats[c] = (float)((double)in->scale * out_scale);
        floats[n_all + c] = (float)((double)in->out_low * out_scale);
        floats[2 * n_all + c] = (float)(-out_low * out_scale);
        find_bounds(match, c, out_low, out_scale, &floats[3 * n_all + c], &floats[4 * n_all + c]);
    }
    *attrs = (struct int8_scale_attrs){match->n_spatial,
                                       n,
                                       floats,
                                       floats + n_all,
                                       floats + 2 * n_all,
                                       floats + 3 * n_all,
                                       floats + 4 * n_all,
                                       one.weights,
                                       start};
    return attrs;
}
