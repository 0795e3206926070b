/* The geometry of an indirect convolution.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "kernels/indirect_convolution.h"

static size_t divide_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static void plan_ordinary(struct indirect_convolution *conv, const struct window *w)
{
    conv->window = *w;
    for (int d = 0; d < 3; d++) {
        conv->out_stride[d] = 1;
        conv->out[d] = w->out[d];
    }
}

/* Output e - pad = o * s + k, with e = q * s + f and k = f + j * s, is what position q sees at o =
 * q - j. */
static bool plan_transposed(struct indirect_convolution *conv, const struct window *w)
{
    struct window *window = &conv->window;
    for (int d = 0; d < 3; d++) {
        int64_t s = w->stride[d];
        if ((w->dilation[d] != 1 && w->kernel[d] != 1) || w->pad_begin[d] < 0)
            return false;
        conv->out_stride[d] = s;
        conv->out_crop[d] = w->pad_begin[d];
        conv->out[d] = w->in[d];
        window->in[d] = w->out[d];
        window->out[d] = (w->in[d] + w->pad_begin[d] + s - 1) / s;
        window->kernel[d] = (w->kernel[d] + s - 1) / s;
        window->stride[d] = window->dilation[d] = 1;
        window->pad_begin[d] = window->kernel[d] - 1;
        if (window->out[d] < 1)
            return false;
    }
    return true;
}

static bool plan_planes(struct indirect_convolution *conv)
{
    const struct window *w = &conv->window;
    size_t floats = 1;
    for (int d = 0; d < 3; d++) {
        int64_t reach = (w->kernel[d] - 1) * w->dilation[d];
        conv->n_planes[d] = reach + 1 < w->stride[d] ? reach + 1 : w->stride[d];
        conv->plane[d] = w->out[d] + reach / w->stride[d];
        if (!checked_mul(floats, (size_t)conv->n_planes[d], &floats) ||
            !checked_mul(floats, (size_t)conv->plane[d], &floats))
            return false;
    }
    conv->channel_floats = floats;
    /* The last tile reads beyond the last position. */
    return checked_mul(floats, (size_t)(conv->c_in * conv->n_groups), &floats) &&
           checked_add(floats, IGEMM_MAX_NR, &conv->copy_floats) && conv->copy_floats <= INT32_MAX;
}

#define MASKS_BYTES (1 << 20) /* fits into an L2 cache */

/* The input as it lies: its positions are a line. A kernel that reaches further than twice the
 * input is none that is in use; so offsets stay within some 30 times a channel. */
static bool plan_masks(struct indirect_convolution *conv)
{
    const struct window *w = &conv->window;
    int64_t n = window_product(w->in);
    bool is_masked = !conv->is_transposed && n <= INT32_MAX / (conv->c_in + 30) &&
                     n / 8 <= MASKS_BYTES / window_product(w->kernel);
    for (int d = 0; d < 3; d++)
        is_masked &= w->stride[d] == 1 && w->in[d] == w->out[d] &&
                     w->dilation[d] <= 2 * w->in[d] / w->kernel[d] + 1 &&
                     w->pad_begin[d] <= 2 * w->in[d] && w->pad_begin[d] >= -w->in[d];
    if (!is_masked)
        return false;
    conv->is_masked = true;
    conv->channel_floats = (size_t)n;
    for (int d = 0; d < 3; d++) {
        conv->min_offset = conv->min_offset * w->in[d] - w->pad_begin[d];
        conv->max_offset =
            conv->max_offset * w->in[d] + (w->kernel[d] - 1) * w->dilation[d] - w->pad_begin[d];
        conv->n_planes[d] = 1;
        conv->plane[d] = conv->out[d] = d < 2 ? 1 : n;
    }
    conv->max_offset += (conv->c_in - 1) * n;
    return true;
}

/* Phases and taps: in each dimension the phases that have all taps of window.kernel, or, if
 * is_short, those that lack the first, which is the last of a filter. */
static bool plan_taps(const struct indirect_convolution *conv, const bool is_short[3],
                      struct subconvolution *sub)
{
    int64_t n_taps[3];
    *sub = (struct subconvolution){0};
    for (int d = 0; d < 3; d++) {
        int64_t stride = conv->out_stride[d], n = conv->window.kernel[d];
        int64_t n_long = conv->is_transposed ? conv->kernel[d] - (n - 1) * stride : stride;
        sub->first_phase[d] = is_short[d] ? n_long : 0;
        sub->n_phases[d] = is_short[d] ? stride - n_long : n_long;
        sub->first_tap[d] = is_short[d];
        if (sub->n_phases[d] == 0)
            return false;
    }
    subconvolution_taps(conv, sub, n_taps);
    sub->k = (size_t)(conv->c_in * window_product(n_taps));
    return true;
}

static bool plan_tiles(struct indirect_convolution *conv, struct subconvolution *sub)
{
    const struct igemm_microkernels *microkernels = conv->microkernels;
    const int64_t *size = indirect_convolution_positions(conv);
    size_t n_rows = (size_t)conv->c_out, max_mr = 1, acc_floats, n_weights;
    for (int d = 0; d < 3; d++)
        if (!checked_mul(n_rows, (size_t)sub->n_phases[d], &n_rows) || n_rows > UINT32_MAX)
            return false;
    while (max_mr < IGEMM_MAX_MR && microkernels->run[IGEMM_UNMASKED][max_mr + 1])
        max_mr++;
    sub->n_row_tiles = divide_up(n_rows, max_mr);
    sub->mr = divide_up(n_rows, sub->n_row_tiles);
    sub->nr = microkernels->nr[sub->mr];
    int64_t last = ((size[0] - 1) * conv->plane[1] + size[1] - 1) * conv->plane[2] + size[2] - 1;
    sub->n_column_tiles = divide_up((size_t)last + 1, sub->nr);
    sub->kc = sub->k > 0 ? divide_up(sub->k, divide_up(sub->k, IGEMM_MAX_KC)) : 0;
    sub->first_indirection = conv->n_indirections;
    sub->first_weight = conv->packed_floats;
    n_rows = sub->n_row_tiles * sub->mr;
    if (!checked_mul(n_rows, sub->nr + 1, &acc_floats) ||
        !checked_mul(sub->k, n_rows, &n_weights) ||
        !checked_mul(n_weights, (size_t)conv->n_groups, &n_weights) ||
        !checked_add(conv->packed_floats, n_weights, &conv->packed_floats))
        return false;
    conv->acc_floats = conv->acc_floats > acc_floats ? conv->acc_floats : acc_floats;
    conv->n_indirections += sub->k;
    return true;
}

static bool plan_subconvolutions(struct indirect_convolution *conv)
{
    for (unsigned i = 0; i < MAX_SUBCONVOLUTIONS; i++) {
        struct subconvolution *sub = &conv->subconvolutions[conv->n_subconvolutions];
        if (!plan_taps(conv, (bool[3]){i & 4, i & 2, i & 1}, sub))
            continue;
        if (!plan_tiles(conv, sub))
            return false;
        conv->n_subconvolutions++;
    }
    if (conv->is_masked)
        conv->mask_bytes =
            conv->subconvolutions[0].n_column_tiles * conv->subconvolutions[0].nr / 8;
    return true;
}

bool indirect_convolution_plan(struct indirect_convolution *conv,
                               const struct igemm_microkernels *microkernels,
                               const struct convolution *c, int64_t n_groups, bool is_transposed)
{
    *conv = (struct indirect_convolution){.n_groups = n_groups,
                                          .c_in = c->c_in,
                                          .c_out = c->c_out,
                                          .is_transposed = is_transposed,
                                          .microkernels = microkernels};
    memcpy(conv->kernel, c->window.kernel, sizeof conv->kernel);
    if (!is_transposed)
        plan_ordinary(conv, &c->window);
    else if (!plan_transposed(conv, &c->window))
        return false;
    return c->c_in > 0 && !window_is_empty(conv->window.kernel) && c->c_out > 0 && n_groups > 0 &&
           !window_is_empty(conv->out) && (plan_masks(conv) || plan_planes(conv)) &&
           plan_subconvolutions(conv);
}

/* In multiplications that vectors of 16 make. Measured: im2col costs as much for a patch as
 * multiplying it with some 12 channels, ten times that if it is made of short rows; loops of
 * scalars cost 12 times what vectors do. */
bool indirect_convolution_is_better(const struct indirect_convolution *conv)
{
    const struct window *w = &conv->window;
    double n_out = (double)window_product(w->out), k = (double)conv->subconvolutions[0].k;
    size_t c_out = (size_t)conv->c_out, group = 16;
    double scalar = 12, patch = w->kernel[0] * w->kernel[1] > 1 ? 120 : 12, indirect = 0;
    for (size_t i = 0; i < conv->n_subconvolutions; i++) {
        const struct subconvolution *sub = &conv->subconvolutions[i];
        indirect += (double)(sub->n_column_tiles * sub->nr) *
                    (double)(sub->mr * sub->n_row_tiles + 2) * (double)sub->k;
    }
    if (conv->is_transposed)
        return indirect < (double)(window_product(w->in) * window_product(conv->kernel) *
                                   conv->c_in * conv->c_out) *
                              scalar;
    if (conv->n_groups == 1 && c_out >= group)
        return indirect < n_out * ((double)(divide_up(c_out, group) * group) + patch) * k;
    return indirect < n_out * (double)c_out * scalar * k;
}

bool indirect_convolution_scratch(const struct indirect_convolution *conv, unsigned n_threads,
                                  size_t *n_bytes)
{
    return checked_mul(conv->acc_floats, n_threads, n_bytes) &&
           checked_add(*n_bytes, conv->copy_floats, n_bytes) &&
           checked_mul(*n_bytes, sizeof(float), n_bytes);
}

void subconvolution_taps(const struct indirect_convolution *conv, const struct subconvolution *sub,
                         int64_t n_taps[3])
{
    for (int d = 0; d < 3; d++)
        n_taps[d] = conv->window.kernel[d] - sub->first_tap[d];
}

/* Sets a bit for every position at which tap k is inside the input. */
static void fill_mask(const struct indirect_convolution *conv, const int64_t k[3],
                      unsigned char *mask)
{
    const struct window *w = &conv->window;
    for (int64_t i = 0; i < (int64_t)conv->channel_floats; i++) {
        int64_t p[3];
        bool is_inside = true;
        window_unravel(w->in, i, p);
        for (int d = 0; d < 3; d++) {
            int64_t at = p[d] + k[d] * w->dilation[d] - w->pad_begin[d];
            is_inside &= at >= 0 && at < w->in[d];
        }
        mask[i / 8] |= (unsigned char)(is_inside << i % 8);
    }
}

/* Where the row of B of tap k begins in a channel. */
static int64_t find_offset(const struct indirect_convolution *conv, const int64_t k[3])
{
    const struct window *w = &conv->window;
    int64_t number = 0, at = 0;
    for (int d = 0; d < 3; d++) {
        int64_t shift = k[d] * w->dilation[d];
        number = number * conv->n_planes[d] + shift % w->stride[d];
        at = conv->is_masked ? at * w->in[d] + shift - w->pad_begin[d]
                             : at * conv->plane[d] + shift / w->stride[d];
    }
    return number * window_product(conv->plane) + at;
}

static void fill_subconvolution(const struct indirect_convolution *conv,
                                const struct subconvolution *sub, struct indirection *indirection,
                                unsigned char *masks)
{
    int64_t n_taps[3], k[3];
    subconvolution_taps(conv, sub, n_taps);
    int64_t n = window_product(n_taps);
    for (int64_t tap = 0; tap < n; tap++) {
        size_t mask = (size_t)tap * conv->mask_bytes;
        window_unravel(n_taps, tap, k);
        for (int d = 0; d < 3; d++)
            k[d] += sub->first_tap[d];
        int64_t offset = find_offset(conv, k);
        for (int64_t channel = 0; channel < conv->c_in; channel++)
            indirection[channel * n + tap] = (struct indirection){
                (int32_t)(channel * (int64_t)conv->channel_floats + offset), (uint32_t)mask};
        if (conv->is_masked)
            fill_mask(conv, k, masks + mask);
    }
}

void indirect_convolution_fill(struct indirect_convolution *conv, struct indirection *indirection,
                               unsigned char *masks)
{
    for (size_t i = 0; i < conv->n_subconvolutions; i++) {
        const struct subconvolution *sub = &conv->subconvolutions[i];
        fill_subconvolution(conv, sub, indirection + sub->first_indirection, masks);
    }
    conv->indirection = indirection;
    conv->masks = masks;
}
