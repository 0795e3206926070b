/* The vector functions of AVX-512 with VNNI, which multiplies and adds bytes. See level.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_VNNI_H
#define IRRUN_KERNELS_VECTOR_VNNI_H

#include "kernels/vector_avx512.h"

#ifdef __AVX512VNNI__
#define VECTOR_HAS_DOT_U8

/* Adds to every 32-bit lane of sum the four products of unsigned bytes of a and signed bytes of
 * b. */
ALWAYS_INLINE vec_i32 vec_i32_dot_u8(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    return (vec_i32)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}

#endif
#endif
