/* Decodes the codes of compressed matrices, in chunks, which give each lane 4 units or 1. A unit of
 * codes is a byte: its codes are at positions 0, 1 ... of the lane, and are decoded position by
 * position. A unit of floats is one of them, and a position is a vector of neighbours.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COMPRESSED_CODES_H
#define IRRUN_KERNELS_COMPRESSED_CODES_H

#include "kernels/compressed_gemm.h"
#include "kernels/vector_integer.h"

enum { WIDE = 4, MAX_POSITIONS = 2 * WIDE };

ALWAYS_INLINE bool is_bytes(enum irrun_dtype dtype)
{
    return dtype == IRRUN_U8 || dtype == IRRUN_I8;
}

ALWAYS_INLINE bool is_float(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 || dtype == IRRUN_F16 || dtype == IRRUN_BF16;
}

ALWAYS_INLINE size_t unit_bytes(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 ? sizeof(float) : is_float(dtype) ? sizeof(uint16_t) : 1;
}

ALWAYS_INLINE size_t codes_per_unit(enum irrun_dtype dtype)
{
    return is_bytes(dtype) || is_float(dtype) ? 1 : 2;
}

static float param_of(const struct group_params *params, size_t row, size_t group, float none)
{
    size_t at = row * params->row_step + group * params->group_step;
    if (!params->data)
        return none;
    switch (params->dtype) {
    case IRRUN_U8:
        return ((const uint8_t *)params->data)[at];
    case IRRUN_I8:
        return ((const int8_t *)params->data)[at];
    default:
        return ((const float *)params->data)[at];
    }
}

/* Distances of prefetching. The far one is two pages: hardware prefetchers do not read beyond the
 * end of a page. On Zen 5, a thread reads 4-bit codes at 23 GB/s without, 26 at 2 KB, 29 at 8. */
enum { NEAR_AHEAD = 1024, FAR_AHEAD = 8192 };

/* Prefetches lines of one stream, first into L2, later into L1: L2 waits for more lines at a time.
 * On Sapphire Rapids, a thread reads f16 at 14.4 GB/s, and 13.0 if all lines go into L1; bytes at
 * 12.1 and 10.4. */
ALWAYS_INLINE void prefetch_stream(const unsigned char *at)
{
    __builtin_prefetch((const void *)((uintptr_t)at + FAR_AHEAD), 0, 2);
    __builtin_prefetch((const void *)((uintptr_t)at + NEAR_AHEAD), 0, 3);
}

/* Returns whether codes select values of a table. Otherwise they are integers in fields of a
 * float. */
ALWAYS_INLINE bool is_table(enum irrun_dtype dtype)
{
#ifdef VECTOR_HAS_LOOKUP
    return !is_bytes(dtype);
#else
    return dtype != IRRUN_U4 && dtype != IRRUN_I4 && !is_bytes(dtype);
#endif
}

/* ---- floats ---- */

/* Loads 16 bits into every lane. */
ALWAYS_INLINE vec_u32 load_u16(const unsigned char *at)
{
    uint16_t lanes __attribute__((vector_size(2 * VECTOR_LANES)));
    memcpy(&lanes, at, sizeof lanes);
    return __builtin_convertvector(lanes, vec_u32);
}

ALWAYS_INLINE vec load_f16(const unsigned char *at)
{
#ifdef VECTOR_HAS_F16
    return vec_load_f16(at);
#else
    /* As f16_to_f32 in tensor/half.h does. */
    const vec_i32 smallest = vec_i32_set1(113 << 23), infinity = vec_i32_set1(0x0F800000);
    vec_u32 half = load_u16(at);
    vec_i32 magnitude = (vec_i32)((half & 0x7FFF) << 13);
    vec_i32 subnormal = (vec_i32)vec_sub((vec)(smallest + magnitude), (vec)smallest);
    vec_i32 normal = magnitude + (112 << 23) + ((magnitude >= infinity) & (112 << 23));
    vec_i32 is_subnormal = magnitude < 1 << 23;
    vec_i32 wide = (subnormal & is_subnormal) | (normal & ~is_subnormal);
    return (vec)(wide | (vec_i32)((half & 0x8000) << 16));
#endif
}

ALWAYS_INLINE vec load_floats(const unsigned char *at, enum irrun_dtype dtype)
{
    return dtype == IRRUN_F16    ? load_f16(at)
           : dtype == IRRUN_BF16 ? (vec)(load_u16(at) << 16)
                                 : (vec)vec_i32_load(at);
}

/* ---- codes ---- */

/* An integer in the low bits of the float 2^23 gives their sum, without a conversion. The codes of
 * a lane stay where they are in fields of 4 or 8 bits: 3 or 2 of them are within the 23 bits, then
 * the lane is shifted. So the integer of field f is 2^(4f) or 2^(8f) times the code. */
#define BITS_2_23 0x4B000000
#define FLOAT_2_23 0x1p23F
enum { MAX_FIELDS = 3 };

ALWAYS_INLINE size_t n_fields(enum irrun_dtype dtype)
{
    return is_bytes(dtype) ? 2 : 3;
}

ALWAYS_INLINE size_t code_bits(enum irrun_dtype dtype)
{
    return is_bytes(dtype) ? 8 : 4;
}

/* Returns what the code at a position is multiplied by when it is decoded. */
ALWAYS_INLINE float position_factor(enum irrun_dtype dtype, size_t position)
{
    return is_table(dtype) ? 1 : (float)(1U << position % n_fields(dtype) * code_bits(dtype));
}

/* Returns what load_chunk adds to the integers of a type. */
ALWAYS_INLINE float offset_of(enum irrun_dtype dtype)
{
    return dtype == IRRUN_I8 ? 128 : dtype == IRRUN_I4 ? 8 : 0;
}

/* Converts the codes of a group to values. */
struct decoder {
    vec zeros[MAX_FIELDS]; /* to subtract, for each field */
    vec table;             /* of 16 values less the zero point, if there is vec_lookup */
    vec zero;              /* of a table */
    const float *values;
};

ALWAYS_INLINE struct decoder decoder_of(const struct compressed_matrix *matrix,
                                        enum irrun_dtype dtype, size_t row, size_t group)
{
    float zero = param_of(&matrix->zero_points, row, group, 0);
    struct decoder decoder = {.values = matrix->values};
    if (is_table(dtype)) {
        decoder.zero = vec_set1(zero);
#ifdef VECTOR_HAS_LOOKUP
        decoder.table = vec_sub(vec_load(matrix->values), decoder.zero);
#endif
        return decoder;
    }
    zero += offset_of(dtype);
    UNROLL
    for (size_t field = 0; field < n_fields(dtype); field++)
        decoder.zeros[field] = vec_set1(FLOAT_2_23 + position_factor(dtype, field) * zero);
    return decoder;
}

/* Returns the values of the codes in the low 4 bits of every lane. */
ALWAYS_INLINE vec look_up(const struct decoder *decoder, vec_i32 codes)
{
#ifdef VECTOR_HAS_LOOKUP
    return vec_lookup(decoder->table, codes);
#else
    int32_t lanes[VECTOR_LANES];
    float values[VECTOR_LANES];
    memcpy(lanes, &codes, sizeof lanes);
    UNROLL
    for (size_t i = 0; i < VECTOR_LANES; i++)
        values[i] = decoder->values[lanes[i] & 15];
    return vec_sub(vec_load(values), decoder->zero);
#endif
}

/* Loads a chunk of `width` bytes per lane. Signed integers become unsigned ones. */
ALWAYS_INLINE vec_i32 load_chunk(const unsigned char *at, enum irrun_dtype dtype, size_t width)
{
    vec_i32 chunk = width == 1 ? vec_i32_load_u8(at) : vec_i32_load(at);
    chunk = (vec_i32)vec_in_register((vec)chunk);
    if (is_table(dtype) || dtype == IRRUN_U8 || dtype == IRRUN_U4)
        return chunk;
    return chunk ^ vec_i32_set1((int32_t)(dtype == IRRUN_I8 ? 0x80808080 : 0x88888888));
}

/* Returns the values at a position, times position_factor. */
ALWAYS_INLINE vec decode(const struct decoder *decoder, enum irrun_dtype dtype, vec_i32 chunk,
                         size_t position)
{
    vec_u32 codes = (vec_u32)chunk;
    if (is_table(dtype))
        return look_up(decoder, (vec_i32)(codes >> (unsigned)(4 * position)));
    size_t field = position % n_fields(dtype);
    vec_i32 shifted = (vec_i32)(codes >> (unsigned)((position - field) * code_bits(dtype)));
    vec_i32 mask = vec_i32_set1((is_bytes(dtype) ? 255 : 15) << field * code_bits(dtype));
    return vec_sub((vec)((shifted & mask) | vec_i32_set1(BITS_2_23)), decoder->zeros[field]);
}

#endif
