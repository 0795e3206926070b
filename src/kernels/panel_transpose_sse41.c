/* Turns blocks of 16 x 16 elements: packing at the speed of memory. Wider vectors gain nothing
 * here.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef __SSE4_1__
#error "to be compiled with SSE4.1"
#endif
#include <smmintrin.h>

#include "kernels/panel_transpose.h"

static void transpose_4x4(const unsigned char *from, size_t from_step, unsigned char *to,
                          size_t to_step)
{
    __m128 a = _mm_loadu_ps((const void *)from);
    __m128 b = _mm_loadu_ps((const void *)(from + from_step));
    __m128 c = _mm_loadu_ps((const void *)(from + 2 * from_step));
    __m128 d = _mm_loadu_ps((const void *)(from + 3 * from_step));
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps((void *)to, a);
    _mm_storeu_ps((void *)(to + to_step), b);
    _mm_storeu_ps((void *)(to + 2 * to_step), c);
    _mm_storeu_ps((void *)(to + 3 * to_step), d);
}

void panel_transpose_f32_sse41(const void *from, size_t from_step, void *to, size_t to_step)
{
    const unsigned char *source = from;
    unsigned char *target = to;

    for (size_t i = 0; i < 16; i += 4)
        for (size_t j = 0; j < 16; j += 4)
            transpose_4x4(source + j * from_step + i * sizeof(float), from_step,
                          target + i * to_step + j * sizeof(float), to_step);
}

/* Pairs, then pairs of pairs, then of those. */
static void transpose_8x8(const unsigned char *from, size_t from_step, unsigned char *to,
                          size_t to_step)
{
    __m128i row[8], pair[8], four[8];
    for (size_t j = 0; j < 8; j++)
        row[j] = _mm_loadu_si128((const void *)(from + j * from_step));
    for (size_t j = 0; j < 4; j++) {
        pair[2 * j] = _mm_unpacklo_epi16(row[2 * j], row[2 * j + 1]);
        pair[2 * j + 1] = _mm_unpackhi_epi16(row[2 * j], row[2 * j + 1]);
    }
    for (size_t j = 0; j < 8; j += 4) {
        for (size_t i = 0; i < 2; i++) {
            four[j + 2 * i] = _mm_unpacklo_epi32(pair[j + i], pair[j + 2 + i]);
            four[j + 2 * i + 1] = _mm_unpackhi_epi32(pair[j + i], pair[j + 2 + i]);
        }
    }
    for (size_t i = 0; i < 4; i++) {
        _mm_storeu_si128((void *)(to + 2 * i * to_step), _mm_unpacklo_epi64(four[i], four[i + 4]));
        _mm_storeu_si128((void *)(to + (2 * i + 1) * to_step),
                         _mm_unpackhi_epi64(four[i], four[i + 4]));
    }
}

void panel_transpose_f16_sse41(const void *from, size_t from_step, void *to, size_t to_step)
{
    const unsigned char *source = from;
    unsigned char *target = to;

    for (size_t i = 0; i < 16; i += 8)
        for (size_t j = 0; j < 16; j += 8)
            transpose_8x8(source + j * from_step + i * sizeof(short), from_step,
                          target + i * to_step + j * sizeof(short), to_step);
}
