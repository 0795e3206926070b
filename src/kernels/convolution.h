/* Convolutions: input [c_in][in], weights [c_out][c_in][kernel], output [c_out][out] of one group
 * of one batch element; the spatial sizes are those of the window.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_CONVOLUTION_H
#define IRRUN_KERNELS_CONVOLUTION_H

#include "irrun.h"
#include "kernels/epilogue.h"
#include "kernels/gemm.h"
#include "kernels/sliding_window.h"

struct convolution {
    struct window window;
    int64_t c_in, c_out;
    /* If the channels lie last, [in][channels] or [out][channels]: those of all groups. Else 0. Not
     * of a transpose. */
    int64_t in_pixel, out_pixel;
};

/* Term by term, for every type; the specification. Integers wrap.
 *
 * The transpose is what a convolution does to gradients, and a convolution that upsamples. It has
 * the same window, but input and output are swapped: input [c_in][window.out], weights
 * [c_in][c_out][kernel], output [c_out][window.in]. */
typedef void convolution_fn(const struct convolution *convolution, bool is_transposed,
                            const void *in, const void *weights, void *out);
convolution_fn *convolution_direct(enum irrun_dtype dtype);

/* One group of one batch element, by im2col and a GEMM: n_patches of the input at a time are copied
 * to `patches` ([n_patches][c_in * kernel]). */
struct convolution_job {
    int64_t n_patches;
    const float *in;
    float *out;
    float *patches;
    const struct epilogue *epilogue; /* NULL: none. Else out is its element `first` */
    size_t first;
};

/* With n_patches 0 the input itself is the second factor: for kernels of one element, unit strides
 * and no pads. A bias is not added. */
void convolution_by_gemm(const struct convolution *convolution, gemm_f32_fn *gemm,
                         const float *weights, const struct convolution_job *job);

/* The best n_patches; -1: the direct loops are faster. */
int64_t convolution_n_patches(const struct convolution *convolution);

/* The transpose by a GEMM and col2im: products of the weights with n_positions of the input at a
 * time, whose columns ([c_out * kernel] [n_positions]) are added into the output. */
void convolution_transposed_by_gemm(const struct convolution *convolution, gemm_f32_fn *gemm,
                                    int64_t n_positions, const float *in, const float *weights,
                                    float *out, float *columns);

/* The best n_positions; -1: the direct loops are faster. */
int64_t convolution_transposed_n_positions(const struct convolution *convolution);

#endif
