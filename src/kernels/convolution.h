/* Convolutions with plain loops or by GEMM. Each call computes one group of one batch element:
 * input [c_in][in], weights [c_out][c_in][kernel], output [c_out][out]. `window` holds the spatial
 * sizes in, kernel and out.
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
    /* With the channels last ([in][channels], [out][channels]), the number of channels of all
     * groups; otherwise 0. Always 0 for transposed convolutions. */
    int64_t in_pixel_stride, out_pixel_stride;
};

/* The reference: computes a convolution with plain loops, for every type. Integers wrap.
 *
 * A transposed convolution is the gradient of a convolution; models upsample with it. It has the
 * same window with input and output swapped: input [c_in][window.out], weights
 * [c_in][c_out][kernel], output [c_out][window.in]. */
typedef void convolution_fn(const struct convolution *convolution, bool is_transposed,
                            const void *in, const void *weights, void *out);
convolution_fn *convolution_direct(enum irrun_dtype dtype);

/* A convolution of one group of one batch element by im2col and a GEMM: copies n_patches patches of
 * the input at a time to `patches` ([n_patches][c_in * kernel]). */
struct convolution_job {
    int64_t n_patches;
    const float *in;
    float *out;
    float *patches;
    const struct epilogue *epilogue; /* NULL: none */
    size_t first;                    /* index of out[0] in the output of the epilogue */
};

/* Runs a job, without a bias. If n_patches is 0, which is valid for kernels of one element with
 * unit strides and no pads, the input itself is the second operand of the GEMM. */
void convolution_by_gemm(const struct convolution *convolution, gemm_f32_fn *gemm,
                         const float *weights, const struct convolution_job *job);

/* Returns the best n_patches; -1 if convolution_direct is faster. */
int64_t convolution_n_patches(const struct convolution *convolution);

/* Computes a transposed convolution by a GEMM and col2im: multiplies the weights by n_positions
 * positions of the input at a time, and adds the columns ([c_out * kernel][n_positions]) into the
 * output. */
void convolution_transposed_by_gemm(const struct convolution *convolution, gemm_f32_fn *gemm,
                                    int64_t n_positions, const float *in, const float *weights,
                                    float *out, float *columns);

/* Returns the best n_positions; -1 if convolution_direct is faster. */
int64_t convolution_transposed_n_positions(const struct convolution *convolution);

#endif
