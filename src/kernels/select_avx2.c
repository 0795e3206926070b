/* Select with AVX2: conditions are widened to masks, the rest of a row is one more vector that
 * overlaps the last whole one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef __AVX2__
#error "to be compiled with AVX2"
#endif
#include <immintrin.h>

#include "kernels/kernels.h"
#include "kernels/select_row.h"

#define VECTOR 32 /* bytes */

/* All ones where a condition is false, for as many elements as a vector has. */
ALWAYS_INLINE __m256i false_mask(const unsigned char *condition, size_t width)
{
    const __m128i zero = _mm_setzero_si128();
    if (width == 1)
        return _mm256_cmpeq_epi8(_mm256_loadu_si256((const void *)condition),
                                 _mm256_setzero_si256());
    if (width == 2)
        return _mm256_cvtepi8_epi16(_mm_cmpeq_epi8(_mm_loadu_si128((const void *)condition), zero));
    if (width == 4)
        return _mm256_cvtepi8_epi32(_mm_cmpeq_epi8(_mm_loadl_epi64((const void *)condition), zero));
    int four;
    memcpy(&four, condition, sizeof four);
    return _mm256_cvtepi8_epi64(_mm_cmpeq_epi8(_mm_cvtsi32_si128(four), zero));
}

ALWAYS_INLINE __m256i choose(const struct select_row *row, size_t i, size_t width)
{
    __m256i then =
        _mm256_loadu_si256((const void *)select_at(row->then_values, row->then_mask, i, width));
    __m256i other =
        _mm256_loadu_si256((const void *)select_at(row->else_values, row->else_mask, i, width));
    return _mm256_blendv_epi8(then, other, false_mask(row->condition + i, width));
}

ALWAYS_INLINE void store(const struct select_row *row, size_t i, size_t width, __m256i chosen)
{
    _mm256_storeu_si256((void *)(row->out + i * width), chosen);
}

ALWAYS_INLINE void prefetch(const unsigned char *at)
{
    _mm_prefetch((const char *)at + SELECT_AHEAD, _MM_HINT_T0);
}

/* Whole lines from element i on, past the caches; returns where it ended. */
ALWAYS_INLINE size_t stream_elements(const struct select_row *row, size_t i, size_t width)
{
    size_t lanes = VECTOR / width;
    for (; i + 2 * lanes <= row->n; i += 2 * lanes) {
        prefetch(row->condition + i);
        prefetch(select_at(row->then_values, row->then_mask, i, width));
        prefetch(select_at(row->else_values, row->else_mask, i, width));
        __m256i first = choose(row, i, width), second = choose(row, i + lanes, width);
        _mm256_stream_si256((void *)(row->out + i * width), first);
        _mm256_stream_si256((void *)(row->out + i * width + VECTOR), second);
    }
    return i;
}

ALWAYS_INLINE void select_row(const struct select_row *row, size_t width, bool is_streamed)
{
    size_t i = 0, n = row->n, lanes = VECTOR / width;
    if (n < lanes) {
        select_few(row, 0, n, width);
        return;
    }
    /* Read before anything is written: out may be an operand. */
    __m256i last = choose(row, n - lanes, width);
    if (is_streamed && select_head(row->out, n, width) < n) {
        i = select_head(row->out, n, width);
        select_few(row, 0, i, width);
        i = stream_elements(row, i, width);
    }
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        __m256i first = choose(row, i, width), second = choose(row, i + lanes, width);
        store(row, i, width, first);
        store(row, i + lanes, width, second);
    }
    if (i + lanes < n)
        store(row, i, width, choose(row, i, width));
    if (i < n)
        store(row, n - lanes, width, last);
}

ALWAYS_INLINE size_t stream(unsigned char *out, const unsigned char *side, size_t mask,
                            size_t n_bytes)
{
    size_t i = 0;
    for (; i + SELECT_LINE <= n_bytes; i += SELECT_LINE) {
        const unsigned char *from = side + (i & mask);
        prefetch(from);
        for (size_t k = 0; k < SELECT_LINE; k += VECTOR)
            _mm256_stream_si256((void *)(out + i + k),
                                _mm256_loadu_si256((const void *)(from + k)));
    }
    return i;
}

/* What was streamed is in place when the run ends. */
ALWAYS_INLINE void run_avx2(const struct select_run *run, size_t width)
{
    select_rows(run, width, select_row, stream);
    if (run->is_streamed)
        _mm_sfence();
}

void select_x8_avx2(const struct select_run *run)
{
    run_avx2(run, 1);
}

void select_x16_avx2(const struct select_run *run)
{
    run_avx2(run, 2);
}

void select_x32_avx2(const struct select_run *run)
{
    run_avx2(run, 4);
}

void select_x64_avx2(const struct select_run *run)
{
    run_avx2(run, 8);
}
