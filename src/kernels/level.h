/* The header of *_level.c files, each of which is compiled once per level that has its own kernels
 * of that kind (levels.def), with the flags of the level, and with LEVEL defined as the id of the
 * level. Provides the vector operations of the level, and names that end in its id.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_LEVEL_H
#define IRRUN_KERNELS_LEVEL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* VECTOR_LEVEL is the level whose kernels this level uses if it has none of its own. */
#ifndef LEVEL
#define LEVEL scalar
#define VECTOR_LEVEL scalar
#endif

/* LEVEL_NAME(family, avx2) is family_avx2. */
#define LEVEL_NAME(family, level) LEVEL_PASTE(family, level)
#define LEVEL_PASTE(family, level) family##_##level

/* clang-format off */
#define LEVEL_HEADER(level) LEVEL_STRING(kernels/vector_##level.h)
/* clang-format on */
#define LEVEL_STRING(text) #text
#define LEVEL_INCLUDE(level) LEVEL_HEADER(level)
#include LEVEL_INCLUDE(LEVEL)

/* Kernels with half as many lanes, which are faster for up to 8 channels: for levels of 16 lanes
 * those of avx2, since every CPU with AVX-512 has AVX2. */
#if VECTOR_LANES == 16
#define HALF_WIDTH_OF(family) &family##_avx2
#else
#define HALF_WIDTH_OF(family) NULL
#endif

/* Makes gcc keep x in a register. Otherwise gcc may load it again for each instruction that uses
 * it. */
ALWAYS_INLINE vec vec_in_register(vec x)
{
#if defined(__AVX512F__)
    __asm__("" : "+v"(x));
#elif defined(__x86_64__)
    __asm__("" : "+x"(x));
#elif defined(__aarch64__)
    __asm__("" : "+w"(x));
#endif
    return x;
}

/* Makes gcc keep x in its register until here. Otherwise gcc may compute a vector in this register,
 * and then move it. */
ALWAYS_INLINE void vec_keep(vec x)
{
#if defined(__AVX512F__)
    __asm__ volatile("" : : "v"(x));
#elif defined(__x86_64__)
    __asm__ volatile("" : : "x"(x));
#elif defined(__aarch64__)
    __asm__ volatile("" : : "w"(x));
#endif
    (void)x;
}

/* Load and store n elements, or a vector if n is larger. After a load, lanes from n on are
 * undefined. */
ALWAYS_INLINE vec vec_load_n(const void *at, size_t n)
{
    return n < VECTOR_LANES ? vec_load_first(at, n) : vec_load(at);
}
ALWAYS_INLINE void vec_store_n(void *at, vec x, size_t n)
{
    if (n < VECTOR_LANES)
        vec_store_first(at, x, n);
    else
        vec_store(at, x);
}

/* Clamps x as Clamp does if low <= high; for ReLU they are 0 and infinity. */
ALWAYS_INLINE vec vec_max_min(vec x, vec low, vec high)
{
    return vec_min(high, vec_max(low, x));
}

#ifndef LEVEL_IS_SCALAR
#include "kernels/vector_functions_body.h"
#endif

#endif
