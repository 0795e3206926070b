/* Writes npy, joins records, and checks that outputs appear complete or not at all, and the table
 * of formats.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format_files.h"

#include <fcntl.h>

static const char *const names[] = {"y"};
static const float data[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

static void assert_npy(const char *path, enum irrun_dtype dtype, const char *shape,
                       const void *want, size_t n)
{
    struct reader *reader = open_file("npy", path);
    struct array_header header = next_array(reader);
    assert_header(&header, dtype, shape);
    assert_elements(reader, dtype, want, n);
    assert_at_end(reader);
    reader_close(reader);
    remove(path);
}

/* ---- npy ------------------------------------------------------------------------------------- */

static void writes_the_header_that_numpy_writes(void **state)
{
    (void)state;
    struct writer_options options = {.names = names, .n_outputs = 1};
    struct writer *writer = open_writer(destination("npy", "y"), &options);
    struct irrun_tensor y = tensor_of(IRRUN_U8, 1, (int64_t[]){3}, "abc");
    write_record(writer, 0, &y, "-", 0);
    assert_fine(writer_finish(writer, &err));
    size_t n;
    char *bytes = take_file(in_directory("y"), &n);
    assert_int_equal(n, 128 + 3);
    static const char beginning[] = "\x93NUMPY\1\0v\0{'descr': '|u1', 'fortran_order': False, "
                                    "'shape': (3,), } ";
    assert_memory_equal(bytes, beginning, sizeof beginning - 1);
    assert_memory_equal(bytes + 126, " \nabc", 5);
    free(bytes);
}

static void fills_in_the_number_of_records(void **state)
{
    (void)state;
    struct writer_options options = {.names = names, .n_outputs = 1, .layout = WRITER_STACK};
    static const char *const shapes[] = {"[0,1,2]", "[1,1,2]", "[2,1,2]", "[3,1,2]"};
    struct irrun_shape shape = shape_of(2, (int64_t[]){1, 2});
    for (uint64_t n = 0; n < 4; n++) {
        struct writer *writer = open_writer(destination("npy", "y"), &options);
        writer_expect(writer, 0, IRRUN_F32, &shape);
        for (uint64_t i = 0; i < n; i++) {
            struct irrun_tensor y = tensor_of(IRRUN_F32, 2, shape.dims, data + 2 * i);
            write_record(writer, 0, &y, "-", i);
        }
        assert_fine(writer_finish(writer, &err));
        assert_npy(in_directory("y"), IRRUN_F32, shapes[n], data, 2 * (size_t)n);
    }
}

static void a_pipe_gets_a_document_for_each_record(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(in_directory("fifo"), 0600), 0);
    int fd = open(in_directory("fifo"), O_RDWR | O_CLOEXEC); /* O_RDWR does not wait */
    struct writer_options options = {
        .names = names, .n_outputs = 1, .layout = WRITER_STACK, .is_flushed = true};
    struct writer *writer = open_writer(destination("npy", "fifo"), &options);
    struct reader *reader = open_file("npy", in_directory("fifo"));
    for (int64_t i = 1; i < 4; i++) {
        char shape[16];
        snprintf(shape, sizeof shape, "[%d]", (int)i);
        struct irrun_tensor y = tensor_of(IRRUN_F32, 1, &i, data);
        write_record(writer, 0, &y, "-", (uint64_t)i);
        struct array_header header = next_array(reader);
        assert_header(&header, IRRUN_F32, shape);
        assert_elements(reader, IRRUN_F32, data, (size_t)i);
    }
    assert_fine(writer_finish(writer, &err));
    close(fd);
    assert_at_end(reader);
    reader_close(reader);
    remove(in_directory("fifo"));
}

static void refuses_a_stack_of_two_shapes(void **state)
{
    (void)state;
    static const char *const formats[] = {"npy", "npz"};
    for (size_t i = 0; i < 2; i++) {
        struct writer_options options = {.names = names, .n_outputs = 1, .layout = WRITER_STACK};
        struct writer *writer = open_writer(destination(formats[i], "y"), &options);
        struct irrun_tensor y = tensor_of(IRRUN_F32, 2, (int64_t[]){1, 2}, data);
        struct record_label label = {"-", 1};
        write_record(writer, 0, &y, "-", 0);
        y.shape.dims[1] = 3;
        assert_failed(writer_write(writer, 0, &y, &label, &err), IRRUN_DATA,
                      "output \"y\": record 1 is f32 [1,3], but those before it are f32 [1,2]");
        y.shape.dims[1] = 2;
        y.dtype = IRRUN_I32;
        assert_failed(writer_write(writer, 0, &y, &label, &err), IRRUN_DATA, "record 1 is i32");
        writer_abort(writer);
        assert_int_equal(count_files(), 0);
    }
}

static void a_file_needs_a_record(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct writer_options options = {
            .names = names, .n_outputs = 1, .layout = i ? WRITER_STACK : WRITER_ONE};
        struct writer *writer = open_writer(destination("npy", "y"), &options);
        assert_failed(writer_finish(writer, &err), IRRUN_DATA, "there is no record");
        assert_int_equal(count_files(), 0);
    }
}

/* ---- Joining --------------------------------------------------------------------------------- */

static void joins_along_every_axis(void **state)
{
    (void)state;
    /* Records [2,1] and [2,2], then [1,3] and [2,3]. */
    const float along_1[] = {0, 2, 3, 1, 4, 5};
    struct writer_options options = {
        .names = names, .n_outputs = 1, .layout = WRITER_CONCAT, .concat_axis = -1};
    struct writer *writer = open_writer(destination("npy", "y"), &options);
    struct irrun_tensor y = tensor_of(IRRUN_F32, 2, (int64_t[]){2, 1}, data);
    write_record(writer, 0, &y, "-", 0);
    y = tensor_of(IRRUN_F32, 2, (int64_t[]){2, 2}, data + 2);
    write_record(writer, 0, &y, "-", 1);
    assert_fine(writer_finish(writer, &err));
    assert_npy(in_directory("y"), IRRUN_F32, "[2,3]", along_1, 6);

    options.concat_axis = 0;
    writer = open_writer(destination("npy", "y"), &options);
    y = tensor_of(IRRUN_F32, 2, (int64_t[]){1, 3}, data);
    write_record(writer, 0, &y, "-", 0);
    y = tensor_of(IRRUN_F32, 2, (int64_t[]){2, 3}, data + 3);
    write_record(writer, 0, &y, "-", 1);
    assert_fine(writer_finish(writer, &err));
    assert_npy(in_directory("y"), IRRUN_F32, "[3,3]", data, 9);
}

static void joins_each_sequence_by_itself(void **state)
{
    (void)state;
    struct writer_options options = {.names = names, .n_outputs = 1, .layout = WRITER_CONCAT};
    struct writer *writer = open_writer(destination("text", "y"), &options);
    for (uint64_t i = 0; i < 6; i++) {
        struct irrun_tensor y = tensor_of(IRRUN_F32, 1, (int64_t[]){1}, data + i);
        write_record(writer, 0, &y, i < 4 ? "a" : "b", i % 4);
    }
    assert_fine(writer_finish(writer, &err));
    assert_text_file(in_directory("y"),
                     "# y f32 [4] seq=a rec=0\n0 1 2 3\n# y f32 [2] seq=b rec=0\n4 5\n");
}

static void refuses_what_cannot_be_joined(void **state)
{
    (void)state;
    struct writer_options options = {
        .names = names, .n_outputs = 1, .layout = WRITER_CONCAT, .concat_axis = 1};
    struct record_label label = {"-", 0};
    struct writer *writer = open_writer(destination("npy", "y"), &options);
    struct irrun_tensor y = tensor_of(IRRUN_F32, 1, (int64_t[]){3}, data);
    assert_failed(writer_write(writer, 0, &y, &label, &err), IRRUN_USAGE, "no axis 1");
    y = tensor_of(IRRUN_F32, 2, (int64_t[]){3, 1}, data);
    write_record(writer, 0, &y, "-", 0);
    y = tensor_of(IRRUN_F32, 2, (int64_t[]){2, 1}, data);
    assert_failed(writer_write(writer, 0, &y, &label, &err), IRRUN_DATA,
                  "f32 [2,1] cannot be joined along axis 1 to f32 [3,1]");
    writer_abort(writer);
    assert_int_equal(count_files(), 0);
}

/* ---- Destinations ---------------------------------------------------------------------------- */

static void an_existing_file_stays_until_the_end(void **state)
{
    (void)state;
    struct writer_options options = {.names = names, .n_outputs = 1, .is_synced = true};
    for (int is_finished = 0; is_finished < 2; is_finished++) {
        put_file(in_directory("y"), "old", 3);
        struct writer *writer = open_writer(destination("csv", "y"), &options);
        struct irrun_tensor y = tensor_of(IRRUN_F32, 1, (int64_t[]){2}, data);
        write_record(writer, 0, &y, "-", 0);
        assert_int_equal(count_files(), 2);
        if (is_finished)
            assert_fine(writer_finish(writer, &err));
        else
            writer_abort(writer);
        assert_int_equal(count_files(), 1);
        assert_text_file(in_directory("y"), is_finished ? "0,1\n" : "old");
    }
}

static void reports_a_full_device(void **state)
{
    (void)state;
    static const char *const targets[] = {"npy:/dev/full", "raw:/dev/full", "csv:/dev/full",
                                          "text:/dev/full", "ark:/dev/full"};
    struct writer_options options = {.names = names, .n_outputs = 1};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        struct writer *writer = open_writer(targets[i], &options);
        struct irrun_tensor y = tensor_of(IRRUN_F32, 1, (int64_t[]){2}, data);
        write_record(writer, 0, &y, "-", 0);
        assert_failed(writer_finish(writer, &err), IRRUN_IO, "No space left on device");
    }
}

static void none_takes_everything(void **state)
{
    (void)state;
    struct writer_options options = {.names = names, .n_outputs = 1, .layout = WRITER_STACK};
    struct writer *writer = open_writer("none:", &options);
    struct irrun_tensor y = tensor_of(IRRUN_F32, 1, (int64_t[]){2}, data);
    write_record(writer, 0, &y, "-", 0);
    y.shape.dims[0] = 1;
    write_record(writer, 0, &y, "-", 1);
    assert_fine(writer_finish(writer, &err));
}

/* ---- The table ------------------------------------------------------------------------------- */

static void finds_the_format_of_a_path(void **state)
{
    (void)state;
    static const struct {
        const char *text, *read, *written, *path;
    } cases[] = {
        {"a.npy", "npy", "npy", "a.npy"},
        {"dir.npz/a.RAW", "raw", "raw", "dir.npz/a.RAW"},
        {"a.bin", "raw", "raw", "a.bin"},
        {"a.txt", "csv", "text", "a.txt"},
        {"a.csv", "csv", "csv", "a.csv"},
        {"a.npz", "npz", "npz", "a.npz"},
        {"feats.ark", "ark", "ark", "feats.ark"},
        {"raw:-", "raw", "raw", "-"},
        {"csv:a.npy", "csv", "csv", "a.npy"},
        {"npy:a:b", "npy", "npy", "a:b"},
        {"x:y.npy", "npy", "npy", "x:y.npy"},
        {"none:", NULL, "none", ""},
        {"text:-", NULL, "text", "-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct format_spec spec;
        if (cases[i].read) {
            assert_fine(format_parse_source(cases[i].text, &spec, &err));
            assert_string_equal(spec.format->name, cases[i].read);
            assert_string_equal(spec.path, cases[i].path);
        }
        assert_fine(format_parse_destination(cases[i].text, &spec, &err));
        assert_string_equal(spec.format->name, cases[i].written);
        assert_string_equal(spec.path, cases[i].path);
        assert_false(spec.is_text_variant);
    }
    struct format_spec spec;
    assert_fine(format_parse_destination("ark,t:-", &spec, &err));
    assert_string_equal(spec.format->name, "ark");
    assert_true(spec.is_text_variant);
}

static void refuses_what_names_no_format(void **state)
{
    (void)state;
    struct format_spec spec;
    static const char *const texts[] = {"-", "file", "file.doc", "npy,t:x", "dir.npy/file", ""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_failed(format_parse_source(texts[i], &spec, &err), IRRUN_USAGE, "is not known");
        assert_failed(format_parse_destination(texts[i], &spec, &err), IRRUN_USAGE, "is not known");
    }
    assert_failed(format_parse_source(".", &spec, &err), IRRUN_USAGE, "is a directory");
    assert_failed(format_parse_destination(".", &spec, &err), IRRUN_USAGE, "is a directory");
    assert_failed(format_parse_source("npy:", &spec, &err), IRRUN_USAGE, "has no path");
    assert_failed(format_parse_source("text:x", &spec, &err), IRRUN_USAGE, "only for outputs");
    assert_failed(format_parse_source("none:", &spec, &err), IRRUN_USAGE, "only for outputs");
}

static void the_table_agrees_with_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < format_count(); i++) {
        const struct format *format = format_at(i);
        assert_ptr_equal(format_find(format->name), format);
        assert_int_equal(format->can_write, format->writer != NULL);
        assert_int_equal(format->can_read,
                         format->reader != NULL || format->has_names || format->is_generated);
    }
    assert_null(format_find("np"));
    assert_null(format_find("npyz"));
    assert_null(format_at(format_count()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(writes_the_header_that_numpy_writes, clear_error),
        cmocka_unit_test_setup(fills_in_the_number_of_records, clear_error),
        cmocka_unit_test_setup(a_pipe_gets_a_document_for_each_record, clear_error),
        cmocka_unit_test_setup(refuses_a_stack_of_two_shapes, clear_error),
        cmocka_unit_test_setup(a_file_needs_a_record, clear_error),
        cmocka_unit_test_setup(joins_along_every_axis, clear_error),
        cmocka_unit_test_setup(joins_each_sequence_by_itself, clear_error),
        cmocka_unit_test_setup(refuses_what_cannot_be_joined, clear_error),
        cmocka_unit_test_setup(an_existing_file_stays_until_the_end, clear_error),
        cmocka_unit_test_setup(reports_a_full_device, clear_error),
        cmocka_unit_test_setup(none_takes_everything, clear_error),
        cmocka_unit_test_setup(finds_the_format_of_a_path, clear_error),
        cmocka_unit_test_setup(refuses_what_names_no_format, clear_error),
        cmocka_unit_test_setup(the_table_agrees_with_itself, clear_error),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
