/* Multiplies in an indirect convolution with the channels in the lanes: divides a product into
 * blocks of terms, panels of weights, and tiles of positions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "kernels/indirect_convolution.h"
#include "kernels/inline.h"

double multiplication_cost(const struct indirect_convolution *conv)
{
    bool is_single = conv->n_vectors == 1 && (conv->row_length == 0 || conv->tile[0] > 0);
    return is_single && !conv->has_pairs ? conv->microkernels->costs.single : 1.05;
}

static igemm_channels_fn *const *choose_kernels(const struct indirect_convolution *conv,
                                                const struct channels_product *product,
                                                const struct igemm_channels_args *args,
                                                size_t n_vectors, bool is_last)
{
    if (product->row_length > 0)
        return (conv->has_pairs ? conv->microkernels->pairs.width_3
                                : conv->microkernels->width_3)[conv->window.stride[2]];
    if (args->maxima)
        return (conv->has_pairs ? conv->microkernels->pairs.pooled
                                : conv->microkernels->pooled)[n_vectors];
    if (product->prefetches && is_last && !conv->has_pairs &&
        conv->microkernels->prefetching[n_vectors][1])
        return conv->microkernels->prefetching[n_vectors];
    return (conv->has_pairs ? conv->microkernels->pairs.channels
                            : conv->microkernels->channels)[n_vectors];
}

/* A panel is prefetched in parts, one part during each tile of the previous panel. With fewer than
 * PARTS_MIN_TILES tiles, the parts are too large to arrive in time. Weights of fewer than
 * PARTS_MIN_BYTES bytes are often still in an L2 cache, and prefetching them costs 3 to 5 % of the
 * time. For weights in memory, it gains 10 to 20 %. */
#define PARTS_MIN_TILES 5
#define PARTS_MIN_BYTES (L2_BYTES / 4)

/* Prefetches part `number` of n_parts of the next panel, which no hardware prefetcher has begun to
 * read. Inline, because gcc may drop calls of functions that only prefetch. */
ALWAYS_INLINE void prefetch_part(const struct igemm_channels_args *args, size_t number,
                                 size_t n_parts)
{
    const size_t line = LINE_FLOATS * sizeof(float), n_lines = args->ahead / line;
    uintptr_t next = (uintptr_t)args->b + args->ahead;
    for (size_t i = n_lines * number / n_parts; i < n_lines * (number + 1) / n_parts; i++)
        __builtin_prefetch((const void *)(next + i * line), 0, 2);
}

/* Multiplies by one panel, in tiles of nearly equal size. If product->row_length > 0, each tile
 * lies in one row; if maxima are stored, each tile has whole windows. Each tile prefetches a part
 * of the next panel, or the last tile prefetches the whole panel. */
static void multiply_panel(const struct indirect_convolution *conv,
                           const struct channels_product *product, size_t n_vectors,
                           struct igemm_channels_args *args)
{
    size_t rest = product->row_length > 0 ? product->row_length - product->row_index : product->n,
           n;
    size_t unit = product->maxima ? IGEMM_POOLED : 1, max_units = product->mr / unit;
    args->positions = product->positions;
    args->ahead = args->k * n_vectors * conv->microkernels->lanes * sizeof(float);
    if (conv->run > 0) {
        conv->microkernels->pairs.tiles.multiply[n_vectors](args);
        return;
    }
    for (size_t begin = 0; begin < product->n; begin += n, rest = product->row_length) {
        n = product->n - begin < rest ? product->n - begin : rest;
        size_t n_units = n / unit, n_tiles = divide_up(n_units, max_units);
        size_t size = n_units / n_tiles, n_longer = n_units % n_tiles;
        bool by_parts = product->prefetches && product->row_length == 0 && !conv->has_pairs &&
                        n_tiles >= PARTS_MIN_TILES &&
                        conv->packed_floats * sizeof(float) > PARTS_MIN_BYTES;
        for (size_t tile = 0; tile < n_tiles; tile++) {
            size_t n_rows = (size + (tile < n_longer)) * unit;
            bool is_last = begin + n == product->n && tile + 1 == n_tiles;
            if (by_parts)
                prefetch_part(args, tile, n_tiles);
            choose_kernels(conv, product, args, n_vectors, is_last && !by_parts)[n_rows](args);
            args->positions += n_rows;
            args->c += n_rows * args->ldc;
            if (args->maxima)
                args->maxima += n_rows / unit * args->ldc;
        }
    }
}

/* Multiplies the terms product->begin ... product->end - 1 that lie in the block of n terms from
 * `at` on by all panels. Goes through the panels in reverse if the last one overlaps the next
 * positions. */
static void multiply_block(const struct indirect_convolution *conv,
                           const struct channels_product *product, const float *packed, size_t at,
                           size_t n)
{
    size_t begin = product->begin > at ? product->begin : at;
    size_t end = product->end < at + n ? product->end : at + n, lanes = conv->microkernels->lanes;
    bool is_first = begin == product->begin;
    for (size_t i = 0; i < conv->n_panels; i++) {
        size_t panel = product->ldc < conv->ld_sums ? conv->n_panels - 1 - i : i;
        size_t first = panel_begin(conv, panel);
        size_t n_vectors = panel_begin(conv, panel + 1) - first;
        bool is_last = end == product->end;
        multiply_panel(
            conv, product, n_vectors,
            &(struct igemm_channels_args){
                .k = end - begin,
                .n = product->n,
                .run = conv->run,
                .pixel = conv->pixel_floats,
                .a = product->a,
                .indirection = product->indirection + begin,
                .b = packed + (first * n + (begin - at) * n_vectors) * lanes,
                .c = product->sums + first * lanes,
                .ldc = product->ldc,
                .bias = product->biases && is_first ? product->biases + first * lanes : NULL,
                .bounds = is_last ? product->bounds : NULL,
                .is_added = !is_first,
                .maxima = is_last && product->maxima ? product->maxima + first * lanes : NULL,
            });
    }
}

/* If k is 0, the result is the bias. */
void indirect_convolution_multiply(const struct indirect_convolution *conv,
                                   const struct channels_product *product)
{
    const float *packed = product->packed;
    size_t at = 0, n;
    do {
        n = product->k - at < product->kc ? product->k - at : product->kc;
        if (product->begin < at + n || n == 0)
            multiply_block(conv, product, packed, at, n);
        packed += n * conv->ld_sums;
        at += n;
    } while (at < product->end);
}

/* Returns the end of the range of positions, from q on, for which the same taps lie inside the
 * input. */
static int64_t find_change(const struct window *w, int64_t q)
{
    int64_t next = w->out[2], first, end;
    for (int64_t tap = 0; tap < w->kernel[2]; tap++) {
        window_positions(w, 2, tap, &first, &end);
        next = first > q && first < next ? first : next;
        next = end > q && end < next ? end : next;
    }
    return next;
}

void indirect_convolution_multiply_line(const struct indirect_convolution *conv,
                                        const struct channels_product *product, int64_t first)
{
    struct channels_product part = *product;
    int64_t begin, end;
    for (size_t done = 0; done < product->n; done += part.n) {
        int64_t q = first + (int64_t)done;
        window_inside(&conv->window, 2, q, &begin, &end);
        part.n = (size_t)(find_change(&conv->window, q) - q);
        part.n = part.n < product->n - done ? part.n : product->n - done;
        part.begin = (size_t)(begin < end ? begin * conv->c_in : 0);
        part.end = (size_t)(begin < end ? end * conv->c_in : 0);
        part.positions = product->positions + done;
        part.sums = product->sums + done * product->ldc;
        indirect_convolution_multiply(conv, &part);
    }
}
