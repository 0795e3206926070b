/* base/text: reads numbers like the C library, also in a locale with a decimal comma.
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

static void refuses_what_is_not_a_whole_number(void **state)
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

static void refuses_what_is_not_a_number(void **state)
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

/* Thousands of digits, the last of which may decide the rounding, and large exponents. */
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

    /* 1 + 2^-53 is a midpoint; a digit far behind it decides the rounding. */
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

/* Decimals at the midpoint of two floats and next to it, where rounding twice would be wrong. */
static void rounds_floats_once(void **state)
{
    (void)state;
    char text[80];
    for (int i = 0; i < 200000; i++) {
        float below;
        uint32_t bits = (uint32_t)random_bits() & 0x7fffffff;
        memcpy(&below, &bits, sizeof below);
        double middle = ((double)below + (double)nextafterf(below, INFINITY)) / 2;
        if (!isfinite(middle))
            continue;
        snprintf(text, sizeof text, "%.*e", i % 24 + 6, middle * (i % 3 ? 1 : 1 + DBL_EPSILON));
        float value = -99.0F;
        if (!text_to_f32(text, strlen(text), &value) || value != strtof(text, NULL))
            fail_test("\"%s\" is read as %a, expected %a\n", text, (double)value,
                      (double)strtof(text, NULL));
    }
}

/* Makes a locale for this test, since few machines have one with a decimal comma. */
static int use_comma_locale(void **state)
{
    static char directory[] = "/tmp/irrun-test-locale-XXXXXX";
    char command[200];
    if (!mkdtemp(directory))
        return -1;
    *state = directory;
    setenv("LOCPATH", directory, 1);
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
             directory, directory);
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

    reads_numbers_as_c_and_json_write_them(state);
    refuses_what_is_not_a_number(state);
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
        cmocka_unit_test(refuses_what_is_not_a_whole_number),
        cmocka_unit_test(reads_numbers_as_c_and_json_write_them),
        cmocka_unit_test(refuses_what_is_not_a_number),
        cmocka_unit_test(reads_numbers_beyond_the_range_of_double),
        cmocka_unit_test(reads_numbers_of_any_length),
        cmocka_unit_test(reads_like_the_c_library),
        cmocka_unit_test(rounds_floats_once),
        cmocka_unit_test_setup_teardown(numbers_are_the_same_in_a_locale_with_a_decimal_comma,
                                        use_comma_locale, use_plain_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
