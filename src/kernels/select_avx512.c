/* Select with AVX-512: one test of 64 conditions gives the masks of 64 elements, whatever their
 * width.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(__AVX512F__) || !defined(__AVX512BW__)
#error "to be compiled with AVX-512 F and BW"
#endif
#include <immintrin.h>

#include "kernels/kernels.h"
#include "kernels/select_row.h"

ALWAYS_INLINE __m512i blend(uint64_t is_then, __m512i then, __m512i other, size_t width)
{
    return width == 1   ? _mm512_mask_blend_epi8(is_then, other, then)
           : width == 2 ? _mm512_mask_blend_epi16((__mmask32)is_then, other, then)
           : width == 4 ? _mm512_mask_blend_epi32((__mmask16)is_then, other, then)
                        : _mm512_mask_blend_epi64((__mmask8)is_then, other, then);
}

ALWAYS_INLINE void prefetch(const unsigned char *at)
{
    _mm_prefetch((const char *)at + SELECT_AHEAD, _MM_HINT_T0);
}

/* Elements i … i+63. */
ALWAYS_INLINE void select_64(const struct select_row *row, size_t i, size_t width, bool is_streamed)
{
    __m512i conditions = _mm512_loadu_si512(row->condition + i);
    uint64_t is_then = _mm512_test_epi8_mask(conditions, conditions);
    const unsigned char *then = select_at(row->then_values, row->then_mask, i, width);
    const unsigned char *other = select_at(row->else_values, row->else_mask, i, width);
    unsigned char *out = row->out + i * width;

    if (is_streamed)
        prefetch(row->condition + i);
    for (size_t k = 0; k < 64 * width; k += SELECT_LINE) {
        __m512i chosen = blend(is_then >> k / width, _mm512_loadu_si512(then + k),
                               _mm512_loadu_si512(other + k), width);
        if (is_streamed) {
            prefetch(then + k);
            prefetch(other + k);
            _mm512_stream_si512((void *)(out + k), chosen);
        } else {
            _mm512_storeu_si512(out + k, chosen);
        }
    }
}

/* 1 to 64 elements from i on; bytes around them are neither read nor written. */
ALWAYS_INLINE void select_up_to_64(const struct select_row *row, size_t i, size_t n, size_t width)
{
    size_t lanes = SELECT_LINE / width, end = i + n;
    __m512i conditions = _mm512_maskz_loadu_epi8(UINT64_MAX >> (64 - n), row->condition + i);
    uint64_t is_then = _mm512_test_epi8_mask(conditions, conditions);
    for (; i < end; i += lanes, is_then >>= lanes % 64) {
        size_t n_here = end - i < lanes ? end - i : lanes;
        __mmask64 bytes = UINT64_MAX >> (64 - n_here * width);
        __m512i then =
            _mm512_maskz_loadu_epi8(bytes, select_at(row->then_values, row->then_mask, i, width));
        __m512i other =
            _mm512_maskz_loadu_epi8(bytes, select_at(row->else_values, row->else_mask, i, width));
        _mm512_mask_storeu_epi8(row->out + i * width, bytes, blend(is_then, then, other, width));
    }
}

ALWAYS_INLINE void select_row(const struct select_row *row, size_t width, bool is_streamed)
{
    size_t i = 0, n = row->n;
    if (is_streamed && select_head(row->out, n, width) < n) {
        i = select_head(row->out, n, width);
        if (i > 0)
            select_up_to_64(row, 0, i, width);
        for (; i + 64 <= n; i += 64)
            select_64(row, i, width, true);
    }
    for (; i + 64 <= n; i += 64)
        select_64(row, i, width, false);
    if (i < n)
        select_up_to_64(row, i, n - i, width);
}

ALWAYS_INLINE size_t stream(unsigned char *out, const unsigned char *side, size_t mask,
                            size_t n_bytes)
{
    size_t i = 0;
    for (; i + SELECT_LINE <= n_bytes; i += SELECT_LINE) {
        const unsigned char *from = side + (i & mask);
        prefetch(from);
        _mm512_stream_si512((void *)(out + i), _mm512_loadu_si512(from));
    }
    return i;
}

/* What was streamed is in place when the run ends. */
ALWAYS_INLINE void run_avx512(const struct select_run *run, size_t width)
{
    select_rows(run, width, select_row, stream);
    if (run->is_streamed)
        _mm_sfence();
}

void select_x8_avx512(const struct select_run *run)
{
    run_avx512(run, 1);
}

void select_x16_avx512(const struct select_run *run)
{
    run_avx512(run, 2);
}

void select_x32_avx512(const struct select_run *run)
{
    run_avx512(run, 4);
}

void select_x64_avx512(const struct select_run *run)
{
    run_avx512(run, 8);
}
