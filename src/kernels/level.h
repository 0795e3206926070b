/* For the files *_level.c, each of which is compiled once for every level of levels.def, with its
 * flags and its id as LEVEL: the vector operations of the level, and names that end in it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_LEVEL_H
#define IRRUN_KERNELS_LEVEL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef LEVEL
#define LEVEL scalar
#endif

/* family_avx2 */
#define LEVEL_NAME(family, level) LEVEL_PASTE(family, level)
#define LEVEL_PASTE(family, level) family##_##level

/* clang-format off */
#define LEVEL_HEADER(level) LEVEL_STRING(kernels/vector_##level.h)
/* clang-format on */
#define LEVEL_STRING(text) #text
#define LEVEL_WORDS(level) LEVEL_HEADER(level)
#include LEVEL_WORDS(LEVEL)

/* The kernels of a family of structs for vectors of 8 lanes, which every CPU with 16 has; they suit
 * channels of which there are no more. */
#if VECTOR_LANES == 16
#define HALF_OF(family) &family##_avx2
#else
#define HALF_OF(family) NULL
#endif

/* Loads x once: gcc may make an operand in memory of each of its uses. */
ALWAYS_INLINE vec vec_in_register(vec x)
{
#if defined(__x86_64__) && !defined(VECTOR_BY_LANE)
    __asm__("" : "+v"(x));
#endif
    return x;
}

/* What Clamp makes of x if low <= high; ReLU has 0 and infinity. */
ALWAYS_INLINE vec vec_hold(vec x, vec low, vec high)
{
    return vec_min(high, vec_max(low, x));
}

#ifndef VECTOR_BY_LANE
#include "kernels/vector_functions_body.h"
#endif

#endif
