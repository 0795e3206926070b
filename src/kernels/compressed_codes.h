/* Decodes rows of compressed matrices, chunk by chunk. A wide chunk holds 4 bytes of codes or 4
 * floats per lane; a narrow chunk holds 32 elements. Each position of a chunk is decoded to a
 * vector. For floats, the lanes of this vector are neighbouring elements of the row. For codes,
 * element_at says which elements they are; this order needs the fewest instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COMPRESSED_CODES_H
#define IRRUN_KERNELS_COMPRESSED_CODES_H

#include "kernels/compressed_gemm.h"
#include "kernels/vector_bytes.h"
#include "kernels/vector_integer.h"

/* WIDE_UNITS: bytes of codes, or floats, per lane in a wide chunk. */
enum { WIDE_UNITS = 4, MAX_POSITIONS = 2 * WIDE_UNITS };

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

ALWAYS_INLINE bool has_4_bits(enum irrun_dtype dtype)
{
    return !is_float(dtype) && !is_bytes(dtype);
}

ALWAYS_INLINE size_t codes_per_unit(enum irrun_dtype dtype)
{
    return has_4_bits(dtype) ? 2 : 1;
}

/* Prefetch distances in bytes. The far one is two pages, because hardware prefetchers stop at the
 * end of a page. On Zen 5, a thread reads 4-bit codes at 23 GB/s without prefetching, at 26 with a
 * far distance of 2 KB, and at 29 with 8 KB. */
enum { NEAR_AHEAD = 1024, FAR_AHEAD = 8192 };

/* Prefetches cache lines of one stream, first into L2, later into L1, because L2 can have more
 * misses in flight. On Sapphire Rapids, a thread thus reads f16 at 14.4 GB/s instead of 13.0 with
 * prefetches into L1 alone, and bytes at 12.1 instead of 10.4. */
ALWAYS_INLINE void prefetch_stream(const unsigned char *at)
{
    __builtin_prefetch((const void *)((uintptr_t)at + FAR_AHEAD), 0, 2);
    __builtin_prefetch((const void *)((uintptr_t)at + NEAR_AHEAD), 0, 3);
}

/* ---- floats ---- */

/* Loads a 16-bit number into every lane. */
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
    /* The algorithm of f16_to_f32 in tensor/half.h. */
    const vec_i32 smallest = vec_i32_set1(113 << 23), infinity = vec_i32_set1(0x0F800000);
    vec_u32 f16 = load_u16(at);
    vec_i32 magnitude = (vec_i32)((f16 & 0x7FFF) << 13);
    vec_i32 subnormal = (vec_i32)vec_sub((vec)(smallest + magnitude), (vec)smallest);
    vec_i32 normal = magnitude + (112 << 23) + ((magnitude >= infinity) & (112 << 23));
    vec_i32 is_subnormal = magnitude < 1 << 23;
    vec_i32 wide = (subnormal & is_subnormal) | (normal & ~is_subnormal);
    return (vec)(wide | (vec_i32)((f16 & 0x8000) << 16));
#endif
}

ALWAYS_INLINE vec load_floats(const unsigned char *at, enum irrun_dtype dtype)
{
    return dtype == IRRUN_F16    ? load_f16(at)
           : dtype == IRRUN_BF16 ? (vec)(load_u16(at) << 16)
                                 : (vec)vec_i32_load(at);
}

/* ---- codes ---- */

/* Returns the type whose decoder the matrix uses: U8 for all types of 8 bits; for types of 4 bits,
 * U4 if every value minus its zero point is exact in bf16, otherwise NF4; for floats, their own
 * type. */
static inline enum irrun_dtype decoder_type(const struct compressed_matrix *matrix)
{
    enum irrun_dtype dtype = matrix->dtype;
    if (!has_4_bits(dtype))
        return is_bytes(dtype) ? IRRUN_U8 : dtype;
#ifdef VECTOR_HAS_BYTE_LOOKUP
    const struct group_params *zeros = &matrix->zero_points;
    if (zeros->data ? dtype == IRRUN_U4 && zeros->dtype == IRRUN_U4 : dtype != IRRUN_NF4)
        return IRRUN_U4;
#endif
    return IRRUN_NF4;
}

/* Returns the number of positions of a wide or a narrow chunk. */
ALWAYS_INLINE size_t chunk_positions(enum irrun_dtype dtype, bool is_wide)
{
    size_t most = WIDE_UNITS * codes_per_unit(dtype), n = COMPRESSED_PAD / VECTOR_LANES;
    return is_wide || n > most ? most : n;
}

/* Returns the size of a chunk of n positions in bytes. */
ALWAYS_INLINE size_t chunk_bytes(enum irrun_dtype dtype, size_t n)
{
    return n * VECTOR_LANES * unit_bytes(dtype) / codes_per_unit(dtype);
}

/* Returns the index, in a chunk of n positions, of the element that is decoded to this lane of this
 * position. */
ALWAYS_INLINE size_t element_at(enum irrun_dtype dtype, size_t n, size_t position, size_t lane)
{
#ifdef VECTOR_HAS_BYTE_LOOKUP
    if (has_4_bits(dtype)) {
        size_t part = lane / 4, i = lane % 4, odd = position % 2;
        size_t byte = position / 2 % 2 * 8 + (dtype == IRRUN_U4 ? 2 * i + odd : 4 * odd + i);
        return 2 * byte + (n < MAX_POSITIONS ? part : 32 * part + position / 4);
    }
#endif
    return is_float(dtype) ? position * VECTOR_LANES + lane : lane * n + position;
}

/* Loads a chunk of n positions of codes. */
ALWAYS_INLINE vec_i32 load_chunk(const unsigned char *at, enum irrun_dtype dtype, size_t n)
{
    vec_i32 chunk;
    if (n == WIDE_UNITS * codes_per_unit(dtype))
        chunk = vec_i32_load(at);
    else if (is_bytes(dtype))
        chunk = (vec_i32)load_u16(at);
    else
#if defined(VECTOR_HAS_BYTE_LOOKUP) && VECTOR_LANES == 8 /* the upper half has the high codes */
        chunk = (vec_i32)((vec_u32)bits_repeat_16(at) >> (vec_u32){0, 0, 0, 0, 4, 4, 4, 4});
#else
        chunk = vec_i32_load_u8(at);
#endif
    return (vec_i32)vec_in_register((vec)chunk);
}

/* Inserting an integer into the low 23 bits of the float 2^23 gives 2^23 + integer, without a
 * conversion instruction. The two low bytes of a lane (fields 0 and 1) are inserted in place, then
 * the lane is shifted for the two high bytes. So the integer of field f is 2^(8f) times the code.
 * Signed codes are first made unsigned. */
#define BITS_2_23 0x4B000000
#define FLOAT_2_23 0x1p23F
enum { N_FIELDS = 2 };

/* Returns the power of two by which decode multiplies the code at a position. */
ALWAYS_INLINE float position_factor(enum irrun_dtype dtype, size_t position)
{
    return is_bytes(dtype) && position % N_FIELDS == 1 ? 256 : 1;
}

/* Returns the number that makes the integers of a type unsigned when it is added to them. */
ALWAYS_INLINE float unsigned_offset(enum irrun_dtype dtype)
{
    return dtype == IRRUN_I8 ? 128 : dtype == IRRUN_I4 ? 8 : 0;
}

/* XOR with the returned bits makes 8-bit codes signed or unsigned, and 4-bit codes unsigned. */
ALWAYS_INLINE vec_i32 flip_bits(enum irrun_dtype dtype, const bool bytes_are_signed)
{
    bool is_flipped = dtype == (bytes_are_signed ? IRRUN_U8 : IRRUN_I8);
    return vec_i32_set1((int32_t)(is_flipped ? 0x80808080 : dtype == IRRUN_I4 ? 0x88888888 : 0));
}

/* The values of the 16 4-bit codes, minus a zero point. */
struct value_table {
#ifdef VECTOR_HAS_BYTE_LOOKUP
    bits planes[sizeof(float)]; /* plane i: byte i of each value */
#else
    vec values[16 / VECTOR_LANES];
#endif
};

static inline struct value_table make_value_table(const struct compressed_matrix *matrix,
                                                  float zero)
{
    struct value_table table;
#ifdef VECTOR_HAS_BYTE_LOOKUP
    uint8_t planes[sizeof(float)][16];
    for (size_t code = 0; code < 16; code++) {
        float value = matrix->values[code] - zero;
        uint32_t word;
        memcpy(&word, &value, sizeof word);
        for (size_t plane = 0; plane < sizeof word; plane++)
            planes[plane][code] = (uint8_t)(word >> 8 * plane);
    }
    UNROLL
    for (size_t plane = 0; plane < sizeof(float); plane++)
        table.planes[plane] = bits_repeat_16(planes[plane]);
#else
    UNROLL
    for (size_t i = 0; i < 16 / VECTOR_LANES; i++)
        table.values[i] = vec_sub(vec_load(matrix->values + i * VECTOR_LANES), vec_set1(zero));
#endif
    return table;
}

#ifdef VECTOR_HAS_BYTE_LOOKUP
/* Returns the table of u4 for a zero point of u4. */
ALWAYS_INLINE struct value_table make_u4_table(uint8_t zero)
{
    /* Bytes 2 and 3 of the floats -15 ... 15; bytes 0 and 1 are 0. */
    static const uint8_t planes[2][31] = {
        {0x70, 0x60, 0x50, 0x40, 0x30, 0x20, 0x10, 0x00, 0xE0, 0xC0, 0xA0,
         0x80, 0x40, 0x00, 0x80, 0x00, 0x80, 0x00, 0x40, 0x80, 0xA0, 0xC0,
         0xE0, 0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70},
        {0xC1, 0xC1, 0xC1, 0xC1, 0xC1, 0xC1, 0xC1, 0xC1, 0xC0, 0xC0, 0xC0,
         0xC0, 0xC0, 0xC0, 0xBF, 0x00, 0x3F, 0x40, 0x40, 0x40, 0x40, 0x40,
         0x40, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41}};
    struct value_table table = {.planes[2] = bits_repeat_16(planes[0] + 15 - zero),
                                .planes[3] = bits_repeat_16(planes[1] + 15 - zero)};
    return table;
}

/* Returns the values at a position of a chunk, each byte of which holds two codes. */
ALWAYS_INLINE vec look_up(const struct value_table *table, enum irrun_dtype dtype, vec_i32 chunk,
                          size_t position)
{
    const bits *planes = table->planes;
    const bool is_upper_half = position / 2 % 2, is_odd = position % 2;
    vec_i32 nibbles = position < 4 ? chunk : (vec_i32)((vec_u32)chunk >> 4);
    bits codes = (bits)(nibbles & 0x0F0F0F0F);
    bits upper =
        bits_zip_8(bits_look_up(planes[2], codes), bits_look_up(planes[3], codes), is_upper_half);
    if (dtype == IRRUN_U4)
        return is_odd ? (vec)((vec_u32)upper & 0xFFFF0000) : (vec)((vec_u32)upper << 16);
    bits lower =
        bits_zip_8(bits_look_up(planes[0], codes), bits_look_up(planes[1], codes), is_upper_half);
    return (vec)bits_zip_16(lower, upper, is_odd);
}
#else
/* Returns the values of code `position` of each lane of a chunk. */
ALWAYS_INLINE vec look_up(const struct value_table *table, enum irrun_dtype dtype, vec_i32 chunk,
                          size_t position)
{
    (void)dtype;
    vec_i32 codes = (vec_i32)((vec_u32)chunk >> (unsigned)(4 * position));
#ifdef VECTOR_HAS_LOOKUP
    return vec_lookup(table->values[0], codes);
#else
    vec values;
    for (size_t lane = 0; lane < VECTOR_LANES; lane++)
        memcpy((float *)&values + lane, (const float *)table->values + (codes[lane] & 15),
               sizeof(float));
    return values;
#endif
}
#endif

/* Converts the codes of a scale group to values. */
struct decoder {
    /* Bytes: XORed with the code: the bits of 2^23, and the sign bit of signed codes. */
    vec_i32 flips[N_FIELDS];
    vec zeros[N_FIELDS]; /* bytes: subtracted from the float */
    struct value_table table;
};

ALWAYS_INLINE void set_zero(struct decoder *decoder, enum irrun_dtype stored, vec zero)
{
    zero = vec_add(zero, vec_set1(unsigned_offset(stored)));
    UNROLL
    for (size_t field = 0; field < N_FIELDS; field++) {
        int32_t sign = stored == IRRUN_I8 ? 128 << 8 * field : 0;
        vec factor = vec_set1(position_factor(IRRUN_U8, field));
        decoder->flips[field] = vec_i32_set1(BITS_2_23 | sign);
        decoder->zeros[field] = vec_add(vec_set1(FLOAT_2_23), vec_mul(zero, factor));
    }
}

/* Returns the decoder of a scale group. Uses *table, the values of the codes, if the matrix has no
 * zero points. */
ALWAYS_INLINE struct decoder make_decoder(const struct compressed_matrix *matrix,
                                          enum irrun_dtype dtype, const struct value_table *table,
                                          size_t row, size_t group)
{
    const struct group_params *zeros = &matrix->zero_points;
    struct decoder decoder = {.zeros = {vec_zero()}};
    if (is_bytes(dtype))
        set_zero(&decoder, matrix->dtype, vec_set1(param_of(zeros, row, group, 0)));
    else if (!zeros->data)
        decoder.table = *table;
#ifdef VECTOR_HAS_BYTE_LOOKUP
    else if (dtype == IRRUN_U4)
        decoder.table = make_u4_table(
            ((const uint8_t *)zeros->data)[row * zeros->row_step + group * zeros->group_step]);
#endif
    else
        decoder.table = make_value_table(matrix, param_of(zeros, row, group, 0));
    return decoder;
}

/* Returns the values at a position of a chunk of codes, times position_factor. */
ALWAYS_INLINE vec decode(const struct decoder *decoder, enum irrun_dtype dtype, vec_i32 chunk,
                         size_t position)
{
    if (!is_bytes(dtype))
        return look_up(&decoder->table, dtype, chunk, position);
    size_t field = position % N_FIELDS;
    vec_i32 shifted = position < N_FIELDS ? chunk : (vec_i32)((vec_u32)chunk >> 16);
    vec_i32 code = shifted & vec_i32_set1(255 << 8 * field);
    return vec_sub((vec)(code ^ decoder->flips[field]), decoder->zeros[field]);
}

#endif
