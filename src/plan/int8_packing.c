/* Packs the filters of int8 ops. kernels/gemm_int8.h explains groups, quads and the excess,
 * ops/int8_ops.h segments and joined pixels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/int8_match.h"

/* If more than one in this many quads has an excess, elements are multiplied as 16-bit words,
 * because adding an excess costs 8 times as much as multiplying a quad as words instead of
 * bytes. */
#define QUADS_PER_EXCESS 8
#define WINOGRAD_MIN_CHANNELS 16   /* input channels */
#define WINOGRAD_MAX_CHANNELS 1024 /* 4 times a sum of 9 * 1024 products fits into i32 */
#define WINOGRAD_FEW_FILTERS ((size_t)256 * 256) /* 2 MB: each is packed into 16 16-bit words */

/* Returns the last item of a list of strides or dilations, which applies along the rows of an
 * image; 1 for an empty list. */
static size_t last_of(const struct i64_list *list)
{
    return list->n > 0 ? (size_t)list->items[list->n - 1] : 1;
}

/* Finds the first input channel that each packed group of filters reads. All packed groups read the
 * same number of channels; weights of channels that a filter does not read are 0. */
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

bool int8_find_segments(const struct int8_match *match, struct int8_convolution_attrs *attrs,
                        struct arena *arena, struct irrun_error *err)
{
    bool is_row =
        !match->is_depthwise && match->n_groups == 1 && last_of(&attrs->window.dilations) == 1;
    size_t n_taps = (size_t)(attrs->kernel[0] * attrs->kernel[1]);
    attrs->n_segments = is_row ? (size_t)attrs->kernel[0] : n_taps;
    attrs->segment_bytes = n_taps / attrs->n_segments * attrs->c_in;
    return match->n_groups == 1 || match->is_depthwise || find_offsets(match, attrs, arena, err);
}

/* Chooses the number of joined pixels that needs the fewest multiplications per pixel. Joins no
 * pixels if the image is small, or if the bias depends on the pixel. */
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
        /* Half a group takes half the time. */
        bool fits_half = adds_pairs && n * c_out <= INT8_GROUP / 2;
        size_t bytes = (n_taps + (n - 1) * step) * attrs->c_in;
        double work = (double)int8_n_quads(bytes) / (double)(fits_half ? 2 * n : n);
        if (n > 1 && work >= least)
            continue;
        least = work;
        attrs->n_joined = n;
        attrs->c_out = n * c_out;
        attrs->segment_bytes = bytes;
    }
}

/* Kernels add pairs of products in 16 bits. Subtracts from the packed filters what could make such
 * a sum overflow, and stores it in attrs->excess. If this changes many quads, sets has_words
 * instead, so that elements are multiplied as 16-bit words. */
static bool prevent_overflow(int8_t *packed, struct int8_convolution_attrs *attrs,
                             struct arena *arena, struct irrun_error *err)
{
    size_t n_groups = int8_n_groups(attrs->c_out), n_quads = int8_n_quads(attrs->segment_bytes);
    size_t n_all = n_groups * attrs->n_segments * n_quads, n = int8_excess_count(packed, n_all);
    attrs->has_words = n > n_all / QUADS_PER_EXCESS;
    if (attrs->has_words) {
        int8_split_quads(packed, n_all);
        return true;
    }
    struct int8_excess to = {
        arena_alloc_array(arena, n_groups + 1, sizeof *to.begins, err),
        arena_alloc_array(arena, n, sizeof *to.places, err),
        arena_alloc_array(arena, n * INT8_GROUP, sizeof *to.odd, err),
    };
    if (!to.begins || !to.places || !to.odd)
        return false;
    int8_excess_extract(packed, n_groups, attrs->n_segments, n_quads, &to);
    attrs->excess = arena_copy(arena, &to, 1, sizeof to, err);
    return attrs->excess != NULL;
}

/* Packs the filters as a matrix. It has a row for each tap and input channel, ordered by tap, and a
 * column for each joined pixel and output channel, ordered by pixel. */
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
    return packed && (!adds_pairs || prevent_overflow(packed, attrs, arena, err));
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
           attrs->c_out > INT8_GROUP / 2 && /* products also have tiles of half a group */
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

/* Sets attrs->tap_columns. If the kernel has more than one row and the windows of neighbouring
 * pixels overlap, the pixels share columns of taps. Otherwise there is one column, and each tap is
 * a row. */
static void find_tap_columns(struct int8_convolution_attrs *attrs)
{
    size_t stride = last_of(&attrs->window.strides);
    bool is_shared = attrs->kernel[0] > 1 && stride < (size_t)attrs->kernel[1] &&
                     attrs->n_segments <= INT8_MAX_SHARED_TAPS &&
                     last_of(&attrs->window.dilations) == 1;
    attrs->tap_columns = is_shared ? (size_t)attrs->kernel[1] : 1;
}

bool int8_pack_taps(const struct int8_weights *w, struct int8_convolution_attrs *attrs,
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

bool int8_pack_weights(const struct int8_match *match, const struct int8_kernels *kernels,
                       struct int8_convolution_attrs *attrs, struct arena *arena,
                       struct irrun_error *err)
{
    join_pixels(match, kernels->adds_pairs, attrs);
    if (match->is_depthwise)
        return int8_pack_taps(&match->weights, attrs, kernels->lane_taps, arena, err);
    if (kernels->winograd && suits_winograd(match, attrs))
        return pack_winograd(match, attrs, arena, err);
    return pack_filters(match, attrs, kernels->adds_pairs, arena, err);
}
