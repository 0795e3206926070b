/* base/text: numbers to text and back, against the C library and in a locale with a decimal comma.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static uint64_t random_bits(void)
{
    static uint64_t x = 0x9E3779B97F4A7C15;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
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

static void reads_whole_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {" 42\t\n", 42},
        {"007", 7},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"-9223372036854775807", -INT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t value = -99;
        assert_true(text_to_i64(rows[i].text, strlen(rows[i].text), &value));
        assert_true(value == rows[i].value);
    }
}

static void refuses_what_is_no_whole_number(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",     " ",    "-",   "+",   "--1", "+-1",
        "1.0",  "1e3",  "0x1", "1 2", "a",   "9223372036854775808",
        "1_0",  "- 1",  "1,",  "?",   "1a",  "-9223372036854775809",
        "\xC2", "1\v1", "۱",   "nan", ".",   "99999999999999999999999999",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t value = -99;
        assert_false(text_to_i64(rows[i], strlen(rows[i]), &value));
        assert_true(value == -99);
    }
    int64_t value;
    assert_false(text_to_i64("1\0", 2, &value));
    assert_true(text_to_i64("12", 1, &value) && value == 1);
}

static void assert_reads(const char *text, double expected)
{
    double value = -99.0;
    if (!text_to_f64(text, strlen(text), &value) || bits_of(value) != bits_of(expected))
        fail_test("\"%s\" is read as %a, expected %a\n", text, value, expected);
}

static void reads_numbers_as_c_and_json_write_them(void **state)
{
    (void)state;
    assert_reads("0", 0.0);
    assert_reads("-0", -0.0);
    assert_reads("-0.000e5", -0.0);
    assert_reads(" 1.5 ", 1.5);
    assert_reads("+1.5", 1.5);
    assert_reads(".5", 0.5);
    assert_reads("5.", 5.0);
    assert_reads("1e3", 1000.0);
    assert_reads("1E+3", 1000.0);
    assert_reads("-12.5e-1", -1.25);
    assert_reads("00012", 12.0);
    assert_reads("0x10", 16.0);
    assert_reads("-0X1.8p1", -3.0);
    assert_reads("0x.8", 0.5);
    assert_reads("0xAbCp-4", 171.75);
    assert_reads("inf", (double)INFINITY);
    assert_reads("-Infinity", -(double)INFINITY);
    assert_reads("+INF", (double)INFINITY);
    double nan = 0.0;
    assert_true(text_to_f64("NaN", 3, &nan) && isnan(nan));
    assert_true(text_to_f64("-nan", 4, &nan) && isnan(nan));
}

static void refuses_what_is_no_number(void **state)
{
    (void)state;
    static const char *const rows[] = {"",      " ",      ".",       "-",    "e5",  "1e",   "1e+",
                                       "1.2.3", "1,5",    "0x",      "0x.",  "0xg", "1 2",  "na",
                                       "nan(",  "nan(1)", "infinit", "info", "1f",  "--1",  "+-1",
                                       "1e5.0", "0x1p",   "0x1e+",   "1p3",  "- 1", "1e 5", "\x0E"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = -99.0;
        if (text_to_f64(rows[i], strlen(rows[i]), &value) || value != -99.0)
            fail_test("\"%s\" is read as %g\n", rows[i], value);
    }
    double value;
    assert_false(text_to_f64("1\0", 2, &value));
    assert_true(text_to_f64("1.75", 3, &value) && value == 1.7);
}

static void reads_numbers_beyond_the_range_of_double(void **state)
{
    (void)state;
    assert_reads("1e309", (double)INFINITY);
    assert_reads("-1e99999999999999999999", -(double)INFINITY);
    assert_reads("1e-400", 0.0);
    assert_reads("-1e-99999999999999999999", -0.0);
    assert_reads("0e99999999999999999999", 0.0);
    assert_reads("1.7976931348623158e308", DBL_MAX);
    assert_reads("1.7976931348623159e308", (double)INFINITY);
    assert_reads("4.9e-324", 0x1p-1074);
    assert_reads("2.4703282292062327e-324", 0.0);
    assert_reads("2.4703282292062328e-324", 0x1p-1074);
}

/* Thousands of digits, of which the last one may decide, and exponents that cancel them. */
static void reads_numbers_of_any_length(void **state)
{
    (void)state;
    char text[6000];
    memset(text, '0', sizeof text);
    memcpy(text, "1.", 2);
    memcpy(text + 5000, "e5", 3);
    assert_reads(text, 1e5);

    memset(text, '0', 5000);
    text[0] = '1';
    memcpy(text + 5000, "e-4999", 7);
    assert_reads(text, 1.0);

    memset(text, '0', 5000);
    text[1] = '.';
    memcpy(text + 4999, "1e4998", 7);
    assert_reads(text, 1.0);

    /* 1 + 2^-53 is half way; a digit far behind it decides. */
    static const char half_way[] = "1.00000000000000011102230246251565404236316680908203125";
    assert_reads(half_way, 1.0);
    memset(text, '0', 5000);
    memcpy(text, half_way, sizeof half_way - 1);
    text[5000] = '\0';
    assert_reads(text, 1.0);
    text[4999] = '1';
    assert_reads(text, 1.0 + DBL_EPSILON);

    memset(text, '0', 5000);
    memcpy(text, "0x1.00000000000008", 18);
    assert_reads(text, 1.0);
    text[4999] = '1';
    assert_reads(text, 1.0 + DBL_EPSILON);
}

static void reads_like_the_c_library(void **state)
{
    (void)state;
    char text[80];
    for (int i = 0; i < 200000; i++) {
        double value = f64_of(random_bits());
        switch (i % 5) {
        case 0:
            snprintf(text, sizeof text, "%.*e", i % 25, value);
            break;
        case 1:
            snprintf(text, sizeof text, "%a", value);
            break;
        case 2:
            snprintf(text, sizeof text, "%" PRIu64 "e%d", random_bits() >> (i % 64),
                     (int)(random_bits() % 60) - 30);
            break;
        case 3:
            snprintf(text, sizeof text, "%" PRIu64 ".%" PRIu64, random_bits() >> (i % 64),
                     random_bits() >> (i / 64 % 64));
            break;
        default:
            snprintf(text, sizeof text, "0.0000%" PRIu64 "E-%d", random_bits() >> (i % 64),
                     i % 330);
        }
        if (!isnan(value) || i % 5 > 1)
            assert_reads(text, strtod(text, NULL));
    }
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
    /* Of several as short, the nearest; but for powers of two, where it need not read back. */
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
    for (int i = 0; i < 300000; i++) {
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

/* At 2^-44 and some others a text of 16 digits reads back that is not the nearest one. */
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

/* A locale made for this test, for few machines have one. */
static int use_comma_locale(void **state)
{
    static char folder[] = "/tmp/irrun-test-locale-XXXXXX";
    char command[200];
    if (!mkdtemp(folder))
        return -1;
    *state = folder;
    setenv("LOCPATH", folder, 1);
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
             folder, folder);
    return system(command) == -1 ? -1 : 0;
}

static int use_plain_locale(void **state)
{
    char command[200];
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r %s", (const char *)*state);
    return system(command) == 0 ? 0 : -1;
}

static void numbers_are_the_same_in_a_locale_with_a_decimal_comma(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        skip_because("localedef cannot make a locale with a decimal comma");
    char text[TEXT_NUMBER_BYTES];
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");

    writes_numbers_as_people_do(state);
    writes_the_known_hard_doubles(state);
    reads_numbers_as_c_and_json_write_them(state);
    refuses_what_is_no_number(state);
    reads_numbers_beyond_the_range_of_double(state);
    reads_numbers_of_any_length(state);
    for (int i = 0; i < 20000; i++) {
        double value = f64_of(random_bits()), back = 0.0;
        if (isnan(value))
            continue;
        size_t length = text_from_f64(value, text);
        assert_true(text_to_f64(text, length, &back));
        assert_true(bits_of(back) == bits_of(value));
        assert_null(strchr(text, ','));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_whole_numbers),
        cmocka_unit_test(refuses_what_is_no_whole_number),
        cmocka_unit_test(reads_numbers_as_c_and_json_write_them),
        cmocka_unit_test(refuses_what_is_no_number),
        cmocka_unit_test(reads_numbers_beyond_the_range_of_double),
        cmocka_unit_test(reads_numbers_of_any_length),
        cmocka_unit_test(reads_like_the_c_library),
        cmocka_unit_test(writes_numbers_as_people_do),
        cmocka_unit_test(writes_the_known_hard_doubles),
        cmocka_unit_test(every_float_has_its_shortest_text),
        cmocka_unit_test(every_double_has_its_shortest_text),
        cmocka_unit_test(powers_of_two_have_no_shorter_text_on_either_side),
        cmocka_unit_test_setup_teardown(numbers_are_the_same_in_a_locale_with_a_decimal_comma,
                                        use_comma_locale, use_plain_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
