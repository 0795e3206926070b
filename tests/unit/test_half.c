/* tensor/half and tensor/small_float: every code, and rounding between all pairs of neighbours.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/half.h"
#include "tensor/small_float.h"
#include "tensor/sub_byte.h"

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns the value of the bits of a binary float, by the definition. */
static double by_definition(uint32_t code, int mantissa_bits, int bias)
{
    int exponent = (int)(code >> mantissa_bits);
    uint32_t mantissa = code & ((1u << mantissa_bits) - 1);
    if (exponent != 0)
        mantissa |= 1u << mantissa_bits;
    else
        exponent = 1;
    return ldexp(mantissa, exponent - bias - mantissa_bits);
}

static void every_f16_widens_to_its_value(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x7C00; code++) {
        float value = (float)by_definition(code, 10, 15);
        assert_int_equal(bits_of(f16_to_f32((uint16_t)code)), bits_of(value));
        assert_int_equal(bits_of(f16_to_f32((uint16_t)(code | 0x8000))), bits_of(-value));
    }
    assert_true(f16_to_f32(0x7C00) == INFINITY);
    assert_true(f16_to_f32(0xFC00) == -INFINITY);
    for (uint32_t code = 0x7C01; code < 0x8000; code++) {
        uint32_t nan = 0x7FC00000 | (code & 0x3FF) << 13;
        assert_int_equal(bits_of(f16_to_f32((uint16_t)code)), nan);
        assert_int_equal(bits_of(f16_to_f32((uint16_t)(code | 0x8000))), nan | 0x80000000);
    }
}

static void every_f16_comes_back(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x10000; code++) {
        uint32_t quiet = (code & 0x7FFF) > 0x7C00 ? code | 0x200 : code;
        assert_int_equal(f16_from_f32(f16_to_f32((uint16_t)code)), quiet);
    }
}

static void every_bf16_comes_back(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x10000; code++) {
        assert_int_equal(bits_of(bf16_to_f32((uint16_t)code)), code << 16);
        uint32_t quiet = (code & 0x7FFF) > 0x7F80 ? code | 0x40 : code;
        assert_int_equal(bf16_from_f32(bf16_to_f32((uint16_t)code)), quiet);
    }
}

/* Rounds the midpoint of all pairs of neighbours, and the doubles just below and above it. */
static void f16_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x7C00; code++) {
        double below = by_definition(code, 10, 15);
        double above = by_definition(code + 1, 10, 15); /* 65536 after the last */
        float middle = (float)((below + above) / 2.0);
        uint32_t even = code & 1 ? code + 1 : code;
        assert_int_equal(f16_from_f32(middle), even);
        assert_int_equal(f16_from_f32(float_of(bits_of(middle) - 1)), code);
        assert_int_equal(f16_from_f32(float_of(bits_of(middle) + 1)), code + 1);
        assert_int_equal(f16_from_f32(-middle), even | 0x8000);
        assert_int_equal(f16_from_f32(-float_of(bits_of(middle) + 1)), (code + 1) | 0x8000);
    }
    assert_int_equal(f16_from_f32(FLT_MAX), 0x7C00);
    assert_int_equal(f16_from_f32(-INFINITY), 0xFC00);
    assert_int_equal(f16_from_f32(FLT_TRUE_MIN), 0);
    assert_int_equal(f16_from_f32(-FLT_TRUE_MIN), 0x8000);
}

static void bf16_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x7F80; code++) {
        uint32_t middle = code << 16 | 0x8000;
        uint32_t even = code & 1 ? code + 1 : code;
        assert_int_equal(bf16_from_f32(float_of(middle)), even);
        assert_int_equal(bf16_from_f32(float_of(middle - 1)), code);
        assert_int_equal(bf16_from_f32(float_of(middle + 1)), code + 1);
        assert_int_equal(bf16_from_f32(-float_of(middle)), even | 0x8000);
    }
    assert_int_equal(bf16_from_f32(FLT_MAX), 0x7F80);
}

static void nan_stays_nan_and_becomes_quiet(void **state)
{
    (void)state;
    for (uint32_t bit = 0; bit < 23; bit++) {
        for (uint32_t sign = 0; sign < 2; sign++) {
            float nan = float_of(sign << 31 | 0x7F800000 | 1u << bit);
            uint16_t f16 = f16_from_f32(nan), bf16 = bf16_from_f32(nan);
            assert_int_equal(f16 & 0x7E00, 0x7E00);
            assert_int_equal(f16 >> 15, sign);
            assert_int_equal(bf16 & 0x7FC0, 0x7FC0);
            assert_int_equal(bf16 >> 15, sign);
        }
    }
    assert_int_equal(f16_from_f32(float_of(0x7FFFFFFF)), 0x7FFF);
    assert_int_equal(bf16_from_f32(float_of(0xFFFFFFFF)), 0xFFFF);
}

/* Lengths around the groups of the loops, at odd addresses; no byte is written after the end. */
static void runs_of_any_length_and_place_convert_each_element(void **state)
{
    (void)state;
    enum { MAX = 70 };
    unsigned char halves[MAX * 2 + 8], floats[MAX * 4 + 8];
    for (size_t n = 0; n <= MAX - 2; n++) {
        for (size_t shift = 0; shift < 4; shift++) {
            uint16_t half;
            float value;
            for (size_t i = 0; i < n; i++) {
                half = (uint16_t)(i * 977 + n * 31);
                memcpy(halves + shift + i * 2, &half, 2);
            }
            memset(floats, 0xAB, sizeof floats);
            f16_to_f32_n(halves + shift, floats + shift, n);
            for (size_t i = 0; i < n; i++) {
                memcpy(&half, halves + shift + i * 2, 2);
                memcpy(&value, floats + shift + i * 4, 4);
                assert_int_equal(bits_of(value), bits_of(f16_to_f32(half)));
            }
            assert_int_equal(floats[shift + n * 4], 0xAB);

            memset(halves, 0xAB, sizeof halves);
            bf16_from_f32_n(floats + shift, halves + shift, n);
            for (size_t i = 0; i < n; i++) {
                memcpy(&half, halves + shift + i * 2, 2);
                memcpy(&value, floats + shift + i * 4, 4);
                assert_int_equal(half, bf16_from_f32(value));
            }
            assert_int_equal(halves[shift + n * 2], 0xAB);
        }
    }
}

/* A double next to the midpoint of two halves must not be rounded to the midpoint first. */
static void narrowing_a_double_rounds_once(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x7C00; code++) {
        double middle = (by_definition(code, 10, 15) + by_definition(code + 1, 10, 15)) / 2.0;
        uint32_t even = code & 1 ? code + 1 : code;
        double less = nextafter(middle, 0.0), more = nextafter(middle, 1e300);
        assert_int_equal(f16_from_f32(f32_for_narrowing(middle)), even);
        assert_int_equal(f16_from_f32(f32_for_narrowing(less)), code);
        assert_int_equal(f16_from_f32(f32_for_narrowing(more)), code + 1);
        assert_int_equal(f16_from_f32(f32_for_narrowing(-less)), code | 0x8000);
    }
    assert_int_equal(f16_from_f32(f32_for_narrowing(1e300)), 0x7C00);
    assert_int_equal(bf16_from_f32(f32_for_narrowing(-1e300)), 0xFF80);
    assert_int_equal(bf16_from_f32(f32_for_narrowing(DBL_TRUE_MIN)), 0);
    assert_true(isnan(f32_for_narrowing((double)NAN)));
    assert_true(f32_for_narrowing(0.0) == 0.0f);
    assert_true(signbit(f32_for_narrowing(-0.0)));
    assert_true(f32_for_narrowing(-(double)INFINITY) == -INFINITY);
}

struct format {
    enum irrun_dtype dtype;
    int mantissa_bits, bias;
    uint32_t max_code, sign;
    int overflow; /* the code of values that are too large */
};

static const struct format formats[] = {
    {IRRUN_F8E4M3, 3, 7, 0x7E, 0x80, 0x7F},
    {IRRUN_F8E5M2, 2, 15, 0x7B, 0x80, 0x7C},
    {IRRUN_F4E2M1, 1, 1, 0x07, 0x08, 0x07},
};

static void every_small_float_widens_and_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const struct format *f = &formats[i];
        for (uint32_t code = 0; code <= f->max_code; code++) {
            float value = (float)by_definition(code, f->mantissa_bits, f->bias);
            uint8_t negative = (uint8_t)(code | f->sign);
            assert_int_equal(bits_of(small_float_to_f32(f->dtype, (uint8_t)code)), bits_of(value));
            assert_int_equal(bits_of(small_float_to_f32(f->dtype, negative)), bits_of(-value));
            assert_int_equal(small_float_from_f32(f->dtype, value), code);
            assert_int_equal(small_float_from_f32(f->dtype, -value), negative);
        }
    }
}

static void small_floats_round_to_nearest_even(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const struct format *f = &formats[i];
        for (uint32_t code = 0; code <= f->max_code; code++) {
            double below = by_definition(code, f->mantissa_bits, f->bias);
            double above = by_definition(code + 1, f->mantissa_bits, f->bias);
            float middle = (float)((below + above) / 2.0);
            uint32_t next = code == f->max_code ? (uint32_t)f->overflow : code + 1;
            assert_int_equal(small_float_from_f32(f->dtype, middle), code & 1 ? next : code);
            assert_int_equal(small_float_from_f32(f->dtype, nextafterf(middle, 0.0f)), code);
            assert_int_equal(small_float_from_f32(f->dtype, nextafterf(middle, FLT_MAX)), next);
        }
        assert_int_equal(small_float_from_f32(f->dtype, INFINITY), f->overflow);
        assert_int_equal(small_float_from_f32(f->dtype, FLT_MAX), f->overflow);
    }
}

/* The special values that the specification lists. */
static void small_floats_have_the_special_values_of_the_specification(void **state)
{
    (void)state;
    assert_true(small_float_to_f32(IRRUN_F8E4M3, 0x7E) == 448.0f);
    assert_true(isnan(small_float_to_f32(IRRUN_F8E4M3, 0x7F)));
    assert_true(isnan(small_float_to_f32(IRRUN_F8E4M3, 0xFF)));
    assert_true(small_float_to_f32(IRRUN_F8E5M2, 0x7B) == 57344.0f);
    assert_true(small_float_to_f32(IRRUN_F8E5M2, 0x7C) == INFINITY);
    assert_true(small_float_to_f32(IRRUN_F8E5M2, 0xFC) == -INFINITY);
    for (uint8_t code = 0x7D; code < 0x80; code++)
        assert_true(isnan(small_float_to_f32(IRRUN_F8E5M2, code)));
    assert_true(small_float_to_f32(IRRUN_F4E2M1, 0x07) == 6.0f);
    assert_true(small_float_to_f32(IRRUN_F4E2M1, 0x0F) == -6.0f);
    assert_true(isnan(small_float_to_f32(IRRUN_F8E8M0, 0xFF)));

    assert_int_equal(small_float_from_f32(IRRUN_F8E4M3, NAN), 0x7F);
    assert_int_equal(small_float_from_f32(IRRUN_F8E5M2, NAN), 0x7F);
    assert_int_equal(small_float_from_f32(IRRUN_F4E2M1, NAN), 0);
    assert_int_equal(small_float_from_f32(IRRUN_F8E8M0, NAN), 0xFF);
}

static void f8e8m0_holds_powers_of_two(void **state)
{
    (void)state;
    for (int code = 0; code < 255; code++) {
        float value = ldexpf(1.0f, code - 127);
        assert_true(small_float_to_f32(IRRUN_F8E8M0, (uint8_t)code) == value);
        assert_int_equal(small_float_from_f32(IRRUN_F8E8M0, value), code);
        if (code < 254) {
            int even = code & 1 ? code + 1 : code;
            assert_int_equal(small_float_from_f32(IRRUN_F8E8M0, value * 1.5f), even);
            assert_int_equal(small_float_from_f32(IRRUN_F8E8M0, value * 1.25f), code);
            assert_int_equal(small_float_from_f32(IRRUN_F8E8M0, value * 1.75f), code + 1);
        }
    }
    assert_int_equal(small_float_from_f32(IRRUN_F8E8M0, 0.0f), 0);
    assert_int_equal(small_float_from_f32(IRRUN_F8E8M0, -0.0f), 0);
    assert_int_equal(small_float_from_f32(IRRUN_F8E8M0, INFINITY), 0xFE);
    assert_int_equal(small_float_from_f32(IRRUN_F8E8M0, -1.0f), 0xFF);
}

static void nf4_takes_the_nearest_code(void **state)
{
    (void)state;
    for (uint8_t code = 0; code < 16; code++)
        assert_int_equal(small_float_from_f32(IRRUN_NF4, nf4_to_f32(code)), code);
    for (float value = -2.0f; value < 2.0f; value += 0.0078125f) {
        uint8_t code = small_float_from_f32(IRRUN_NF4, value);
        for (uint8_t other = 0; other < 16; other++)
            assert_true(fabsf(value - nf4_to_f32(code)) <= fabsf(value - nf4_to_f32(other)));
    }
    assert_int_equal(small_float_from_f32(IRRUN_NF4, -INFINITY), 0);
    assert_int_equal(small_float_from_f32(IRRUN_NF4, INFINITY), 15);
    assert_int_equal(small_float_from_f32(IRRUN_NF4, NAN), 7);
    assert_true(nf4_to_f32(7) == 0.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_f16_widens_to_its_value),
        cmocka_unit_test(every_f16_comes_back),
        cmocka_unit_test(every_bf16_comes_back),
        cmocka_unit_test(f16_rounds_to_nearest_even),
        cmocka_unit_test(bf16_rounds_to_nearest_even),
        cmocka_unit_test(nan_stays_nan_and_becomes_quiet),
        cmocka_unit_test(runs_of_any_length_and_place_convert_each_element),
        cmocka_unit_test(narrowing_a_double_rounds_once),
        cmocka_unit_test(every_small_float_widens_and_comes_back),
        cmocka_unit_test(small_floats_round_to_nearest_even),
        cmocka_unit_test(small_floats_have_the_special_values_of_the_specification),
        cmocka_unit_test(f8e8m0_holds_powers_of_two),
        cmocka_unit_test(nf4_takes_the_nearest_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
