/* Chooses the implementation of a dense product by sizes and options only; nothing is timed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/blas.h"
#include "kernels/kernels.h"

/* The minimum number of multiplications for which --gemm=auto uses CBLAS, if the library is
 * fast. */
#define CBLAS_MIN_WORK (1u << 18)

static bool uses_cblas(const struct kernels *kernels, size_t m, size_t n, size_t k)
{
    if (kernels->gemm != IRRUN_GEMM_AUTO)
        return kernels->gemm == IRRUN_GEMM_CBLAS;
    return (double)m * (double)n * (double)k >= CBLAS_MIN_WORK && blas_is_fast();
}

gemm_f32_fn *kernels_gemm_f32(const struct kernels *kernels, size_t m, size_t n, size_t k)
{
    return uses_cblas(kernels, m, n, k) ? gemm_cblas_f32 : gemm_plain_f32;
}

gemm_f64_fn *kernels_gemm_f64(const struct kernels *kernels, size_t m, size_t n, size_t k)
{
    return uses_cblas(kernels, m, n, k) ? gemm_cblas_f64 : gemm_plain_f64;
}

bool kernels_may_pack(const struct kernels *kernels)
{
    return kernels->gemm == IRRUN_GEMM_AUTO || kernels->gemm == IRRUN_GEMM_PACKED;
}

const char *kernels_gemm_name(const struct kernels *kernels)
{
    static const char *const names[] = {
        [IRRUN_GEMM_PLAIN] = "plain",
        [IRRUN_GEMM_CBLAS] = "cblas",
        [IRRUN_GEMM_PACKED] = "packed",
    };
    if (kernels->gemm != IRRUN_GEMM_AUTO)
        return names[kernels->gemm];
    return blas_is_fast() ? "auto (packed, cblas)" : "auto (packed, plain)";
}
