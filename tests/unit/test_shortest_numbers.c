/* base/text: writes numbers with the fewest digits that read back as the same number.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static uint64_t random_bits(void)
{
    static uint64_t x = 0x9E3779B97F4A7C15;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

static double f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float f32_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void writes_numbers_as_people_do(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {-12.5, "-12.5"},
        {0.1, "0.1"},
        {100000.0, "100000"},
        {0.0001, "0.0001"},
        {0.00012345, "0.00012345"},
        {0.00001, "1e-05"},
        {1e-7, "1e-07"},
        {1.5e20, "1.5e+20"},
        {1e15, "1000000000000000"},
        {1e16, "1e+16"},
        {1.25e-30, "1.25e-30"},
        {(double)INFINITY, "inf"},
        {-(double)INFINITY, "-inf"},
        {(double)NAN, "nan"},
        {-(double)NAN, "nan"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TEXT_NUMBER_BYTES];
        assert_int_equal(text_from_f64(rows[i].value, text), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
        assert_int_equal(text_from_f32((float)rows[i].value, text), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
    }
}

static void writes_the_known_hard_doubles(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {5e-324, "5e-324"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {2.0 / 3.0, "0.6666666666666666"},
        {0.1 + 0.2, "0.30000000000000004"},
        {0x1p-44, "5.684341886080802e-14"}, /* 16 digits, though not the nearest 16 */
        {9007199254740993.0, "9007199254740992"},
        {123456789012345678.0, "1.2345678901234568e+17"},
        {1e23, "1e+23"},
        {9.5367431640625e-07, "9.5367431640625e-07"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TEXT_NUMBER_BYTES];
        text_from_f64(rows[i].value, text);
        assert_string_equal(text, rows[i].text);
    }
}

/* Powers of two whose shortest text is not the nearest decimal of its length. */
static void writes_the_known_hard_floats(void **state)
{
    (void)state;
    static const struct {
        float value;
        const char *text;
    } rows[] = {
        {0x1p-96f, "1.2621775e-29"}, {0x1p87f, "1.5474251e+26"}, {0x1p90f, "1.2379401e+27"},
        {0x1p-149f, "1e-45"},        {FLT_MAX, "3.4028235e+38"}, {FLT_MIN, "1.1754944e-38"},
        {16777217.0f, "16777216"},   {0x1p25f, "33554432"},      {1.0f / 3.0f, "0.33333334"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TEXT_NUMBER_BYTES];
        text_from_f32(rows[i].value, text);
        assert_string_equal(text, rows[i].text);
    }
}

static size_t count_significant(const char *text)
{
    size_t n = 0, n_zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (n == 0 && *text == '0'))
            continue;
        n_zeros = *text == '0' ? n_zeros + 1 : 0;
        n++;
    }
    return n - n_zeros;
}

static void assert_f32_is_shortest(float value)
{
    char text[TEXT_NUMBER_BYTES], other[64];
    if (!isfinite(value) || value == 0.0f)
        return;
    size_t length = text_from_f32(value, text);
    assert_true(length < TEXT_NUMBER_BYTES && text[length] == '\0');
    if (strtof(text, NULL) != value)
        fail_test("%a is written as %s\n", (double)value, text);
    size_t n = count_significant(text);
    snprintf(other, sizeof other, "%.*e", n > 1 ? (int)n - 2 : 0, (double)value);
    if (n > 1 && strtof(other, NULL) == value)
        fail_test("%a is written as %s, but %s is shorter\n", (double)value, text, other);
    /* The nearest of the decimals with the fewest digits is written, except for powers of two,
     * where the nearest may not read back. */
    snprintf(other, sizeof other, "%.*e", (int)n - 1, (double)value);
    if (strtof(other, NULL) == value && strtod(other, NULL) != strtod(text, NULL))
        fail_test("%a is written as %s, but %s is nearer\n", (double)value, text, other);
}

static void assert_f64_is_shortest(double value)
{
    char text[TEXT_NUMBER_BYTES], other[64];
    if (!isfinite(value) || value == 0.0)
        return;
    size_t length = text_from_f64(value, text);
    assert_true(length < TEXT_NUMBER_BYTES && text[length] == '\0');
    if (strtod(text, NULL) != value)
        fail_test("%a is written as %s\n", value, text);
    size_t n = count_significant(text);
    snprintf(other, sizeof other, "%.*e", n > 1 ? (int)n - 2 : 0, value);
    if (n > 1 && strtod(other, NULL) == value)
        fail_test("%a is written as %s, but %s is shorter\n", value, text, other);
}

static void every_float_has_its_shortest_text(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        assert_f32_is_shortest(f32_of((uint32_t)random_bits()));
        assert_f32_is_shortest((float)((double)(random_bits() >> 11) * 0x1p-53));
    }
    for (uint32_t exponent = 0; exponent < 255; exponent++) {
        for (uint32_t offset = 0; offset < 3; offset++) {
            assert_f32_is_shortest(f32_of((exponent << 23) + offset));
            assert_f32_is_shortest(f32_of((exponent << 23) - offset));
        }
    }
    for (int digits = 1; digits < 1000; digits++)
        for (double scale = 1e-30; scale < 1e30; scale *= 10.0)
            assert_f32_is_shortest((float)(digits * scale));
}

static void every_double_has_its_shortest_text(void **state)
{
    (void)state;
    for (int i = 0; i < 30000; i++) {
        assert_f64_is_shortest(f64_of(random_bits()));
        assert_f64_is_shortest((double)(random_bits() >> 11) * 0x1p-53);
        assert_f64_is_shortest((double)(int64_t)random_bits() / 1000.0);
        assert_f64_is_shortest((double)(random_bits() >> 50) / 100.0);
    }
    for (uint64_t exponent = 0; exponent < 2047; exponent++) {
        for (uint64_t offset = 0; offset < 3; offset++) {
            assert_f64_is_shortest(f64_of((exponent << 52) + offset));
            assert_f64_is_shortest(f64_of((exponent << 52) - offset));
        }
    }
}

/* A decimal of at most 15 (6) digits is the only one of its length for its double (float). */
static void short_texts_come_back_as_they_were(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        char text[64], again[TEXT_NUMBER_BYTES];
        uint64_t digits = random_bits() % 1000000000000000 >> i % 50;
        int exponent = (int)(random_bits() % 80) - 50;
        snprintf(text, sizeof text, "%" PRIu64 "e%d", digits, exponent);
        text_from_f64(strtod(text, NULL), again);
        assert_true(count_significant(again) <= 15);
        assert_f64_is_shortest(strtod(text, NULL));

        snprintf(text, sizeof text, "%" PRIu64 "e%d", digits % 1000000, exponent % 30);
        text_from_f32(strtof(text, NULL), again);
        assert_true(count_significant(again) <= 6);
        assert_f32_is_shortest(strtof(text, NULL));
    }
}

/* At 2^-44 and some others, a text of 16 digits that is not the nearest one reads back. */
static void powers_of_two_have_no_shorter_text_on_either_side(void **state)
{
    (void)state;
    for (int exponent = -1022; exponent < 1024; exponent++) {
        double value = ldexp(1.0, exponent);
        char text[TEXT_NUMBER_BYTES], other[64];
        text_from_f64(value, text);
        int n = (int)count_significant(text);
        if (n < 17)
            continue;
        snprintf(other, sizeof other, "%.15e", value);
        for (char *last = other + 16; last < other + 18; last++)
            if (*last >= '0' && *last < '9')
                (*last)++;
        assert_true(strtod(other, NULL) != value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_numbers_as_people_do),
        cmocka_unit_test(writes_the_known_hard_doubles),
        cmocka_unit_test(writes_the_known_hard_floats),
        cmocka_unit_test(every_float_has_its_shortest_text),
        cmocka_unit_test(every_double_has_its_shortest_text),
        cmocka_unit_test(short_texts_come_back_as_they_were),
        cmocka_unit_test(powers_of_two_have_no_shorter_text_on_either_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
