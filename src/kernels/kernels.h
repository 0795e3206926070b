/* The table of kernels. It is filled once according to the options and the CPU, and passed as an
 * argument; there is no global table.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_KERNELS_H
#define IRRUN_KERNELS_KERNELS_H

#include "base/error.h"
#include "irrun.h"
#include "kernels/affine.h"
#include "kernels/compressed_gemm.h"
#include "kernels/cpu.h"
#include "kernels/depthwise_kernels.h"
#include "kernels/elementwise.h"
#include "kernels/fused_f32.h"
#include "kernels/gemm.h"
#include "kernels/gemm_int8.h"
#include "kernels/igemm_f32.h"
#include "kernels/packed_gemm.h"
#include "kernels/peak.h"
#include "kernels/quantize.h"
#include "kernels/quantized_gemm.h"
#include "kernels/reduce.h"
#include "kernels/select.h"
#include "kernels/softmax.h"
#include "kernels/transpose_f32.h"

/* The families of kernels: name, type (a function type, or a const struct of functions) and a
 * column of levels.def, which says from which level a level takes the kernels of the family. A file
 * *_level.c defines <family>_<level>; for `bytes` and `floats` its name is <family>_level.c. The
 * Makefile also parses this list. */
#define KERNEL_FAMILIES(FAMILY, vectors, bytes, floats)                                            \
    FAMILY(select_x8, select_fn, vectors)                                                          \
    FAMILY(select_x16, select_fn, vectors)                                                         \
    FAMILY(select_x32, select_fn, vectors)                                                         \
    FAMILY(select_x64, select_fn, vectors)                                                         \
    FAMILY(packed_gemm, const struct gemm_microkernels, floats)                                    \
    FAMILY(gemm_rows, gemm_f32_fn, vectors)                                                        \
    FAMILY(igemm_f32, const struct igemm_microkernels, floats)                                     \
    FAMILY(gemm_int8, const struct int8_kernels, bytes)                                            \
    FAMILY(compressed_gemm, const struct compressed_kernels, bytes)                                \
    FAMILY(quantized_gemm, const struct quantized_kernels, bytes)                                  \
    FAMILY(quantize, const struct quantize_kernels, vectors)                                       \
    FAMILY(elementwise_f32, const struct elementwise_kernels, vectors)                             \
    FAMILY(fused_f32, fused_fn, vectors)                                                           \
    FAMILY(softmax_f32, softmax_f32_fn, vectors)                                                   \
    FAMILY(reduce, const struct reduce_kernels, vectors)                                           \
    FAMILY(affine, const struct affine_kernels, vectors)                                           \
    FAMILY(depthwise_f32, const struct depthwise_kernels, vectors)                                 \
    FAMILY(transpose_f32, transpose_f32_fn, vectors)                                               \
    FAMILY(peak, const struct peak_kernels, vectors)

#define KERNEL_TYPE(family, type, level) typedef type family##_kernel;
KERNEL_FAMILIES(KERNEL_TYPE, , , )
#define KERNEL_OF_LEVEL(family, type, level) extern family##_kernel family##_##level;
#define SIMD_LEVEL(id, name, architecture, vectors, bytes, floats, flags, test)                    \
    IF_##architecture(KERNEL_FAMILIES(KERNEL_OF_LEVEL, vectors, bytes, floats))
#include "kernels/levels.def"

/* The kernels of a level. */
struct kernels {
    enum irrun_gemm gemm; /* the option */
    enum irrun_precision precision;
    bool dynamic_quantization; /* the option */
    enum simd simd;
#define KERNEL_MEMBER(family, type, level) family##_kernel *family;
    KERNEL_FAMILIES(KERNEL_MEMBER, , , )
};

extern const char *const kernel_families[]; /* the names of the families, in order */
extern const size_t n_kernel_families;

/* Finds a level by name; "auto" and NULL select the best level. Fails with IRRUN_USAGE if the level
 * is unknown, or the CPU or the build lacks it. */
bool kernels_level(const char *name, enum simd *level, struct irrun_error *err);

/* Chooses the level and the implementation of products. Fails as kernels_level does, or if CBLAS is
 * requested but not available. */
bool kernels_choose(struct kernels *kernels, enum irrun_gemm gemm, const char *simd,
                    struct irrun_error *err);

/* Fills the table with the kernels of a level. Does not test whether the CPU supports the level. */
void kernels_fill(struct kernels *kernels, enum simd simd);

/* Return the implementation for the product of an m x k and a k x n matrix (gemm_dispatch.c). The
 * choice depends only on the options and the sizes, so that the same command always gives the same
 * bytes. */
gemm_f32_fn *kernels_gemm_f32(const struct kernels *kernels, size_t m, size_t n, size_t k);
gemm_f64_fn *kernels_gemm_f64(const struct kernels *kernels, size_t m, size_t n, size_t k);

/* Returns whether the options allow packed products. */
bool kernels_may_pack(const struct kernels *kernels);

/* Returns whether constant operands are packed regardless of --gemm, because only packed products
 * compute in bf16. */
static inline bool kernels_must_pack(const struct kernels *kernels)
{
    return kernels->precision == IRRUN_PRECISION_BF16;
}

/* Returns "plain", "cblas", "packed", or "auto" with its candidates: "auto (packed, plain)". */
const char *kernels_gemm_name(const struct kernels *kernels);

#endif
