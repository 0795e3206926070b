/* csv: reads exact numbers and whole lines, and reports the position of other text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format_files.h"

#include <float.h>
#include <locale.h>
#include <math.h>

static struct reader *open_csv(const char *text)
{
    struct reader *reader = open_bytes("csv", text, strlen(text));
    struct array_header header = next_array(reader);
    assert_int_equal(header.dtype, IRRUN_DYNAMIC);
    assert_false(header.has_shape);
    return reader;
}

static void assert_reads(const char *text, enum irrun_dtype dtype, const void *want, size_t n)
{
    struct reader *reader = open_csv(text);
    unsigned char data[16];
    size_t n_read;
    assert_elements(reader, dtype, want, n);
    assert_fine(reader_read(reader, dtype, data, 1, &n_read, &err));
    assert_int_equal(n_read, 0);
    assert_at_end(reader);
    reader_close(reader);
}

static void separates_by_commas_blanks_and_tabs(void **state)
{
    (void)state;
    const float want[] = {1, 2, 3, 4, 5, 6};
    assert_reads("1,2,3,4,5,6\n", IRRUN_F32, want, 6);
    assert_reads("1 2  3\t4\t 5 6", IRRUN_F32, want, 6);
    assert_reads(" 1 , 2,\t3 ,4\n5,6\n", IRRUN_F32, want, 6);
    assert_reads("1,2,3\r\n4,5,6\r\n", IRRUN_F32, want, 6);
    assert_reads("\xef\xbb\xbf"
                 "1,2,3,4,5,6",
                 IRRUN_F32, want, 6);
}

static void skips_comments_and_empty_lines(void **state)
{
    (void)state;
    const float want[] = {1, 2, 3};
    assert_reads("# y f32 [1,3] seq=- rec=0\n1 2\n\n  # and so on\n#\n3\n# the end", IRRUN_F32,
                 want, 3);
    assert_reads("# nothing at all\n\n", IRRUN_F32, want, 0);
    assert_reads("", IRRUN_F32, want, 0);
}

static void a_record_takes_whole_lines(void **state)
{
    (void)state;
    struct reader *reader = open_csv("1,2\n3,4\n5,6\n7,8\n");
    const double want[] = {1, 2, 3, 4, 5, 6, 7, 8};
    assert_elements(reader, IRRUN_F64, want, 4);
    assert_int_equal(reader_line(reader), 3);
    assert_elements(reader, IRRUN_F64, want + 4, 2);
    double data[8];
    size_t n_read;
    assert_failed(reader_read(reader, IRRUN_F64, data, 1, &n_read, &err), IRRUN_DATA,
                  "2 numbers in this line, but the record takes 1");
    reader_close(reader);

    reader = open_csv("1,2\n3,4\n5,6\n");
    assert_fine(reader_skip(reader, IRRUN_F64, 4, &n_read, &err));
    assert_int_equal(n_read, 4);
    assert_fine(reader_read(reader, IRRUN_F64, data, 4, &n_read, &err));
    assert_int_equal(n_read, 2); /* the caller reads the rest */
    assert_fine(reader_rewind(reader, &err));
    next_array(reader);
    assert_elements(reader, IRRUN_F64, want, 2);
    reader_close(reader);
}

static void reads_integers_exactly(void **state)
{
    (void)state;
    const int64_t i64[] = {INT64_MAX, INT64_MIN, 7, 3, 1000, 0, 15};
    assert_reads("9223372036854775807\n-9223372036854775808\n+7\n3.0\n1e3\n-0\n1.50e1\n", IRRUN_I64,
                 i64, 7);
    const uint64_t u64[] = {UINT64_MAX, 0, 10000000000000000000U};
    assert_reads("18446744073709551615\n0\n10000000000000000000\n", IRRUN_U64, u64, 3);
    assert_reads("-128,127", IRRUN_I8, "\x80\x7f", 2);
    assert_reads("0 1 1.0 0e9", IRRUN_BOOLEAN, "\0\1\1\0", 4);
    assert_reads("-8 7", IRRUN_I4, "\xf8\7", 2);
    const uint16_t u16[] = {65535};
    assert_reads("65535", IRRUN_U16, u16, 1);
}

static void reads_floats_to_the_nearest(void **state)
{
    (void)state;
    const double f64[] = {0.1,   -1.5e300, 4.9e-324, INFINITY,        -INFINITY,
                          0.125, 5,        0.5,      9007199254740992};
    assert_reads("0.1\n-1.5E300\n4.9e-324\ninf\n-Infinity\n0x1p-3\n5.\n.5\n9007199254740993\n",
                 IRRUN_F64, f64, 9);
    /* 1 + 2^-24 is the midpoint of two floats. A double rounds numbers just above it to it. */
    const float f32[] = {1.0F, 1.0F + FLT_EPSILON, 16777216.0F, 0.1F, FLT_TRUE_MIN};
    assert_reads(
        "1.000000059604644775390625\n1.00000005960464477539062500001\n16777217\n0.1\n1e-45\n",
        IRRUN_F32, f32, 5);
    const uint16_t f16[] = {0x3c00, 0x7bff, 0x7c00, 0x0001};
    assert_reads("1 65504 inf 6e-8", IRRUN_F16, f16, 4);
    float data;
    size_t n_read;
    struct reader *reader = open_csv("NaN");
    assert_fine(reader_read(reader, IRRUN_F32, &data, 1, &n_read, &err));
    assert_true(isnan(data));
    reader_close(reader);
}

static void the_locale_changes_nothing(void **state)
{
    (void)state;
    const double want[] = {0.1, 1.00000005960464477539062500001, 123456789012345678901234567890.5};
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        (void)setlocale(LC_ALL, "fr_FR.UTF-8"); /* the test proves little if both are missing */
    assert_reads("0.1,1.00000005960464477539062500001,123456789012345678901234567890.5", IRRUN_F64,
                 want, 3);
    setlocale(LC_ALL, "C");
}

static void assert_refused(const char *text, enum irrun_dtype dtype, const char *part,
                           uint32_t line, uint32_t column)
{
    struct reader *reader = open_csv(text);
    unsigned char data[8];
    size_t n_read = 1;
    bool is_fine = true;
    while (is_fine && n_read != 0)
        is_fine = reader_read(reader, dtype, data, 1, &n_read, &err);
    assert_int_equal(err.line, line);
    assert_int_equal(err.column, column);
    assert_failed(is_fine, IRRUN_DATA, part);
    reader_close(reader);
}

static void says_where_there_is_no_number(void **state)
{
    (void)state;
    assert_refused("1\n2\n  x\n", IRRUN_F32, "\"x\" is not a number", 3, 3);
    assert_refused("# c\r\n\r\n1\r\nnine\r\n", IRRUN_F32, "\"nine\" is not a number", 4, 1);
    assert_refused("1.5.2", IRRUN_F32, "not a number", 1, 1);
    assert_refused("1e", IRRUN_F64, "not a number", 1, 1);
    assert_refused("--1", IRRUN_I32, "not a number", 1, 1);
    assert_refused("1\n\"2", IRRUN_F32, "not a number", 2, 1);
    assert_refused("\"\"", IRRUN_F32, "not a number", 1, 1);
    assert_refused("\"", IRRUN_F32, "not a number", 1, 1);
    assert_refused("\"\"1\"\"", IRRUN_F32, "not a number", 1, 1);
    assert_refused("1\n,2", IRRUN_F32, "a number is missing in column 0, counted from 0", 2, 1);
    assert_refused("1\n2 # no comment here", IRRUN_F32, "the line continues", 2, 3);
}

static void hints_at_headings_and_semicolons(void **state)
{
    (void)state;
    static const char *const texts[] = {"time,value\n1,2\n", "time value\n1 2\n", "1;2\n",
                                        "1.2.3\n"};
    static const char *const hints[] = {"--columns=time[,NAME]", "tail -n +2",
                                        "separated by commas", "sed 1d FILE"};
    for (size_t i = 0; i < 4; i++) {
        float data;
        size_t n_read;
        struct reader *reader = open_csv(texts[i]);
        assert_false(reader_read(reader, IRRUN_F32, &data, 1, &n_read, &err));
        assert_non_null(strstr(err.hint, hints[i]));
        error_clear(&err);
        reader_close(reader);
    }
}

static void refuses_what_the_type_cannot_hold(void **state)
{
    (void)state;
    assert_refused("1.5", IRRUN_I32, "\"1.5\" is not a whole number: i32", 1, 1);
    assert_refused("1e-1", IRRUN_I32, "is not a whole number", 1, 1);
    assert_refused("nan", IRRUN_I64, "is not a whole number", 1, 1);
    assert_refused("256", IRRUN_U8, "does not fit: u8", 1, 1);
    assert_refused("-1", IRRUN_U64, "does not fit", 1, 1);
    assert_refused("9223372036854775808", IRRUN_I64, "does not fit", 1, 1);
    assert_refused("18446744073709551616", IRRUN_U64, "does not fit", 1, 1);
    assert_refused("1e99999999999", IRRUN_I64, "does not fit", 1, 1);
    assert_refused("2", IRRUN_BOOLEAN, "neither 0 nor 1", 1, 1);
    assert_refused("1e39", IRRUN_F32, "does not fit", 1, 1);
    assert_refused("-1e309", IRRUN_F64, "does not fit", 1, 1);
    assert_refused("65520", IRRUN_F16, "does not fit", 1, 1);
}

/* Lines across the ends of the reader's buffer, and words that are much too long. */
static void reads_long_files(void **state)
{
    (void)state;
    enum { N = 60000 };
    char *text = malloc(N * 12);
    assert_non_null(text);
    size_t length = 0;
    for (int i = 0; i < N; i++)
        length += (size_t)snprintf(text + length, 12, "%d%s", i, i % 7 == 6 ? "\n" : ", ");
    struct reader *reader = open_bytes("csv", text, length);
    next_array(reader);
    for (int32_t i = 0; i + 7 <= N; i += 7) {
        int32_t want[7] = {i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6};
        assert_elements(reader, IRRUN_I32, want, 7);
    }
    reader_close(reader);
    memset(text, '1', (size_t)N * 12);
    reader = open_bytes("csv", text, (size_t)N * 12);
    next_array(reader);
    float data;
    size_t n_read;
    assert_failed(reader_read(reader, IRRUN_F32, &data, 1, &n_read, &err), IRRUN_DATA,
                  &"... is not a number"[3]);
    reader_close(reader);
    free(text);
}

static void gives_a_line_as_soon_as_it_is_there(void **state)
{
    (void)state;
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct reader *reader = open_file("csv", path);
    for (int i = 0; i < 3; i++) {
        const float want[] = {1, 2};
        assert_int_equal(write(ends[1], "1,2\n", 4), 4);
        if (i == 0)
            next_array(reader);
        assert_elements(reader, IRRUN_F32, want, 2);
    }
    reader_close(reader);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(separates_by_commas_blanks_and_tabs, clear_error),
        cmocka_unit_test_setup(skips_comments_and_empty_lines, clear_error),
        cmocka_unit_test_setup(a_record_takes_whole_lines, clear_error),
        cmocka_unit_test_setup(reads_integers_exactly, clear_error),
        cmocka_unit_test_setup(reads_floats_to_the_nearest, clear_error),
        cmocka_unit_test_setup(the_locale_changes_nothing, clear_error),
        cmocka_unit_test_setup(says_where_there_is_no_number, clear_error),
        cmocka_unit_test_setup(hints_at_headings_and_semicolons, clear_error),
        cmocka_unit_test_setup(refuses_what_the_type_cannot_hold, clear_error),
        cmocka_unit_test_setup(reads_long_files, clear_error),
        cmocka_unit_test_setup(gives_a_line_as_soon_as_it_is_there, clear_error),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
