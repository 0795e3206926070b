/* Which implementation does what: chosen once from the options, passed in, never global.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_KERNELS_H
#define IRRUN_KERNELS_KERNELS_H

#include "irrun.h"
#include "kernels/gemm.h"

struct kernels {
    enum irrun_gemm gemm; /* as asked for */
};

void kernels_choose(struct kernels *kernels, enum irrun_gemm gemm);

/* Who multiplies an m x k by a k x n matrix: a function of the options and the sizes alone, so that
 * the same command gives the same bytes. */
gemm_f32_fn *kernels_gemm_f32(const struct kernels *kernels, size_t m, size_t n, size_t k);
gemm_f64_fn *kernels_gemm_f64(const struct kernels *kernels, size_t m, size_t n, size_t k);

/* "plain", "cblas" or "auto". */
const char *kernels_gemm_name(enum irrun_gemm gemm);

#endif
