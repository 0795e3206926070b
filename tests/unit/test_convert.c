/* tensor/convert_elements: every pair of element types against a slow reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/half.h"
#include "tensor/small_float.h"
#include "tensor/tensor.h"

/* Returns the value of an element, for the reference. It is exact: long double has 64 bits of
 * mantissa, or the samples are below 2^53. */
static long double value_of(enum irrun_dtype dtype, const void *element)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
        float f32;
        double f64;
    } x;
    memcpy(&x, element, dtype_size(dtype));
    switch (dtype) {
    case IRRUN_BOOLEAN:
        return x.u8 ? 1.0L : 0.0L;
    case IRRUN_BF16:
        return (long double)bf16_to_f32(x.u16);
    case IRRUN_F16:
        return (long double)f16_to_f32(x.u16);
    case IRRUN_F32:
        return (long double)x.f32;
    case IRRUN_F64:
        return (long double)x.f64;
    case IRRUN_I4:
    case IRRUN_I8:
        return x.i8;
    case IRRUN_I16:
        return x.i16;
    case IRRUN_U16:
        return x.u16;
    case IRRUN_I32:
        return x.i32;
    case IRRUN_U32:
        return x.u32;
    case IRRUN_I64:
        return (long double)x.i64;
    case IRRUN_U64:
        return (long double)x.u64;
    default:
        return small_float_is(dtype) ? (long double)small_float_to_f32(dtype, x.u8) : x.u8;
    }
}

/* Returns the nearest half, by bisection over the codes, which increase with the values. */
static uint16_t nearest_half(enum irrun_dtype dtype, long double value)
{
    uint32_t infinity = dtype == IRRUN_F16 ? 0x7C00 : 0x7F80;
    if (isnan(value))
        return (uint16_t)(infinity | 0x200 | 0x40);
    uint32_t sign = signbit(value) ? 0x8000 : 0;
    long double magnitude = fabsl(value);
    uint32_t low = 0, high = infinity - 1;
    while (low < high) {
        uint16_t middle = (uint16_t)((low + high + 1) / 2);
        if (value_of(dtype, &middle) <= magnitude)
            low = middle;
        else
            high = middle - 1u;
    }
    uint16_t below = (uint16_t)low, before = (uint16_t)(low - 1), after = (uint16_t)(low + 1);
    long double at = value_of(dtype, &below);
    long double above =
        after == infinity ? at + (at - value_of(dtype, &before)) : value_of(dtype, &after);
    long double to_below = magnitude - at, to_above = above - magnitude;
    bool is_up = to_above < to_below || (to_above == to_below && low % 2 == 1);
    return (uint16_t)(sign | (low + is_up));
}

static bool is_code(enum irrun_dtype from, enum irrun_dtype to)
{
    return (from == IRRUN_NF4 && dtype_is_integer(to)) ||
           (to == IRRUN_NF4 && dtype_is_integer(from));
}

/* Returns the low bits of an integer, without a float that would round it. */
static uint64_t integer_bits(enum irrun_dtype from, const void *element, enum irrun_dtype to)
{
    uint64_t bits = 0;
    uint8_t code;
    if (is_code(from, to) && from == IRRUN_NF4) {
        memcpy(&code, element, 1);
        return code;
    }
    long double value = truncl(value_of(from, element));
    if (!dtype_is_integer(from) && from != IRRUN_BOOLEAN) {
        bool is_wide = to == IRRUN_I64 || to == IRRUN_U64 || to == IRRUN_U32;
        long double limit = is_wide ? 9223372036854775808.0L : 2147483648.0L;
        if (!(value >= -limit && value < limit))
            value = -limit;
    }
    if (value < 0)
        bits = 0 - (uint64_t)-value;
    else
        bits = (uint64_t)value;
    return bits;
}

static void convert_by_reference(enum irrun_dtype from, const void *element, enum irrun_dtype to,
                                 void *target)
{
    long double value = value_of(from, element);
    unsigned bits = dtype_stored_bits(to);
    if (from == to) {
        memcpy(target, element, dtype_size(to));
    } else if (dtype_is_integer(to) || is_code(from, to)) {
        uint64_t integer = integer_bits(from, element, to);
        if (bits < 64)
            integer &= (UINT64_C(1) << bits) - 1;
        if (to == IRRUN_I4 && integer >= 8)
            integer |= 0xF0;
        memcpy(target, &integer, dtype_size(to)); /* little-endian, as the files are */
    } else if (to == IRRUN_F32) {
        float narrowed = (float)value;
        memcpy(target, &narrowed, sizeof narrowed);
    } else if (to == IRRUN_F64) {
        double narrowed = (double)value;
        memcpy(target, &narrowed, sizeof narrowed);
    } else if (dtype_is_half(to)) {
        uint16_t half = nearest_half(to, value);
        memcpy(target, &half, sizeof half);
    } else if (to == IRRUN_BOOLEAN) {
        uint8_t truth = value != 0.0L;
        memcpy(target, &truth, 1);
    } else {
        /* test_half checks the rounding; this test checks the steps before it. */
        uint8_t code = small_float_from_f32(to, f32_for_narrowing((double)value));
        memcpy(target, &code, 1);
    }
}

/* The elements of each type: all codes of 8 bits, limits, their neighbours, and random ones. */
enum { MAX_SAMPLES = 3000 };

static const double corners[] = {
    0.0,
    -0.0,
    0.5,
    -0.5,
    0.99999999,
    1.0,
    -1.0,
    1.5,
    -3.7,
    127.0,
    128.0,
    255.0,
    256.0,
    300.0,
    -129.0,
    32767.0,
    32768.0,
    65504.0,
    65519.999,
    65520.0,
    65535.0,
    65536.0,
    16777217.0,
    33554433.0,
    -2147483647.5,
    2147483647.0,
    2147483648.0,
    -2147483648.0,
    -2147483649.0,
    4294967295.0,
    4294967296.0,
    1e10,
    9.2233720368547748e18,
    9.2233720368547758e18,
    -9.2233720368547758e18,
    1.8446744073709552e19,
    1e30,
    3.4e38,
    3.5e38,
    1e300,
    1e-5,
    5.9604644775390625e-8,
    2.98e-8,
    2.99e-8,
    1e-40,
    1e-46,
    1e-310,
    0.1,
    448.0,
    464.0,
    465.0,
    57344.0,
    61440.0,
    6.0,
};

/* Just above the midpoint of two f32, and of two bf16. The last bit decides the rounding, and a
 * double does not have this bit. */
static const uint64_t long_corners[] = {UINT64_C(0x8000008000000001), UINT64_C(0x8080000000000001),
                                        UINT64_C(0x4000004000000001), UINT64_C(0x4040000000000001),
                                        UINT64_C(0xC0C0000000000001), UINT64_C(0xBFBFFFFFFFFFFFFF)};

static uint64_t random_bits(void)
{
    static uint64_t x = 0x2545F4914F6CDD1D;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

static bool is_too_wide(enum irrun_dtype dtype, const void *element)
{
    return LDBL_MANT_DIG < 64 && fabsl(value_of(dtype, element)) > 9007199254740992.0L;
}

/* Returns how an element of at most 8 bits is stored. */
static uint8_t byte_of_code(enum irrun_dtype dtype, unsigned code)
{
    unsigned bits = dtype_stored_bits(dtype);
    code &= (1u << bits) - 1;
    return (uint8_t)(dtype == IRRUN_I4 && code >= 8 ? code | 0xF0 : code);
}

static size_t fill_samples(enum irrun_dtype dtype, unsigned char *samples)
{
    size_t size = dtype_size(dtype), n = 0;
    if (size == 1) {
        for (; n < 256; n++)
            samples[n] = byte_of_code(dtype, (unsigned)n);
        return n;
    }
    for (size_t i = 0; i < sizeof corners / sizeof corners[0]; i++) {
        for (int sign = -1; sign < 2; sign += 2) {
            uint64_t bits = 0;
            if (dtype_is_integer(dtype)) {
                bits = fabs(corners[i]) < 1.8e19 ? (uint64_t)fabs(corners[i]) : UINT64_MAX;
                bits = sign < 0 ? 0 - bits : bits;
                memcpy(samples + n++ * size, &bits, size);
                bits++;
                memcpy(samples + n++ * size, &bits, size);
                bits -= 2;
                memcpy(samples + n++ * size, &bits, size);
            } else {
                double value = sign * corners[i];
                float single = (float)value;
                uint16_t half = dtype == IRRUN_F16 ? f16_from_f32(single) : bf16_from_f32(single);
                memcpy(samples + n++ * size,
                       size == 8   ? (void *)&value
                       : size == 4 ? (void *)&single
                                   : (void *)&half,
                       size);
            }
        }
    }
    for (size_t i = 0; size == 8 && dtype_is_integer(dtype) && i < 6; i++)
        memcpy(samples + n++ * size, &long_corners[i], size);
    for (size_t i = 0; i < n; i++)
        if (is_too_wide(dtype, samples + i * size))
            memset(samples + i * size, 0, size);
    for (; n < MAX_SAMPLES; n++) {
        uint64_t bits = random_bits();
        if (dtype_is_integer(dtype))
            bits >>= n % 64;
        memcpy(samples + n * size, &bits, size);
        if (is_too_wide(dtype, samples + n * size))
            memset(samples + n * size, 0, size);
    }
    return n;
}

static bool is_nan_of(enum irrun_dtype dtype, const void *element)
{
    return !dtype_is_integer(dtype) && isnan(value_of(dtype, element));
}

static void every_pair_of_types_converts_as_the_reference_says(void **state)
{
    (void)state;
    unsigned char *samples = malloc(MAX_SAMPLES * 8), *got = malloc(MAX_SAMPLES * 8 + 8);
    assert_non_null(samples);
    assert_non_null(got);
    for (unsigned f = IRRUN_BOOLEAN; f < IRRUN_STRING; f++) {
        enum irrun_dtype from = (enum irrun_dtype)f;
        size_t n = fill_samples(from, samples);
        for (unsigned t = IRRUN_BOOLEAN; t < IRRUN_STRING; t++) {
            enum irrun_dtype to = (enum irrun_dtype)t;
            size_t from_size = dtype_size(from), to_size = dtype_size(to);
            memset(got, 0xAB, MAX_SAMPLES * 8 + 8);
            convert_elements(from, samples, to, got, n);
            for (size_t i = 0; i < n; i++) {
                unsigned char want[8];
                convert_by_reference(from, samples + i * from_size, to, want);
                if (from != to && is_nan_of(to, want) && is_nan_of(to, got + i * to_size))
                    continue;
                if (memcmp(want, got + i * to_size, to_size) != 0)
                    fail_test("%s to %s: element %zu, %.21Lg, gives %.21Lg, expected %.21Lg\n",
                              irrun_dtype_name(from), irrun_dtype_name(to), i,
                              value_of(from, samples + i * from_size),
                              value_of(to, got + i * to_size), value_of(to, want));
            }
            assert_int_equal(got[n * to_size], 0xAB);
        }
    }
    free(samples);
    free(got);
}

/* Arrays of lengths around the block size, at odd addresses, convert like single elements. */
static void any_length_and_place_gives_the_same(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 2, 15, 16, 17, 255, 256, 257, 512, 700};
    static unsigned char samples[MAX_SAMPLES * 8], source[701 * 8], target[701 * 8], one[8];
    for (unsigned f = IRRUN_BOOLEAN; f < IRRUN_STRING; f++) {
        enum irrun_dtype from = (enum irrun_dtype)f;
        size_t n_samples = fill_samples(from, samples), from_size = dtype_size(from);
        for (size_t i = 0; i < 700; i++)
            memcpy(source + 1 + i * from_size, samples + i * 37 % n_samples * from_size, from_size);
        for (unsigned t = IRRUN_BOOLEAN; t < IRRUN_STRING; t++) {
            enum irrun_dtype to = (enum irrun_dtype)t;
            size_t to_size = dtype_size(to);
            for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
                size_t n = lengths[k];
                memset(target, 0xAB, sizeof target);
                convert_elements(from, source + 1, to, target + 1, n);
                assert_int_equal(target[0], 0xAB);
                assert_int_equal(target[1 + n * to_size], 0xAB);
                for (size_t i = n < 8 ? 0 : n - 8; i < n; i++) {
                    convert_elements(from, source + 1 + i * from_size, to, one, 1);
                    assert_memory_equal(target + 1 + i * to_size, one, to_size);
                }
            }
        }
    }
}

static void converts_in_place_where_sizes_agree(void **state)
{
    (void)state;
    static unsigned char samples[MAX_SAMPLES * 8], apart[MAX_SAMPLES * 8];
    for (unsigned f = IRRUN_BOOLEAN; f < IRRUN_STRING; f++) {
        for (unsigned t = IRRUN_BOOLEAN; t < IRRUN_STRING; t++) {
            enum irrun_dtype from = (enum irrun_dtype)f, to = (enum irrun_dtype)t;
            if (dtype_size(from) != dtype_size(to))
                continue;
            size_t n = fill_samples(from, samples);
            convert_elements(from, samples, to, apart, n);
            convert_elements(from, samples, to, samples, n);
            assert_memory_equal(samples, apart, n * dtype_size(to));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_types_converts_as_the_reference_says),
        cmocka_unit_test(any_length_and_place_gives_the_same),
        cmocka_unit_test(converts_in_place_where_sizes_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
