/* Convolution by im2col and a GEMM. Patches are copied a few at a time, so that they stay in the
 * cache and the size of the buffer does not depend on the input.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/convolution.h"

#define PATCHES_FLOATS 32768 /* 128 KB: a quarter of an L2 cache, which also holds the weights */
#define MIN_TERMS 24         /* with fewer, copying patches costs more than the product saves */
#define MIN_CHANNELS 3       /* output channels; the same holds with fewer */

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
    int64_t n = PATCHES_FLOATS / n_terms;
    n = n < 8 ? 8 : n / 8 * 8;
    return n < n_out ? n : n_out;
}

/* Copies the input elements that one row of the kernel covers, with zeros outside the input. */
static void copy_row(const struct window *w, const float *row, int64_t x, float *to)
{
    int64_t first, end, at = x * w->stride[2] - w->pad_begin[2];
    window_inside(w, 2, x, &first, &end);
    for (int64_t k = 0; k < w->kernel[2]; k++)
        to[k] = k >= first && k < end ? row[at + k * w->dilation[2]] : 0;
}

/* Copies the patch [kernel] of one channel that belongs to output position o. */
static float *copy_patch(const struct window *w, const float *channel, const int64_t o[3],
                         float *to)
{
    int64_t z = o[0] * w->stride[0] - w->pad_begin[0], y = o[1] * w->stride[1] - w->pad_begin[1];
    for (int64_t i = 0; i < w->kernel[0] * w->kernel[1]; i++, to += w->kernel[2]) {
        int64_t slice = z + i / w->kernel[1] * w->dilation[0];
        int64_t row = y + i % w->kernel[1] * w->dilation[1];
        if (slice < 0 || slice >= w->in[0] || row < 0 || row >= w->in[1])
            memset(to, 0, (size_t)w->kernel[2] * sizeof *to);
        else
            copy_row(w, channel + (slice * w->in[1] + row) * w->in[2], o[2], to);
    }
    return to;
}

static void copy_patches(const struct convolution *c, const struct convolution_job *job,
                         int64_t first, int64_t n)
{
    const struct window *w = &c->window;
    float *to = job->patches;
    int64_t n_in = window_product(w->in), o[3];
    for (int64_t i = first; i < first + n; i++) {
        window_unravel(w->out, i, o);
        for (int64_t channel = 0; channel < c->c_in; channel++)
            to = copy_patch(w, job->in + channel * n_in, o, to);
    }
}

void convolution_by_gemm(const struct convolution *c, gemm_f32_fn *gemm, const float *weights,
                         const struct convolution_job *job)
{
    size_t n_terms = (size_t)(c->c_in * window_product(c->window.kernel));
    size_t n_out = (size_t)window_product(c->window.out), n_patches = (size_t)job->n_patches;
    size_t c_out = (size_t)c->c_out;
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
    if (n_patches == 0)
        gemm(&product);
    product.b_transposed = true;
    for (size_t first = 0; first < n_out && n_patches > 0; first += n_patches) {
        size_t rest = n_out - first;
        product.n = rest < n_patches ? rest : n_patches;
        product.b = job->patches;
        product.ldb = n_terms;
        product.c = job->out + first;
        copy_patches(c, job, (int64_t)first, (int64_t)product.n);
        gemm(&product);
    }
    epilogue_run(job->epilogue, job->first, c_out * n_out);
}
