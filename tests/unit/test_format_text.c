/* Writes text, csv and raw, and reads raw and s16.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format_files.h"

#include <math.h>

#include "base/text.h"
#include "formats/format_internal.h"

static const char *const names[] = {"y", "a\tb\n"};

static void writes_text_as_documented(void **state)
{
    (void)state;
    const float y[] = {0.1F, -1.0F, 1e-8F, NAN, INFINITY, -INFINITY};
    const int64_t z[] = {INT64_MIN};
    struct writer_options options = {.names = names, .n_outputs = 2, .layout = WRITER_STACK};
    struct writer *writer = open_writer(destination("text", "t"), &options);
    struct irrun_tensor a = tensor_of(IRRUN_F32, 2, (int64_t[]){2, 3}, y);
    struct irrun_tensor b = tensor_of(IRRUN_I64, 0, NULL, z);
    write_record(writer, 0, &a, "day1", 0);
    write_record(writer, 1, &b, "day1", 0);
    a.shape = shape_of(3, (int64_t[]){2, 1, 1});
    write_record(writer, 0, &a, "day 2", 3);
    assert_fine(writer_finish(writer, &err));
    assert_text_file(in_directory("t"), "# y f32 [2,3] seq=day1 rec=0\n"
                                        "0.1 -1 1e-08\n"
                                        "nan inf -inf\n"
                                        "# a?b? i64 [] seq=day1 rec=0\n"
                                        "-9223372036854775808\n"
                                        "# y f32 [2,1,1] seq=day 2 rec=3\n"
                                        "0.1\n"
                                        "-1\n");
}

static void writes_every_type(void **state)
{
    (void)state;
    static const struct {
        enum irrun_dtype dtype;
        unsigned char bytes[16];
        const char *want;
    } cases[] = {
        {IRRUN_BOOLEAN, {0, 7}, "0,1\n"},
        {IRRUN_U8, {0, 255}, "0,255\n"},
        {IRRUN_I8, {127, 128}, "127,-128\n"},
        {IRRUN_I4, {7, 0xf8}, "7,-8\n"},
        {IRRUN_U4, {0, 15}, "0,15\n"},
        {IRRUN_NF4, {0, 15}, "0,15\n"},
        {IRRUN_U64, {255, 255, 255, 255, 255, 255, 255, 255, 1}, "18446744073709551615,1\n"},
        {IRRUN_F16, {0, 0x3c, 0, 0xc0}, "1,-2\n"},
        {IRRUN_BF16, {0x80, 0x3f, 0x20, 0xc0}, "1,-2.5\n"},
        {IRRUN_F16, {0x66, 0x2e, 0x55, 0xb5}, "0.1,-0.3333\n"},
        {IRRUN_F16, {1, 0, 0xff, 0x7b}, "6e-08,65504\n"},
        {IRRUN_F16, {0, 0xfc, 0, 0x80}, "-inf,-0\n"},
        {IRRUN_BF16, {0xcd, 0x3d, 0x7f, 0x7f}, "0.1,3.39e+38\n"},
        {IRRUN_BF16, {0x01, 0x00, 0x80, 0x00}, "9e-41,1.18e-38\n"},
        {IRRUN_F64, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x80}, "1,-0\n"},
    };
    struct writer_options options = {.names = names, .n_outputs = 1};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writer *writer = open_writer(destination("csv", "t"), &options);
        struct irrun_tensor y = tensor_of(cases[i].dtype, 1, (int64_t[]){2}, cases[i].bytes);
        write_record(writer, 0, &y, "-", 0);
        assert_fine(writer_finish(writer, &err));
        assert_text_file(in_directory("t"), cases[i].want);
    }
}

/* All numbers of 16 bits are read back as they were written. */
static void narrow_numbers_read_back(void **state)
{
    (void)state;
    static const enum irrun_dtype dtypes[] = {IRRUN_F16, IRRUN_BF16};
    for (int k = 0; k < 2; k++) {
        for (uint32_t bits = 0; bits < 65536; bits++) {
            uint16_t element = (uint16_t)bits, back;
            char text[TEXT_NUMBER_BYTES];
            size_t length = format_element(dtypes[k], &element, 0, text);
            double value = element_as_f64(dtypes[k], &element, 0), read;
            assert_true(text_to_f64(text, length, &read));
            convert_elements(IRRUN_F64, &read, dtypes[k], &back, 1);
            if (isnan(value))
                assert_true(isnan(read));
            else
                assert_int_equal(back, element);
        }
    }
}

/* Omits the same elements as print(numpy.arange(2000).reshape(...)). */
static void summarises_for_a_terminal(void **state)
{
    (void)state;
    static int32_t data[2000];
    for (int32_t i = 0; i < 2000; i++)
        data[i] = i;
    struct writer_options options = {.names = names, .n_outputs = 1, .is_summarised = true};
    struct writer *writer = open_writer(destination("text", "t"), &options);
    struct irrun_tensor y = tensor_of(IRRUN_I32, 1, (int64_t[]){2000}, data);
    write_record(writer, 0, &y, "-", 0);
    y.shape = shape_of(3, (int64_t[]){8, 7, 20});
    write_record(writer, 0, &y, "-", 1);
    y.shape = shape_of(2, (int64_t[]){400, 2});
    write_record(writer, 0, &y, "-", 2);
    y.shape = shape_of(2, (int64_t[]){6, 200});
    write_record(writer, 0, &y, "-", 3);
    assert_fine(writer_finish(writer, &err));
    char *text = take_file(in_directory("t"), NULL);
    static const char beginning[] = "# y i32 [2000] seq=- rec=0\n"
                                    "0 1 2 ... 1997 1998 1999\n"
                                    "# y i32 [8,7,20] seq=- rec=1\n"
                                    "0 1 2 ... 17 18 19\n"
                                    "20 21 22 ... 37 38 39\n"
                                    "40 41 42 ... 57 58 59\n"
                                    "...\n"
                                    "80 81 82 ... 97 98 99\n"
                                    "100 101 102 ... 117 118 119\n"
                                    "120 121 122 ... 137 138 139\n"
                                    "140 141 142 ... 157 158 159\n";
    assert_memory_equal(text, beginning, sizeof beginning - 1);
    /* Blocks 3 and 4 of 8 are one gap. */
    assert_non_null(
        strstr(text, "400 401 402 ... 417 418 419\n...\n700 701 702 ... 717 718 719\n"));
    /* 800 elements are all printed. */
    assert_non_null(strstr(text, "\n6 7\n8 9\n"));
    assert_non_null(strstr(text, "rec=3\n0 1 2 ... 197 198 199\n200 "));
    assert_non_null(strstr(text, "\n1000 1001 1002 ... 1197 1198 1199\n"));
    free(text);
}

static void csv_takes_text_back(void **state)
{
    (void)state;
    float want[64];
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t bits = i * 0x3b9aca07U;
        memcpy(&want[i], &bits, sizeof bits);
        if (isnan(want[i]))
            want[i] = 0;
    }
    struct writer_options options = {.names = names, .n_outputs = 1, .layout = WRITER_STACK};
    struct writer *writer = open_writer(destination("text", "t"), &options);
    for (uint64_t i = 0; i < 8; i++) {
        struct irrun_tensor y = tensor_of(IRRUN_F32, 2, (int64_t[]){2, 4}, want + 8 * i);
        write_record(writer, 0, &y, "-", i);
    }
    assert_fine(writer_finish(writer, &err));
    struct reader *reader = open_file("csv", in_directory("t"));
    next_array(reader);
    for (int i = 0; i < 8; i++)
        assert_elements(reader, IRRUN_F32, want + 8 * i, 8);
    reader_close(reader);
    remove(in_directory("t"));
}

/* ---- raw ------------------------------------------------------------------------------------- */

static void raw_is_the_bytes(void **state)
{
    (void)state;
    const float y[] = {1.5F, -2.25F, 3.0F};
    struct writer_options options = {.names = names, .n_outputs = 1, .layout = WRITER_STACK};
    struct writer *writer = open_writer(destination("raw", "t"), &options);
    for (uint64_t i = 0; i < 2; i++) {
        struct irrun_tensor record = tensor_of(IRRUN_F32, 1, (int64_t[]){3}, y);
        write_record(writer, 0, &record, "-", i);
    }
    assert_fine(writer_finish(writer, &err));
    struct reader *reader = open_file("raw", in_directory("t"));
    struct array_header header = next_array(reader);
    assert_int_equal(header.dtype, IRRUN_DYNAMIC);
    assert_false(header.has_shape);
    size_t n_skipped;
    assert_elements(reader, IRRUN_F32, y, 3);
    assert_fine(reader_skip(reader, IRRUN_F32, 1, &n_skipped, &err));
    assert_elements(reader, IRRUN_F32, y + 1, 2);
    assert_at_end(reader);
    assert_fine(reader_rewind(reader, &err));
    next_array(reader);
    float data[8];
    size_t n_read;
    assert_fine(reader_read(reader, IRRUN_F32, data, 8, &n_read, &err));
    assert_int_equal(n_read, 6);
    assert_fine(reader_skip(reader, IRRUN_F32, 8, &n_skipped, &err));
    assert_int_equal(n_skipped, 0);
    reader_close(reader);
    remove(in_directory("t"));
}

static void raw_refuses_half_an_element(void **state)
{
    (void)state;
    for (int is_piped = 0; is_piped < 2; is_piped++) {
        struct reader *reader =
            is_piped ? open_piped("raw", "1234567", 7) : open_bytes("raw", "1234567", 7);
        float data[4];
        size_t n_read;
        next_array(reader);
        assert_elements(reader, IRRUN_F32, "1234", 1);
        bool is_read = reader_read(reader, IRRUN_F32, data, 4, &n_read, &err);
        assert_int_equal(err.offset, 7);
        assert_failed(is_read, IRRUN_DATA, "inside an element of type f32: 3 of its 4 bytes");
        reader_close(reader);
    }
}

static void raw_refuses_invalid_elements(void **state)
{
    (void)state;
    unsigned char data[4];
    size_t n_read;
    struct reader *reader = open_bytes("raw", "\0\1\2\377", 4);
    next_array(reader);
    assert_elements(reader, IRRUN_BOOLEAN, "\0\1\1\1", 4);
    reader_close(reader);
    reader = open_bytes("raw", "\0\17\20", 3);
    next_array(reader);
    bool is_read = reader_read(reader, IRRUN_U4, data, 3, &n_read, &err);
    assert_int_equal(err.offset, 2);
    assert_failed(is_read, IRRUN_DATA, "byte 16 is not a value of u4");
    reader_close(reader);
    reader = open_bytes("raw", "\7\370\10", 3);
    next_array(reader);
    assert_failed(reader_read(reader, IRRUN_I4, data, 3, &n_read, &err), IRRUN_DATA,
                  "byte 8 is not a value of i4");
    reader_close(reader);
}

/* ---- s16 ------------------------------------------------------------------------------------- */

static void s16_is_scaled(void **state)
{
    (void)state;
    const unsigned char bytes[] = {0, 0, 1, 0, 0xff, 0xff, 0, 0x80, 0xff, 0x7f, 0, 0x40, 0, 0xc0};
    const float want[] = {0, 1 / 32768.0F, -1 / 32768.0F, -1, 32767 / 32768.0F, 0.5F, -0.5F};
    for (int is_piped = 0; is_piped < 2; is_piped++) {
        struct reader *reader = is_piped ? open_piped("s16", bytes, sizeof bytes)
                                         : open_bytes("s16", bytes, sizeof bytes);
        struct array_header header = next_array(reader);
        size_t n_skipped, n_read;
        float data[8];
        assert_int_equal(header.dtype, IRRUN_F32);
        assert_false(header.has_shape);
        assert_elements(reader, IRRUN_F32, want, 3);
        assert_fine(reader_skip(reader, IRRUN_F32, 1, &n_skipped, &err));
        assert_int_equal(n_skipped, 1);
        assert_fine(reader_read(reader, IRRUN_F32, data, 8, &n_read, &err));
        assert_int_equal(n_read, 3);
        assert_memory_equal(data, want + 4, 3 * sizeof *want);
        assert_at_end(reader);
        reader_close(reader);
    }
}

/* More samples than the reader's buffer holds, with every value. */
static void s16_reads_every_sample(void **state)
{
    (void)state;
    const size_t n = 65536;
    unsigned char *bytes = malloc(2 * n);
    float *data = malloc(n * sizeof *data);
    assert_true(bytes && data);
    for (size_t i = 0; i < n; i++) {
        bytes[2 * i] = (unsigned char)i;
        bytes[2 * i + 1] = (unsigned char)(i >> 8);
    }
    struct reader *reader = open_bytes("s16", bytes, 2 * n);
    size_t n_read;
    next_array(reader);
    assert_fine(reader_read(reader, IRRUN_F32, data, n, &n_read, &err));
    assert_int_equal(n_read, n);
    for (size_t i = 0; i < n; i++)
        assert_true(data[i] == ldexpf((float)(int16_t)i, -15));
    reader_close(reader);
    free(bytes);
    free(data);
}

static void s16_refuses_incomplete_samples_and_other_files(void **state)
{
    (void)state;
    static const char wave[] = "RIFF....WAVEfmt ";
    for (int is_piped = 0; is_piped < 2; is_piped++) {
        float data[8];
        size_t n_read;
        struct reader *reader =
            is_piped ? open_piped("s16", "12345", 5) : open_bytes("s16", "12345", 5);
        next_array(reader);
        bool is_read = reader_read(reader, IRRUN_F32, data, 4, &n_read, &err);
        assert_int_equal(err.offset, 5);
        assert_failed(is_read, IRRUN_DATA, "ends inside a sample: its number of bytes is odd");
        reader_close(reader);
        reader = is_piped ? open_piped("s16", wave, 16) : open_bytes("s16", wave, 16);
        struct array_header header;
        bool is_end;
        is_read = reader_next(reader, &header, &is_end, &err) &&
                  reader_read(reader, IRRUN_F32, data, 4, &n_read, &err);
        assert_failed(is_read, IRRUN_DATA, "is a sound file with a header, not s16");
        reader_close(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(writes_text_as_documented, clear_error),
        cmocka_unit_test_setup(writes_every_type, clear_error),
        cmocka_unit_test(narrow_numbers_read_back),
        cmocka_unit_test_setup(summarises_for_a_terminal, clear_error),
        cmocka_unit_test_setup(csv_takes_text_back, clear_error),
        cmocka_unit_test_setup(raw_is_the_bytes, clear_error),
        cmocka_unit_test_setup(raw_refuses_half_an_element, clear_error),
        cmocka_unit_test_setup(raw_refuses_invalid_elements, clear_error),
        cmocka_unit_test_setup(s16_is_scaled, clear_error),
        cmocka_unit_test_setup(s16_reads_every_sample, clear_error),
        cmocka_unit_test_setup(s16_refuses_incomplete_samples_and_other_files, clear_error),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
