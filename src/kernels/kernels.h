/* Which implementation does what: chosen once from the options and the CPU, passed in, never
 * global.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_KERNELS_H
#define IRRUN_KERNELS_KERNELS_H

#include "base/error.h"
#include "irrun.h"
#include "kernels/elementwise_f32.h"
#include "kernels/fused_f32.h"
#include "kernels/gemm.h"
#include "kernels/image_tiles.h"
#include "kernels/panels.h"
#include "kernels/select.h"
#include "kernels/softmax.h"

/* The levels that files exist for on this architecture, as IF_BUILT_<level>(text), and what the
 * levels of kernels.def are called elsewhere. */
#if defined(__x86_64__)
#define IF_BUILT_X86(...) __VA_ARGS__
#else
#define IF_BUILT_X86(...)
#endif
#define IF_BUILT_scalar(...) __VA_ARGS__
#define IF_BUILT_sse41(...) IF_BUILT_X86(__VA_ARGS__)
#define IF_BUILT_avx2(...) IF_BUILT_X86(__VA_ARGS__)
#define IF_BUILT_avx512(...) IF_BUILT_X86(__VA_ARGS__)

#define SIMD_scalar IRRUN_SIMD_SCALAR
#define SIMD_sse41 IRRUN_SIMD_SSE41
#define SIMD_avx2 IRRUN_SIMD_AVX2
#define SIMD_avx512 IRRUN_SIMD_AVX512

/* Of each family its type, <family>_kernel … */
#define FAMILY(family, type) typedef type family##_kernel;
#include "kernels/kernels.def"
/* … the declaration of each variant, <family>_<level> … */
#define KERNEL(family, level) IF_BUILT_##level(extern family##_kernel family##_##level;)
#include "kernels/kernels.def"
/* … and the one in use, kernels->family. */
struct kernels {
    enum irrun_gemm gemm; /* as asked for */
    enum irrun_simd simd; /* the level in use, never IRRUN_SIMD_AUTO */
#define FAMILY(family, type) family##_kernel *family;
#include "kernels/kernels.def"
};

/* The level that `simd` means here: itself if the CPU and the build have it, else IRRUN_USAGE;
 * the highest there is for IRRUN_SIMD_AUTO. */
bool kernels_level(enum irrun_simd simd, enum irrun_simd *level, struct irrun_error *err);

/* Fails as kernels_level does, and where CBLAS is asked for and there is none. */
bool kernels_choose(struct kernels *kernels, enum irrun_gemm gemm, enum irrun_simd simd,
                    struct irrun_error *err);

/* Takes the kernels of a level without asking the CPU. */
void kernels_fill(struct kernels *kernels, enum irrun_simd simd);

/* The rows of kernels.def that are built, in order. */
struct kernel_row {
    const char *family; /* "select_x32" */
    enum irrun_simd simd;
};
extern const struct kernel_row kernel_rows[];
extern const size_t n_kernel_rows;
extern const char *const kernel_families[];
extern const size_t n_kernel_families;

/* Who multiplies an m x k by a k x n matrix: a function of the options and the sizes alone, so that
 * the same command gives the same bytes. */
gemm_f32_fn *kernels_gemm_f32(const struct kernels *kernels, size_t m, size_t n, size_t k);
gemm_f64_fn *kernels_gemm_f64(const struct kernels *kernels, size_t m, size_t n, size_t k);

/* Whether the options allow that weights and factors are packed. */
bool kernels_may_pack(const struct kernels *kernels);

/* "plain", "cblas", "packed", or "auto" with what it takes from: "auto (packed, plain)". */
const char *kernels_gemm_name(const struct kernels *kernels);

#endif
