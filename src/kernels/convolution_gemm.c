/* Convolution by im2col and dense products. Patches are copied a few at a time, so that they stay
 * in the cache and the size of the buffer does not depend on the input.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/convolution.h"

#define PATCHES_FLOATS 32768 /* 128 KB: a quarter of an L2 cache, which also has the weights */
#define MIN_TERMS 24         /* with fewer, copying patches costs more than the product saves */
#define MIN_CHANNELS 3
#define SHORT_LINE 16 /* elements: for fewer, a call of memcpy is slower than a loop */

static int64_t count_patches(int64_t n_terms, int64_t n_out)
{
    int64_t n = PATCHES_FLOATS / n_terms;
    n = n < 8 ? 8 : n / 8 * 8;
    return n < n_out ? n : n_out;
}

static bool is_pointwise(const struct window *w)
{
    for (int d = 0; d < 3; d++)
        if (w->kernel[d] != 1 || w->stride[d] != 1 || w->in[d] != w->out[d] || w->pad_begin[d] != 0)
            return false;
    return true;
}

int64_t convolution_n_patches(const struct convolution *c)
{
    const struct window *w = &c->window;
    int64_t n_terms = c->c_in * window_product(w->kernel), n_out = window_product(w->out);
    if (is_pointwise(w))
        return 0;
    if (n_terms < MIN_TERMS || c->c_out < MIN_CHANNELS)
        return -1;
    return count_patches(n_terms, n_out);
}

/* Copies the input under one row of the kernel, with zeros outside the input. */
static float *copy_row(const struct window *w, const float *row, int64_t x, float *to)
{
    int64_t first, end, at = x * w->stride[2] - w->pad_begin[2];
    window_inside(w, 2, x, &first, &end);
    for (int64_t k = 0; k < first; k++)
        to[k] = 0;
    if (w->dilation[2] == 1 && end > first)
        memcpy(to + first, row + at + first, (size_t)(end - first) * sizeof *to);
    for (int64_t k = first; k < end && w->dilation[2] != 1; k++)
        to[k] = row[at + k * w->dilation[2]];
    for (int64_t k = end; k < w->kernel[2]; k++)
        to[k] = 0;
    return to + w->kernel[2];
}

static float *clear_rows(float *to, int64_t n)
{
    memset(to, 0, (size_t)n * sizeof *to);
    return to + n;
}

/* Copies the patch [kernel] of output position o of one channel. */
static float *copy_patch(const struct window *w, const float *channel, const int64_t o[3],
                         float *to)
{
    int64_t first[2], end[2], row = w->kernel[2], slice = w->kernel[1] * row;
    window_inside(w, 0, o[0], &first[0], &end[0]);
    window_inside(w, 1, o[1], &first[1], &end[1]);
    int64_t z = o[0] * w->stride[0] - w->pad_begin[0], y = o[1] * w->stride[1] - w->pad_begin[1];
    to = clear_rows(to, first[0] * slice);
    for (int64_t kz = first[0]; kz < end[0]; kz++) {
        to = clear_rows(to, first[1] * row);
        for (int64_t ky = first[1]; ky < end[1]; ky++) {
            int64_t line = (z + kz * w->dilation[0]) * w->in[1] + y + ky * w->dilation[1];
            to = copy_row(w, channel + line * w->in[2], o[2], to);
        }
        to = clear_rows(to, (w->kernel[1] - end[1]) * row);
    }
    return clear_rows(to, (w->kernel[0] - end[0]) * slice);
}

/* Copies patches of one spatial dimension, which are many short pieces: a loop is faster than
 * calls. */
static void copy_lines(const struct convolution *c, const float *in, int64_t first, int64_t n,
                       float *to)
{
    const struct window *w = &c->window;
    int64_t size = w->kernel[2], length = w->in[2], step = w->dilation[2];
    for (int64_t i = first; i < first + n; i++) {
        int64_t from, end, at = i * w->stride[2] - w->pad_begin[2];
        window_inside(w, 2, i, &from, &end);
        for (int64_t channel = 0; channel < c->c_in; channel++, to += size) {
            const float *line = in + channel * length;
            for (int64_t k = 0; k < size; k++)
                to[k] = k >= from && k < end ? line[at + k * step] : 0;
        }
    }
}

static void copy_patches(const struct convolution *c, const struct convolution_job *job,
                         int64_t first, int64_t n)
{
    const struct window *w = &c->window;
    const float *in = job->in;
    float *to = job->patches;
    int64_t n_in = window_product(w->in);
    bool is_line = w->in[0] == 1 && w->in[1] == 1 && w->kernel[0] == 1 && w->kernel[1] == 1 &&
                   w->out[0] == 1 && w->out[1] == 1;
    if (is_line && w->kernel[2] <= SHORT_LINE) {
        copy_lines(c, in, first, n, to);
        return;
    }
    for (int64_t i = first; i < first + n; i++) {
        int64_t o[3] = {i / (w->out[1] * w->out[2]), i / w->out[2] % w->out[1], i % w->out[2]};
        for (int64_t channel = 0; channel < c->c_in; channel++)
            to = copy_patch(w, in + channel * n_in, o, to);
    }
}

/* Lines shorter than this are too short for an epilogue of their own. An output smaller than
 * EPILOGUE_FLOATS stays in the cache, so its epilogue runs once, at the end. */
#define EPILOGUE_LINE 128
#define EPILOGUE_FLOATS 65536

static bool has_early_epilogue(int64_t n_patches, size_t n_out, size_t c_out)
{
    return n_patches >= EPILOGUE_LINE && c_out * n_out > EPILOGUE_FLOATS;
}

/* Runs the epilogue on n positions of every channel. */
static void run_epilogue(const struct convolution_job *job, size_t c_out, size_t n_out,
                         size_t position, size_t n)
{
    if (n == n_out)
        epilogue_run(job->epilogue, job->first, c_out * n_out);
    else
        for (size_t channel = 0; channel < c_out; channel++)
            epilogue_run(job->epilogue, job->first + channel * n_out + position, n);
}

void convolution_by_gemm(const struct convolution *c, gemm_f32_fn *gemm, const float *weights,
                         const struct convolution_job *job)
{
    size_t n_terms = (size_t)(c->c_in * window_product(c->window.kernel));
    size_t n_out = (size_t)window_product(c->window.out), n_patches = (size_t)job->n_patches;
    size_t c_out = (size_t)c->c_out;
    bool is_early = has_early_epilogue(job->n_patches, n_out, c_out);
    struct gemm_f32 product = {
        .m = c_out,
        .n = n_out,
        .k = n_terms,
        .a = weights,
        .lda = n_terms,
        .b = job->in,
        .ldb = n_out,
        .c = job->out,
        .ldc = n_out,
    };
    if (n_patches == 0) {
        gemm(&product);
        run_epilogue(job, c_out, n_out, 0, n_out);
        return;
    }
    product.b = job->patches;
    product.ldb = n_terms;
    product.b_transposed = true;
    for (size_t first = 0; first < n_out; first += n_patches) {
        size_t rest = n_out - first;
        product.n = rest < n_patches ? rest : n_patches;
        product.c = job->out + first;
        copy_patches(c, job, (int64_t)first, (int64_t)product.n);
        gemm(&product);
        if (is_early)
            run_epilogue(job, c_out, n_out, first, product.n);
    }
    if (!is_early)
        run_epilogue(job, c_out, n_out, 0, n_out);
}
