/* Macros that force inlining and unrolling.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_INLINE_H
#define IRRUN_KERNELS_INLINE_H

#include <stddef.h>

/* Loops over rows and vectors must be unrolled, since gcc keeps an array in registers only if all
 * indices are constants. SMALL_CODE disables this for builds with sanitizers, in which a file would
 * take minutes to compile. */
#if defined(SMALL_CODE)
#define ALWAYS_INLINE static inline
#define UNROLL
#else
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#endif

#endif
