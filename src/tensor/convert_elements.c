/* Converts elements between types. Common pairs of types have their own loops; all others are
 * converted a block at a time via double (which represents every type except i64 and u64) or int64.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor/tensor.h"

#include <assert.h>
#include <string.h>

#include "tensor/half.h"
#include "tensor/small_float.h"
#include "tensor/sub_byte.h"

#define BLOCK 256

#define TYPE_PAIR(from, to) ((unsigned)(from)*IRRUN_N_DTYPES + (unsigned)(to))

/* Ends a case of a switch. Uses memcpy, because data may be at any address; compilers turn it into
 * plain loads and stores. */
#define CONVERT_EACH(from_type, to_type, expression)                                               \
    for (size_t i = 0; i < n; i++) {                                                               \
        from_type x;                                                                               \
        memcpy(&x, from + i * sizeof x, sizeof x);                                                 \
        to_type converted = (to_type)(expression);                                                 \
        memcpy(to + i * sizeof converted, &converted, sizeof converted);                           \
    }                                                                                              \
    break

/* The cases of booleans and of integers up to 32 bits, except u8 and the unsigned types below 8
 * bits. */
#define CASES_OF_NARROW_INTEGERS(to_type)                                                          \
    case IRRUN_BOOLEAN:                                                                            \
        CONVERT_EACH(uint8_t, to_type, x != 0);                                                    \
    case IRRUN_I4:                                                                                 \
    case IRRUN_I8:                                                                                 \
        CONVERT_EACH(int8_t, to_type, x);                                                          \
    case IRRUN_I16:                                                                                \
        CONVERT_EACH(int16_t, to_type, x);                                                         \
    case IRRUN_I32:                                                                                \
        CONVERT_EACH(int32_t, to_type, x);                                                         \
    case IRRUN_U16:                                                                                \
        CONVERT_EACH(uint16_t, to_type, x);                                                        \
    case IRRUN_U32:                                                                                \
        CONVERT_EACH(uint32_t, to_type, x);

/* Converts to double. Numbers of more than 53 bits are rounded to odd, so that a later conversion
 * to a narrower type rounds only once. */
static double f64_for_narrowing(uint64_t magnitude)
{
    if (magnitude >> 53 != 0)
        magnitude = (magnitude & ~(uint64_t)0x7FF) | (uint64_t)((magnitude & 0x7FF) != 0) << 11;
    return (double)magnitude;
}

static double i64_for_narrowing(int64_t value)
{
    return value < 0 ? -f64_for_narrowing(0 - (uint64_t)value) : f64_for_narrowing((uint64_t)value);
}

static void load_f64(enum irrun_dtype dtype, const unsigned char *restrict from, double *target,
                     size_t n)
{
    unsigned char *restrict to = (unsigned char *)target;
    switch (dtype) {
        CASES_OF_NARROW_INTEGERS(double)
    case IRRUN_BF16:
        CONVERT_EACH(uint16_t, double, bf16_to_f32(x));
    case IRRUN_F16:
        CONVERT_EACH(uint16_t, double, f16_to_f32(x));
    case IRRUN_F32:
        CONVERT_EACH(float, double, x);
    case IRRUN_F64:
        memcpy(to, from, n * sizeof(double));
        break;
    case IRRUN_I64:
        CONVERT_EACH(int64_t, double, i64_for_narrowing(x));
    case IRRUN_U64:
        CONVERT_EACH(uint64_t, double, f64_for_narrowing(x));
    case IRRUN_NF4:
    case IRRUN_F8E4M3:
    case IRRUN_F8E5M2:
    case IRRUN_F4E2M1:
    case IRRUN_F8E8M0:
        CONVERT_EACH(uint8_t, double, small_float_to_f32(dtype, x));
    default:
        assert(dtype_size(dtype) == 1);
        CONVERT_EACH(uint8_t, double, x);
    }
}

static void store_f64(enum irrun_dtype dtype, const double *source, unsigned char *restrict to,
                      size_t n)
{
    const unsigned char *restrict from = (const unsigned char *)source;
    switch (dtype) {
    case IRRUN_BOOLEAN:
        CONVERT_EACH(double, uint8_t, x != 0.0);
    case IRRUN_BF16:
        CONVERT_EACH(double, uint16_t, bf16_from_f32(f32_for_narrowing(x)));
    case IRRUN_F16:
        CONVERT_EACH(double, uint16_t, f16_from_f32(f32_for_narrowing(x)));
    case IRRUN_F32:
        CONVERT_EACH(double, float, x);
    case IRRUN_F64:
        memcpy(to, from, n * sizeof(double));
        break;
    default:
        assert(small_float_is(dtype));
        CONVERT_EACH(double, uint8_t, small_float_from_f32(dtype, f32_for_narrowing(x)));
    }
}

/* Loads integers; keeps the bits of u64. */
static void load_i64(enum irrun_dtype dtype, const unsigned char *restrict from, int64_t *target,
                     size_t n)
{
    unsigned char *restrict to = (unsigned char *)target;
    switch (dtype) {
        CASES_OF_NARROW_INTEGERS(int64_t)
    case IRRUN_I64:
    case IRRUN_U64:
        memcpy(to, from, n * sizeof(int64_t));
        break;
    default:
        assert(dtype_size(dtype) == 1);
        CONVERT_EACH(uint8_t, int64_t, x);
    }
}

/* Stores the low bits. */
static void store_i64(enum irrun_dtype dtype, const int64_t *source, unsigned char *restrict to,
                      size_t n)
{
    const unsigned char *restrict from = (const unsigned char *)source;
    switch (dtype_size(dtype)) {
    case 8:
        memcpy(to, from, n * sizeof(int64_t));
        break;
    case 4:
        CONVERT_EACH(uint64_t, uint32_t, x);
    case 2:
        CONVERT_EACH(uint64_t, uint16_t, x);
    default:
        if (dtype == IRRUN_I4) {
            CONVERT_EACH(uint64_t, uint8_t, ((x & 15) ^ 8) - 8);
        } else {
            uint64_t mask = (UINT64_C(1) << dtype_stored_bits(dtype)) - 1;
            CONVERT_EACH(uint64_t, uint8_t, x & mask);
        }
    }
}

static int64_t truncate_to_i32(double value)
{
    return value > -2147483649.0 && value < 2147483648.0 ? (int64_t)value : INT32_MIN;
}

static int64_t truncate_to_i64(double value)
{
    return value >= -9223372036854775808.0 && value < 9223372036854775808.0 ? (int64_t)value
                                                                            : INT64_MIN;
}

static void truncate_block(const double *values, int64_t *integers, size_t n, bool is_wide)
{
    if (is_wide) {
        for (size_t i = 0; i < n; i++)
            integers[i] = truncate_to_i64(values[i]);
    } else {
        for (size_t i = 0; i < n; i++)
            integers[i] = truncate_to_i32(values[i]);
    }
}

static void convert_block(enum irrun_dtype from, const unsigned char *source, enum irrun_dtype to,
                          unsigned char *target, size_t n)
{
    double values[BLOCK];
    int64_t integers[BLOCK];
    bool is_nf4_code = to == IRRUN_NF4 && dtype_is_integer(from);
    if (!dtype_is_integer(to) && !is_nf4_code) {
        load_f64(from, source, values, n);
        store_f64(to, values, target, n);
        return;
    }
    if (dtype_is_integer(from) || from == IRRUN_BOOLEAN || from == IRRUN_NF4) {
        load_i64(from, source, integers, n);
    } else {
        bool is_wide = to == IRRUN_I64 || to == IRRUN_U64 || to == IRRUN_U32;
        load_f64(from, source, values, n);
        truncate_block(values, integers, n, is_wide);
    }
    store_i64(to, integers, target, n);
}

/* Converts with the loop for a pair of types; returns false if there is none. i64 and u64 to f64
 * need one, because f64_for_narrowing does not round to nearest. */
static bool convert_directly(enum irrun_dtype from_dtype, const unsigned char *restrict from,
                             enum irrun_dtype to_dtype, unsigned char *restrict to, size_t n)
{
    switch (TYPE_PAIR(from_dtype, to_dtype)) {
    case TYPE_PAIR(IRRUN_F16, IRRUN_F32):
        f16_to_f32_n(from, to, n);
        break;
    case TYPE_PAIR(IRRUN_F32, IRRUN_F16):
        f16_from_f32_n(from, to, n);
        break;
    case TYPE_PAIR(IRRUN_BF16, IRRUN_F32):
        bf16_to_f32_n(from, to, n);
        break;
    case TYPE_PAIR(IRRUN_F32, IRRUN_BF16):
        bf16_from_f32_n(from, to, n);
        break;
    case TYPE_PAIR(IRRUN_I4, IRRUN_F32):
    case TYPE_PAIR(IRRUN_I8, IRRUN_F32):
        CONVERT_EACH(int8_t, float, x);
    case TYPE_PAIR(IRRUN_U4, IRRUN_F32):
    case TYPE_PAIR(IRRUN_U8, IRRUN_F32):
        CONVERT_EACH(uint8_t, float, x);
    case TYPE_PAIR(IRRUN_BOOLEAN, IRRUN_F32):
        CONVERT_EACH(uint8_t, float, x != 0);
    case TYPE_PAIR(IRRUN_NF4, IRRUN_F32):
        CONVERT_EACH(uint8_t, float, nf4_to_f32(x));
    case TYPE_PAIR(IRRUN_I32, IRRUN_F32):
        CONVERT_EACH(int32_t, float, x);
    case TYPE_PAIR(IRRUN_I64, IRRUN_F32):
        CONVERT_EACH(int64_t, float, x);
    case TYPE_PAIR(IRRUN_F32, IRRUN_I32):
        CONVERT_EACH(float, int32_t, x >= -0x1p31F && x < 0x1p31F ? (int32_t)x : INT32_MIN);
    case TYPE_PAIR(IRRUN_F32, IRRUN_I8):
    case TYPE_PAIR(IRRUN_F32, IRRUN_U8):
        CONVERT_EACH(float, uint8_t,
                     (uint8_t)(x >= -0x1p31F && x < 0x1p31F ? (int32_t)x : INT32_MIN));
    case TYPE_PAIR(IRRUN_U8, IRRUN_I32):
        CONVERT_EACH(uint8_t, int32_t, x);
    case TYPE_PAIR(IRRUN_I8, IRRUN_I32):
        CONVERT_EACH(int8_t, int32_t, x);
    case TYPE_PAIR(IRRUN_F32, IRRUN_I64):
        CONVERT_EACH(float, int64_t, x >= -0x1p63F && x < 0x1p63F ? (int64_t)x : INT64_MIN);
    case TYPE_PAIR(IRRUN_I64, IRRUN_F64):
        CONVERT_EACH(int64_t, double, x);
    case TYPE_PAIR(IRRUN_U64, IRRUN_F64):
        CONVERT_EACH(uint64_t, double, x);
    default:
        return false;
    }
    return true;
}

/* The types that convert_directly converts to f32 exactly. */
#define TYPES_VIA_F32                                                                              \
    (TYPES_HALF | TYPES_BOOLEAN | TYPE_BIT(IRRUN_I4) | TYPE_BIT(IRRUN_I8) | TYPE_BIT(IRRUN_U4) |   \
     TYPE_BIT(IRRUN_U8) | TYPE_BIT(IRRUN_NF4))

/* Converts a block to f16 through f32: a fast path for compressed weights. */
static void convert_block_to_half(enum irrun_dtype from, const unsigned char *source,
                                  enum irrun_dtype to, unsigned char *target, size_t n)
{
    unsigned char floats[BLOCK * sizeof(float)];
    convert_directly(from, source, IRRUN_F32, floats, n);
    convert_directly(IRRUN_F32, floats, to, target, n);
}

static void convert_disjoint(enum irrun_dtype from, const unsigned char *source,
                             enum irrun_dtype to, unsigned char *target, size_t n)
{
    if (convert_directly(from, source, to, target, n))
        return;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t n_block = n - first < BLOCK ? n - first : BLOCK;
        const unsigned char *block = source + first * dtype_size(from);
        if (dtype_is_half(to) && (TYPES_VIA_F32 & TYPE_BIT(from)) != 0)
            convert_block_to_half(from, block, to, target + first * dtype_size(to), n_block);
        else
            convert_block(from, block, to, target + first * dtype_size(to), n_block);
    }
}

void convert_elements(enum irrun_dtype from, const void *source, enum irrun_dtype to, void *target,
                      size_t n)
{
    size_t size_bytes = dtype_size(to);
    assert(dtype_size(from) != 0 && size_bytes != 0);
    if (n == 0 || (from == to && source == target))
        return;
    if (from == to) {
        memcpy(target, source, n * size_bytes);
        return;
    }
    if (source != target) {
        convert_disjoint(from, source, to, target, n);
        return;
    }
    assert(dtype_size(from) == size_bytes);
    unsigned char copy[BLOCK * sizeof(double)];
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t n_block = n - first < BLOCK ? n - first : BLOCK;
        unsigned char *block = (unsigned char *)target + first * size_bytes;
        memcpy(copy, block, n_block * size_bytes);
        convert_disjoint(from, copy, to, block, n_block);
    }
}

float *elements_as_f32(const struct irrun_tensor *tensor, struct arena *arena,
                       struct irrun_error *err)
{
    size_t n = (size_t)shape_n_elements(&tensor->shape);
    float *copy = arena_alloc_array(arena, n, sizeof *copy, err);
    if (copy)
        convert_elements(tensor->dtype, tensor->data, IRRUN_F32, copy, n);
    return copy;
}

double element_as_f64(enum irrun_dtype dtype, const void *data, size_t i)
{
    double value;
    convert_elements(dtype, (const unsigned char *)data + i * dtype_size(dtype), IRRUN_F64, &value,
                     1);
    return value;
}

void elements_as_i64(enum irrun_dtype dtype, const void *data, size_t first, size_t n,
                     int64_t *numbers)
{
    convert_elements(dtype, (const unsigned char *)data + first * dtype_size(dtype), IRRUN_I64,
                     numbers, n);
    for (size_t i = 0; i < n && dtype == IRRUN_U64; i++)
        numbers[i] = numbers[i] < 0 ? INT64_MAX : numbers[i];
}

int64_t element_as_i64(enum irrun_dtype dtype, const void *data, size_t i)
{
    int64_t number;
    elements_as_i64(dtype, data, i, 1, &number);
    return number;
}
