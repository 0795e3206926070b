/* Plans depthwise convolutions and poolings: chooses the layout, and fills the arrays of struct
 * depthwise.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "kernels/depthwise.h"

/* ---- The image ---------------------------------------------------------------------------- */

#define MAX_POSITIONS (1 << 24)
#define MAX_STEPS (1 << 16)

/* Returns whether the sizes are small enough that their products cannot overflow 64 bits. */
static bool are_sizes_small(const struct window *w)
{
    for (int d = 0; d < 3; d++)
        if (w->in[d] < 1 || w->in[d] > MAX_POSITIONS || w->out[d] < 1 ||
            w->out[d] > MAX_POSITIONS || w->kernel[d] < 1 || w->kernel[d] > MAX_STEPS ||
            w->stride[d] > MAX_STEPS || w->dilation[d] > MAX_STEPS ||
            w->pad_begin[d] > MAX_POSITIONS || w->pad_begin[d] < -MAX_POSITIONS)
            return false;
    return true;
}

/* Returns whether this is a pooling of 2 x 2 without overlap or pads, whose output rows fill at
 * least half a vector. */
static bool is_2x2_pooling(const struct depthwise *plan)
{
    const struct window *w = &plan->window;
    bool is_2x2_pool = plan->term != DEPTHWISE_PRODUCTS && w->kernel[0] == 1 && w->stride[0] == 1 &&
                       w->pad_begin[0] == 0 && w->out[0] <= w->in[0] &&
                       2 * w->out[2] >= (int64_t)plan->kernels->lanes;
    for (int d = 1; d < 3; d++)
        is_2x2_pool &= w->kernel[d] == 2 && w->stride[d] == 2 && w->dilation[d] == 1 &&
                       w->pad_begin[d] == 0 && 2 * w->out[d] <= w->in[d];
    return is_2x2_pool;
}

/* Sets the planes and strides of a row. A plane holds at least a vector of positions, so that loads
 * stay inside it. */
static void plan_line(struct depthwise *plan)
{
    const struct window *w = &plan->window;
    int64_t lanes = (int64_t)plan->kernels->lanes, reach = (w->kernel[2] - 1) * w->dilation[2];
    bool is_padded =
        w->pad_begin[2] > 0 || reach + (w->out[2] - 1) * w->stride[2] - w->pad_begin[2] >= w->in[2];
    plan->is_copied = !plan->is_blocked && !plan->is_2x2_pool &&
                      (w->stride[2] != 1 || is_padded || w->out[2] < lanes);
    plan->strides[2] = plan->channels_last ? plan->n_channels : plan->is_blocked ? lanes : 1;
    plan->strides[1] = w->in[2] * plan->strides[2];
    if (!plan->is_copied)
        return;
    int64_t used = w->out[2] > lanes ? w->out[2] : lanes;
    plan->n_planes = (size_t)(reach + 1 < w->stride[2] ? reach + 1 : w->stride[2]);
    plan->plane_floats = (size_t)(used + reach / w->stride[2]);
    plan->strides[1] = (int64_t)(plan->n_planes * plan->plane_floats);
}

static bool plan_image(struct depthwise *plan)
{
    const struct window *w = &plan->window;
    double n_floats, reach = 0;
    plan_line(plan);
    n_floats = (double)plan->strides[1] * (double)w->in[1] * (double)w->in[0];
    if (n_floats > INT32_MAX)
        return false;
    plan->strides[0] = plan->strides[1] * w->in[1];
    for (int d = 0; d < 3; d++) {
        plan->steps[d] = w->stride[d] * plan->strides[d];
        plan->origin -= w->pad_begin[d] * plan->strides[d];
        reach += (double)((w->kernel[d] - 1) * w->dilation[d]) * (double)plan->strides[d];
    }
    if (plan->is_copied) {
        plan->steps[2] = 1;
        plan->origin += w->pad_begin[2];
    }
    bool has_image = (plan->is_blocked && !plan->channels_last) || plan->is_copied;
    plan->image_floats = has_image ? (size_t)n_floats : 0;
    return reach <= INT32_MAX;
}

/* ---- The lists ---------------------------------------------------------------------------- */

static bool list_offsets(struct depthwise *plan, struct arena *arena, struct irrun_error *err)
{
    const struct window *w = &plan->window;
    int32_t *offsets =
        arena_alloc_array(arena, (size_t)window_product(w->kernel), sizeof *offsets, err);
    if (!offsets)
        return false;
    plan->offsets = offsets;
    for (int64_t z = 0; z < w->kernel[0]; z++) {
        for (int64_t y = 0; y < w->kernel[1]; y++) {
            int64_t at =
                z * w->dilation[0] * plan->strides[0] + y * w->dilation[1] * plan->strides[1];
            for (int64_t x = 0; x < w->kernel[2]; x++) {
                int64_t shift = x * w->dilation[2] * plan->strides[2], stride = w->stride[2];
                if (plan->is_copied)
                    shift = shift % stride * (int64_t)plan->plane_floats + shift / stride;
                *offsets++ = (int32_t)(at + shift);
            }
        }
    }
    return true;
}

static struct depthwise_span find_span(const struct depthwise *plan, int d, int64_t first)
{
    const struct window *w = &plan->window;
    struct depthwise_span span = {.first = first};
    int64_t begin, end;
    if (d == 2 && plan->has_whole_rows)
        return (struct depthwise_span){0, w->out[2], 0, w->kernel[2]};
    window_inside(w, d, first, &span.begin, &span.end);
    do {
        span.n++;
        if (first + span.n < w->out[d])
            window_inside(w, d, first + span.n, &begin, &end);
    } while (first + span.n < w->out[d] && begin == span.begin && end == span.end);
    return span;
}

static bool list_spans(struct depthwise *plan, int d, struct arena *arena, struct irrun_error *err)
{
    struct depthwise_span *spans = NULL, span;
    for (int pass = 0; pass < 2; pass++) {
        size_t n = 0;
        for (int64_t first = 0; first < plan->window.out[d]; first += span.n, n++) {
            span = find_span(plan, d, first);
            if (pass == 1)
                spans[n] = span;
        }
        plan->n_spans[d] = n;
        if (pass == 0 && !(spans = arena_alloc_array(arena, n, sizeof *spans, err)))
            return false;
    }
    plan->spans[d] = spans;
    return true;
}

#define LONG_ROW 8 /* vectors; the tiles of rows of at least this length lie along the row */

/* Returns whether run_3x3 may compute the tiles; such tiles extend over several rows. */
static bool has_3x3(const struct depthwise *plan)
{
    const struct window *w = &plan->window;
    return plan->term == DEPTHWISE_PRODUCTS && w->kernel[0] == 1 && w->kernel[1] == 3 &&
           w->kernel[2] == 3 && w->stride[1] == 1 && w->dilation[1] == 1;
}

static bool list_strips(struct depthwise *plan, struct arena *arena, struct irrun_error *err)
{
    int64_t lanes = (int64_t)plan->kernels->lanes, size = plan->window.out[2];
    size_t n_vectors = (size_t)divide_up_i64(size, lanes), n_whole = (size_t)(size / lanes);
    bool is_long = n_vectors >= LONG_ROW && !has_3x3(plan);
    plan->n_strips = is_long ? 1 + (n_vectors > n_whole)
                             : (n_vectors + DEPTHWISE_MAX_VECTORS - 1) / DEPTHWISE_MAX_VECTORS;
    struct depthwise_strip *strips = arena_alloc_array(arena, plan->n_strips, sizeof *strips, err);
    if (!strips)
        return false;
    plan->strips = strips;
    for (size_t i = 0; i < plan->n_strips; i++) {
        size_t begin = n_vectors * i / plan->n_strips, end = n_vectors * (i + 1) / plan->n_strips;
        strips[i] = (struct depthwise_strip){(int64_t)begin * lanes, end - begin, 0};
        if (is_long)
            strips[i] =
                (struct depthwise_strip){i == 0 ? 0 : size - lanes, 1, i == 0 ? n_whole : 1};
    }
    return true;
}

static bool list_planes(struct depthwise *plan, struct arena *arena, struct irrun_error *err)
{
    const struct window *w = &plan->window;
    struct depthwise_plane *planes = arena_alloc_array(arena, plan->n_planes, sizeof *planes, err);
    if (!planes)
        return false;
    plan->planes = planes;
    for (int64_t i = 0; i < (int64_t)plan->n_planes; i++) {
        int64_t at = i - w->pad_begin[2], first, end;
        window_range(at, w->stride[2], w->in[2], (int64_t)plan->plane_floats, &first, &end);
        planes[i] = (struct depthwise_plane){first, end - first, at + first * w->stride[2]};
    }
    return true;
}

/* Returns the factor that turns the sum of a window into the mean: 1 / the number of elements,
 * counted as by count_terms in pool_scalar.c. */
static float find_scale(const struct depthwise *plan, const struct depthwise_span *z,
                        const struct depthwise_span *y, int64_t begin, int64_t end)
{
    const struct window *w = &plan->window;
    int64_t n = (z->end - z->begin) * (y->end - y->begin) * (end - begin);
    bool has_pads = false;
    for (int d = 0; d < 3; d++)
        has_pads |= w->pad_begin[d] != 0 || w->pad_end[d] != 0;
    if (has_pads && !plan->exclude_pad)
        n = window_product(w->kernel);
    return n > 0 ? (float)(1.0 / (double)n) : 0;
}

static bool list_scales(struct depthwise *plan, struct arena *arena, struct irrun_error *err)
{
    size_t n_rows = plan->n_spans[0] * plan->n_spans[1];
    size_t n = plan->is_blocked ? plan->n_spans[2] : (size_t)plan->window.out[2];
    /* The last vector may extend past the end. */
    float *scales = arena_alloc_array(arena, n_rows * n + DEPTHWISE_MAX_LANES, sizeof *scales, err);
    if (!scales)
        return false;
    plan->scales = scales;
    for (size_t row = 0; row < n_rows; row++) {
        for (size_t i = 0; i < n; i++) {
            int64_t begin, end;
            window_inside(&plan->window, 2, plan->is_blocked ? plan->spans[2][i].first : (int64_t)i,
                          &begin, &end);
            *scales++ = find_scale(plan, plan->spans[0] + row / plan->n_spans[1],
                                   plan->spans[1] + row % plan->n_spans[1], begin, end);
        }
    }
    return true;
}

static bool list_all(struct depthwise *plan, struct arena *arena, struct irrun_error *err)
{
    return list_offsets(plan, arena, err) && list_spans(plan, 0, arena, err) &&
           list_spans(plan, 1, arena, err) &&
           (plan->is_blocked ? list_spans(plan, 2, arena, err) : list_strips(plan, arena, err)) &&
           list_planes(plan, arena, err) &&
           (plan->term != DEPTHWISE_SUMS || list_scales(plan, arena, err));
}

/* ---- Rows or lanes ------------------------------------------------------------------------ */

/* Estimates cycles, and returns whether channels in lanes are faster. Loads along rows are not
 * aligned. To transpose an element of each lane costs 5 cycles, to copy an element with a stride
 * 0.6, and to start a row 10. */
static bool prefers_blocked(const struct depthwise *plan)
{
    const struct window *w = &plan->window;
    int64_t lanes = (int64_t)plan->kernels->lanes, n_vectors = divide_up_i64(w->out[2], lanes);
    double n_taps = (double)window_product(w->kernel), n_in = (double)window_product(w->in);
    double n_out = (double)(window_product(w->out) * plan->multiplier);
    double n_lines = (double)(w->in[0] * w->in[1]), tap = has_3x3(plan)          ? 0.8
                                                          : n_vectors < LONG_ROW ? 1.4
                                                                                 : 1;
    double row = ((double)n_vectors * n_taps * tap + 10) / (double)w->out[2];
    double copies = w->stride[2] > 1 ? n_in * 0.6 : n_in * 2 / (double)lanes;
    double in_blocks = n_in * 5 + n_out * (n_taps * 0.75 + 8) + n_taps * 5;
    return (double)divide_up_i64(plan->n_channels, lanes) * in_blocks <
           (double)plan->n_channels * (n_out * row + copies + n_lines * 10 + 100);
}

/* The longest output row that a kernel of 3 taps computes as one tile. In longer rows, few windows
 * reach into pads, and spans are faster. */
#define SHORT_ROW 8

/* Returns the stride of rows whose positions share pixels, or 0. */
static size_t find_row_stride(const struct depthwise *plan)
{
    const struct window *w = &plan->window;
    bool has_lines = plan->is_blocked && plan->term == DEPTHWISE_PRODUCTS &&
                     plan->pixel_floats >= plan->kernels->lanes && w->dilation[2] == 1 &&
                     w->stride[2] <= 2 && (w->kernel[2] == 3 || w->kernel[2] == 5);
    return has_lines ? (size_t)w->stride[2] : 0;
}

bool depthwise_measure(struct depthwise *plan)
{
    const struct window *w = &plan->window;
    double n_out = (double)window_product(w->out) * (double)plan->multiplier;
    if (!are_sizes_small(w) || plan->n_channels * plan->n_batches * plan->multiplier == 0)
        return false;
    if (plan->channels_last && plan->kernels->half_width &&
        plan->n_channels <= (int64_t)plan->kernels->half_width->lanes)
        plan->kernels = plan->kernels->half_width;
    size_t n_taps = (size_t)window_product(w->kernel), lanes = plan->kernels->lanes;
    plan->is_2x2_pool = is_2x2_pooling(plan);
    plan->is_blocked = plan->channels_last || (!plan->is_2x2_pool && prefers_blocked(plan));
    plan->pixel_floats = plan->channels_last ? (size_t)plan->n_channels : lanes;
    plan->row_stride = find_row_stride(plan);
    plan->has_whole_rows = plan->row_stride > 0 && w->out[2] >= DEPTHWISE_MIN_ROW &&
                           (w->kernel[2] == 5 || (w->stride[2] == 1 && w->out[2] <= SHORT_ROW));
    if (!plan_image(plan) || n_out * DEPTHWISE_MAX_LANES > INT32_MAX ||
        (plan->channels_last && plan->multiplier > 1))
        return false;
    plan->n_terms = n_out * (double)n_taps * (double)plan->n_channels * (double)plan->n_batches;
    plan->scratch_floats = plan->image_floats;
    if (plan->channels_last)
        plan->packed_floats = (plan->pixel_floats + lanes - 1) / lanes * lanes * n_taps;
    else if (plan->is_blocked)
        plan->scratch_floats += (n_taps + (size_t)window_product(w->out)) * lanes;
    plan->scratch_floats = (plan->scratch_floats + 15) / 16 * 16;
    return true;
}

bool depthwise_plan(struct depthwise *plan, struct arena *arena, bool *is_possible,
                    struct irrun_error *err)
{
    *is_possible = depthwise_measure(plan);
    return !*is_possible || list_all(plan, arena, err);
}

bool depthwise_memory(const struct depthwise *plan, unsigned n_threads, size_t *n_bytes)
{
    return checked_mul(plan->scratch_floats, n_threads, n_bytes) &&
           checked_mul(*n_bytes, sizeof(float), n_bytes);
}
