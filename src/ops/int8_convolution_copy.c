/* Copies the images, taps and results of int8 convolutions, and computes activations.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ops/int8_convolution_internal.h"

/* Copies n bytes to the padded image. Widens them to 16-bit words if its pixels are words. */
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

/* Copies n bytes, a multiple of INT8_QUAD. */
static void copy_quads(const uint8_t *restrict from, uint8_t *restrict to, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        memcpy(to + i, from + i, 16);
    for (; i < n; i += INT8_QUAD)
        memcpy(to + i, from + i, INT8_QUAD);
}

void int8_im2col(const struct int8_job *job, struct int8_block *block, uint8_t *rows)
{
    const struct window *w = &job->state->window;
    size_t n = job->attrs->segment_bytes, width = (size_t)w->out[2];
    size_t bytes = int8_n_quads(n) * INT8_QUAD * int8_a_size(job->attrs);
    size_t pixel_step = (size_t)w->stride[2] * job->attrs->c_in;
    size_t row_step = (size_t)w->stride[1] * job->state->width * job->attrs->c_in;
    uint8_t *to = rows;
    if (job->attrs->has_words && bytes == 2 * n && n == pixel_step && row_step == width * n) {
        /* There is one tap, of whole quads, so the pixels of the block are contiguous. */
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

/* Applies the activation to the f32 results of n pixels, the first of which is `pixel`, and
 * quantizes them. */
static void activate(const struct int8_job *job, float *sums, size_t pixel, size_t n)
{
    static const double p[UNARY_N_PARAMETERS];
    size_t n_channels = job->attrs->c_out / job->attrs->n_joined;
    if (!job->attrs->levels.slopes)
        job->state->activation(sums, sums, n * n_channels, p);
    job->state->quantize->rows_to_u8(&job->attrs->levels, sums,
                                     (uint8_t *)job->out + pixel * n_channels, n, n_channels);
}

/* Transposes the first n pixels of a block to the output, which has the channels first. `pixel` is
 * the index of the first pixel in the output. */
static void store_planes(const struct int8_job *job, const struct int8_block *block, size_t pixel,
                         size_t n)
{
    size_t n_out = job->state->n_out, c_out = job->attrs->c_out / job->attrs->n_joined;
    size_t first = block->begin * INT8_GROUP, end = block->end * INT8_GROUP;
    job->state->transpose(&(struct transpose_f32){
        .n_rows = n,
        .n_columns = (end < c_out ? end : c_out) - first,
        .from = (const float *)block->c + first,
        .from_stride = c_out,
        .to = (float *)job->out + first * n_out + pixel,
        .to_stride = n_out,
    });
}

void int8_store(const struct int8_job *job, const struct int8_block *block)
{
    const struct int8_convolution_attrs *attrs = job->attrs;
    size_t n_joined = attrs->n_joined, n = block->n * n_joined, first = block->column * n_joined;
    size_t width = n_joined > 1 ? (size_t)job->state->window.out[2] : job->state->n_columns;
    size_t pixel = block->row * width + first, n_channels = attrs->c_out / n_joined;
    size_t size = attrs->to == INT8_TO_F32 ? sizeof(float) : 1;
    if (n > width - first)
        n = width - first;
    if (attrs->is_activated)
        activate(job, block->c, pixel, n);
    else if (attrs->to == INT8_TO_F32 && !attrs->is_last)
        store_planes(job, block, pixel, n);
    else
        memcpy((uint8_t *)job->out + pixel * n_channels * size, block->c, n * n_channels * size);
}
