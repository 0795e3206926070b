/* Kaldi archives: reads and writes binary and text, and rejects malformed archives.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format_files.h"

static const float matrix[] = {1, -2, 0.5F, 3, 4, 1e-8F};
static const double vector[] = {0.1, -7};

/* Makes an archive: "u1" is a float matrix [2,3], "u2" a double vector [2], little-endian. */
static size_t make_archive(unsigned char *bytes)
{
    size_t n = 0;
    memcpy(bytes, "u1 \0BFM \4\2\0\0\0\4\3\0\0\0", 18);
    n += 18;
    memcpy(bytes + n, matrix, sizeof matrix);
    n += sizeof matrix;
    memcpy(bytes + n, "u2 \0BDV \4\2\0\0\0", 13);
    n += 13;
    memcpy(bytes + n, vector, sizeof vector);
    return n + sizeof vector;
}

static void assert_array(struct reader *reader, const char *key, enum irrun_dtype dtype,
                         const char *shape, const void *want, size_t n)
{
    struct array_header header = next_array(reader);
    assert_string_equal(header.key, key);
    assert_header(&header, dtype, shape);
    assert_elements(reader, dtype, want, n);
}

static void reads_binary(void **state)
{
    (void)state;
    unsigned char bytes[256];
    size_t n = make_archive(bytes);
    for (int is_piped = 0; is_piped < 2; is_piped++) {
        struct reader *reader =
            is_piped ? open_piped("ark", bytes, n) : open_bytes("ark", bytes, n);
        assert_array(reader, "u1", IRRUN_F32, "[2,3]", matrix, 4); /* the rest is skipped */
        assert_array(reader, "u2", IRRUN_F64, "[2]", vector, 2);
        assert_at_end(reader);
        reader_close(reader);
    }
}

static void reads_text(void **state)
{
    (void)state;
    static const char text[] = "u1  [\n  1 -2 0.5 \n  3 4 1e-08 ]\n"
                               "one-row  [\n  1 -2 0.5 ]\n"
                               "v  [ 1 -2 0.5 ]\n"
                               "empty  [ ]\n";
    struct reader *reader = open_bytes("ark", text, sizeof text - 1);
    size_t n_skipped;
    assert_array(reader, "u1", IRRUN_F32, "[2,3]", matrix, 6);
    assert_array(reader, "one-row", IRRUN_F32, "[1,3]", matrix, 3);
    assert_array(reader, "v", IRRUN_F32, "[3]", matrix, 1);
    assert_fine(reader_skip(reader, IRRUN_F32, 1, &n_skipped, &err));
    assert_elements(reader, IRRUN_F32, matrix + 2, 1);
    assert_array(reader, "empty", IRRUN_F32, "[0]", matrix, 0);
    assert_at_end(reader);
    assert_fine(reader_rewind(reader, &err));
    assert_array(reader, "u1", IRRUN_F32, "[2,3]", matrix, 6);
    reader_close(reader);
}

static void an_empty_archive_has_no_keys(void **state)
{
    (void)state;
    struct reader *reader = open_bytes("ark", "", 0);
    assert_at_end(reader);
    reader_close(reader);
}

static void assert_refused(const void *bytes, size_t n, const char *part)
{
    for (int is_piped = 0; is_piped < 2; is_piped++) {
        struct reader *reader =
            is_piped ? open_piped("ark", bytes, n) : open_bytes("ark", bytes, n);
        struct array_header header;
        struct irrun_tensor tensor;
        bool is_end = false, is_fine = true;
        while (is_fine && !is_end) {
            tensor.data = NULL;
            is_fine = reader_next(reader, &header, &is_end, &err) &&
                      (is_end || reader_read_tensor(reader, &header, &tensor, &err));
            free(tensor.data);
        }
        assert_failed(is_fine, IRRUN_DATA, part);
        reader_close(reader);
    }
}

#define ASSERT_REFUSED(bytes, part) assert_refused(bytes, sizeof(bytes) - 1, part)

static void refuses_what_it_does_not_know(void **state)
{
    (void)state;
    ASSERT_REFUSED("u1 \0BCM2 ...............", "key u1: is a compressed matrix");
    ASSERT_REFUSED("u1 \0B\4\2\0\0\0\4\1\0\0\0", "neither a matrix nor a vector");
    ASSERT_REFUSED("u1 \0BSM \4\2\0\0\0", "neither a matrix nor a vector");
    ASSERT_REFUSED("u1 3 4 5\n", "neither Kaldi's binary mark nor \"[\"");
    ASSERT_REFUSED("u1 feats.ark:12\n", "neither Kaldi's binary mark nor \"[\"");
    ASSERT_REFUSED("u1\n", "a key is malformed");
    ASSERT_REFUSED("\0\1\2\3", "a key is malformed");
}

static void refuses_malformed_text(void **state)
{
    (void)state;
    ASSERT_REFUSED("u1  [\n 1 2\n 3 ]\n", "the rows of the matrix differ");
    ASSERT_REFUSED("u1  [ 1 x ]\n", "not a number");
    ASSERT_REFUSED("u1  [ 1 2\n", "\"]\" is missing");
    ASSERT_REFUSED("u1  [ 1111111111111111111111111111111111111111111111111111111111111111111 ]\n",
                   "a value is too long for a number");
    ASSERT_REFUSED(
        "u1  [ 0.1111111111111111111111111111111111111111111111111111111111111111111 ]\n",
        "a value is too long for a number");
    ASSERT_REFUSED("u1  [ 1e60 ]\n", "a value does not fit");
    struct reader *reader = open_bytes("ark", "a [ 1 ]\nb [ 2\n2x ]\n", 19);
    struct array_header header;
    bool is_end;
    next_array(reader);
    assert_false(reader_next(reader, &header, &is_end, &err));
    assert_int_equal(err.line, 3);
    assert_string_equal(err.message, "key b: a value is not a number");
    reader_close(reader);
}

static void refuses_sizes_beyond_the_file(void **state)
{
    (void)state;
    ASSERT_REFUSED("u1 \0BFM \4\377\377\377\177\4\377\377\377\177", "too large");
    ASSERT_REFUSED("u1 \0BFM \4\377\377\377\177\4\0\1\0\0", "truncated");
    ASSERT_REFUSED("u1 \0BFV \4\377\377\377\377", "a dimension is malformed");
    ASSERT_REFUSED("u1 \0BFV \3\1\0\0\0....", "a dimension is malformed");
    unsigned char bytes[256];
    size_t n = make_archive(bytes);
    assert_refused(bytes, n - 1, "key u2: the file is truncated");
    assert_refused(bytes, 30, "key u1: the file is truncated");
    assert_refused(bytes, 12, "key u1: the file is truncated");
}

/* ---- Writing --------------------------------------------------------------------------------- */

static const char *const names[] = {"y", "a b"};

static void writes_what_it_reads(void **state)
{
    (void)state;
    unsigned char want[256];
    size_t n = make_archive(want);
    struct writer_options options = {.names = names, .n_outputs = 1};
    struct writer *writer = open_writer(destination("ark", "t"), &options);
    struct irrun_tensor a = tensor_of(IRRUN_F32, 2, (int64_t[]){2, 3}, matrix);
    struct irrun_tensor b = tensor_of(IRRUN_F64, 1, (int64_t[]){2}, vector);
    write_record(writer, 0, &a, "u1", 0);
    write_record(writer, 0, &b, "u2", 0);
    assert_fine(writer_finish(writer, &err));
    assert_file(in_directory("t"), want, n);
}

static void writes_text(void **state)
{
    (void)state;
    struct writer_options options = {.names = names, .n_outputs = 2};
    struct writer *writer = open_writer(destination("ark,t", "t"), &options);
    struct irrun_tensor a = tensor_of(IRRUN_F32, 2, (int64_t[]){2, 3}, matrix);
    struct irrun_tensor b = tensor_of(IRRUN_F64, 1, (int64_t[]){2}, vector);
    write_record(writer, 0, &a, "u1", 0);
    write_record(writer, 1, &b, "u1", 0);
    b.shape = shape_of(1, (int64_t[]){0});
    write_record(writer, 1, &b, "u2", 0);
    assert_fine(writer_finish(writer, &err));
    assert_text_file(in_directory("t"), "u1.y  [\n  1 -2 0.5\n  3 4 1e-08 ]\n"
                                        "u1.a_b  [ 0.1 -7 ]\n"
                                        "u2.a_b  [ ]\n");
}

static void a_sequence_is_one_matrix(void **state)
{
    (void)state;
    struct writer_options options = {.names = names, .n_outputs = 1, .layout = WRITER_STACK};
    struct writer *writer = open_writer(destination("ark,t", "t"), &options);
    for (uint64_t i = 0; i < 5; i++) {
        struct irrun_tensor a = tensor_of(IRRUN_F32, 1, (int64_t[]){2}, matrix + i);
        write_record(writer, 0, &a, i < 2 ? "u1" : "u2", i);
    }
    assert_fine(writer_finish(writer, &err));
    assert_text_file(in_directory("t"), "u1  [\n  1 -2\n  -2 0.5 ]\n"
                                        "u2  [\n  0.5 3\n  3 4\n  4 1e-08 ]\n");
    options.layout = WRITER_CONCAT;
    writer = open_writer(destination("ark,t", "t"), &options);
    for (uint64_t i = 0; i < 3; i++) {
        struct irrun_tensor a = tensor_of(IRRUN_F32, 1, (int64_t[]){1 + (int64_t)i}, matrix);
        write_record(writer, 0, &a, "u1", i);
    }
    assert_fine(writer_end_sequence(writer, &err));
    assert_fine(writer_finish(writer, &err));
    assert_text_file(in_directory("t"), "u1  [ 1 1 -2 1 -2 0.5 ]\n");
}

static void refuses_what_ark_cannot_hold(void **state)
{
    (void)state;
    struct writer_options options = {.names = names, .n_outputs = 1, .layout = WRITER_STACK};
    struct record_label label = {"u1", 0};
    struct writer *writer = open_writer(destination("ark", "t"), &options);
    struct irrun_tensor a = tensor_of(IRRUN_F32, 2, (int64_t[]){2, 3}, matrix);
    bool is_written = writer_write(writer, 0, &a, &label, &err);
    assert_non_null(strstr(err.hint, "--concat"));
    assert_failed(is_written, IRRUN_USAGE, "arrays of 1 to 2 dimensions");
    writer_abort(writer);

    options.layout = WRITER_ONE;
    const int64_t integers[] = {1};
    a = tensor_of(IRRUN_I64, 1, (int64_t[]){1}, integers);
    writer = open_writer(destination("ark", "t"), &options);
    assert_failed(writer_write(writer, 0, &a, &label, &err), IRRUN_USAGE, "floats and doubles");
    a = tensor_of(IRRUN_F32, 1, (int64_t[]){1}, matrix);
    label.sequence = "two words";
    assert_failed(writer_write(writer, 0, &a, &label, &err), IRRUN_DATA, "cannot be a key");
    writer_abort(writer);
    assert_int_equal(count_files(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(reads_binary, clear_error),
        cmocka_unit_test_setup(reads_text, clear_error),
        cmocka_unit_test_setup(an_empty_archive_has_no_keys, clear_error),
        cmocka_unit_test_setup(refuses_what_it_does_not_know, clear_error),
        cmocka_unit_test_setup(refuses_malformed_text, clear_error),
        cmocka_unit_test_setup(refuses_sizes_beyond_the_file, clear_error),
        cmocka_unit_test_setup(writes_what_it_reads, clear_error),
        cmocka_unit_test_setup(writes_text, clear_error),
        cmocka_unit_test_setup(a_sequence_is_one_matrix, clear_error),
        cmocka_unit_test_setup(refuses_what_ark_cannot_hold, clear_error),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
