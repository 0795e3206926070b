/* Fills the buffers of an indirect convolution: indirections, masks and positions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/indirect_convolution.h"

void subconvolution_taps(const struct indirect_convolution *conv, const struct subconvolution *sub,
                         int64_t n_taps[3])
{
    for (int d = 0; d < 3; d++)
        n_taps[d] = conv->window.kernel[d] - sub->first_tap[d];
}

struct phase subconvolution_phase(const struct indirect_convolution *conv,
                                  const struct subconvolution *sub, int64_t number)
{
    struct phase phase;
    window_unravel(sub->n_phases, number, phase.at);
    for (int d = 0; d < 3; d++) {
        int64_t stride = conv->out_stride[d];
        phase.at[d] += sub->first_phase[d];
        int64_t before = conv->out_crop[d] - phase.at[d], end = conv->out[d] + before;
        phase.begin[d] = before > 0 ? (before + stride - 1) / stride : 0;
        end = end > 0 ? (end + stride - 1) / stride : 0;
        end = end < conv->window.out[d] ? end : conv->window.out[d];
        phase.n[d] = end > phase.begin[d] ? end - phase.begin[d] : 0;
    }
    return phase;
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

/* Returns the offset, in a channel, of the row of B that belongs to tap k. */
static int64_t find_offset(const struct indirect_convolution *conv, const int64_t k[3])
{
    const struct window *w = &conv->window;
    int64_t number = 0, at = 0;
    for (int d = 0; d < 3; d++) {
        int64_t shift = k[d] * w->dilation[d];
        number = number * conv->n_planes[d] + shift % conv->plane_stride[d];
        at = conv->is_masked ? at * w->in[d] + shift - w->pad_begin[d]
                             : at * conv->plane[d] + shift / conv->plane_stride[d];
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
            indirection[terms_are_by_tap(conv) ? tap * conv->c_in + channel : channel * n + tap] =
                (struct indirection){(int32_t)(channel * (int64_t)conv->channel_floats +
                                               offset * (int64_t)conv->pixel_floats),
                                     (uint32_t)mask};
        if (conv->is_masked)
            fill_mask(conv, k, masks + mask);
    }
}

int32_t indirect_convolution_position(const struct indirect_convolution *conv, const int64_t q[3])
{
    const struct window *w = &conv->window;
    int64_t at = 0;
    for (int d = 0; d < 3; d++)
        at = at * conv->plane[d] + q[d] * w->stride[d] - (conv->is_in_place ? w->pad_begin[d] : 0);
    return (int32_t)(at * (int64_t)conv->pixel_floats);
}

/* Fills `positions` with the offsets of the positions of all phases. */
static void fill_positions(const struct indirect_convolution *conv,
                           const struct subconvolution *sub, int32_t *positions)
{
    for (int64_t phase = 0; phase < window_product(sub->n_phases); phase++) {
        struct phase box = subconvolution_phase(conv, sub, phase);
        for (int64_t i = 0; i < window_product(box.n); i++) {
            int64_t q[3];
            window_unravel(box.n, i, q);
            for (int d = 0; d < 3; d++)
                q[d] += box.begin[d];
            *positions++ = indirect_convolution_position(conv, q);
        }
    }
}

void indirect_convolution_fill(struct indirect_convolution *conv, struct indirection *indirection,
                               int32_t *positions, unsigned char *masks)
{
    for (size_t i = 0; i < conv->n_subconvolutions; i++) {
        const struct subconvolution *sub = &conv->subconvolutions[i];
        fill_subconvolution(conv, sub, indirection + sub->first_indirection, masks);
        if (conv->channels_in_lanes)
            fill_positions(conv, sub, positions + sub->first_position);
    }
    if (conv->tile[0] > 0)
        winograd_fill(conv, indirection, positions);
    conv->indirection = indirection;
    conv->positions = positions;
    conv->masks = masks;
}
