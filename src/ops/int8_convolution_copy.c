/* Copies images and taps for int8 convolutions, and computes activations.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ops/int8_convolution_internal.h"

/* Copies n bytes of pixels. */
static void copy(const struct int8_job *job, const uint8_t *from, size_t n, uint8_t *to)
{
    int8_copy(job->state->kernels, job->state->pixel_bytes > job->attrs->c_in, from, n, to);
}

/* Copies row y of the padded image. */
static void copy_row(const struct int8_job *job, size_t y)
{
    const struct window *w = &job->state->window;
    size_t c = job->attrs->c_in, pixel = job->state->pixel_bytes;
    uint8_t *to = (uint8_t *)job->scratch + y * job->state->width * pixel;
    int64_t row = (int64_t)y - w->pad_begin[1], left = w->pad_begin[2];
    int64_t width = (int64_t)job->state->width, first = left > 0 ? left : 0;
    int64_t end = w->in[2] + left < width ? w->in[2] + left : width;
    if (row < 0 || row >= w->in[1] || first >= end)
        first = end = width;
    else
        copy(job, job->in + (size_t)(row * w->in[2] + first - left) * c, (size_t)(end - first) * c,
             to + (size_t)first * pixel);
    for (int64_t x = 0; x < first; x++)
        copy(job, job->attrs->zeros, c, to + (size_t)x * pixel);
    for (int64_t x = end; x < width; x++)
        copy(job, job->attrs->zeros, c, to + (size_t)x * pixel);
}

void int8_copy_rows(void *context, size_t part, size_t n_parts)
{
    const struct int8_job *job = context;
    size_t height = job->state->height;
    for (size_t y = height * part / n_parts; y < height * (part + 1) / n_parts; y++)
        copy_row(job, y);
}

/* Copies n bytes of whole quads. */
static void copy_quads(const uint8_t *restrict from, uint8_t *restrict to, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        memcpy(to + i, from + i, 16);
    for (; i < n; i += INT8_QUAD)
        memcpy(to + i, from + i, INT8_QUAD);
}

void int8_gather(const struct int8_job *job, struct int8_block *block, uint8_t *rows)
{
    const struct window *w = &job->state->window;
    size_t n = job->attrs->segment_bytes, width = (size_t)w->out[2];
    size_t bytes = int8_n_quads(n) * INT8_QUAD * int8_a_size(job->attrs);
    size_t pixel_step = (size_t)w->stride[2] * job->attrs->c_in;
    size_t row_step = (size_t)w->stride[1] * job->state->width * job->attrs->c_in;
    uint8_t *to = rows;
    if (job->attrs->has_words && bytes == 2 * n && n == pixel_step && row_step == width * n) {
        /* The pixels of the block are contiguous: one tap, of whole quads. */
        int8_copy(job->state->kernels, true, block->segments[0] + block->column * n, n * block->n,
                  rows);
        block->segments[0] = rows;
        return;
    }
    for (size_t pixel = block->column; pixel < block->column + block->n; pixel++) {
        size_t at = pixel / width * row_step + pixel % width * pixel_step;
        for (size_t i = 0; i < job->attrs->n_segments; i++, to += bytes)
            if (job->attrs->has_words)
                int8_copy(job->state->kernels, true, block->segments[i] + at, n, to);
            else
                copy_quads(block->segments[i] + at, to, bytes);
    }
    block->segments[0] = rows;
}

void int8_activate(const struct int8_job *job, const struct int8_block *block, size_t pixel)
{
    static const double p[UNARY_N_PARAMETERS];
    size_t c_out = job->attrs->c_out;
    if (!job->attrs->levels.slopes)
        job->state->activation(block->c, block->c, block->n * c_out, p);
    job->state->quantize->rows_to_u8(&job->attrs->levels, block->c,
                                     (uint8_t *)job->out + pixel * c_out, block->n, c_out);
}
