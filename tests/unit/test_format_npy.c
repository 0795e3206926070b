/* Reads npy: every version, order and type, streams of documents, and malformed files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format_files.h"

/* An npy document: `text` after a prefix of version `major`, then the data. */
struct document {
    unsigned char bytes[70000];
    size_t n;
};

static struct document document(int major, const char *text, const void *data, size_t size_bytes)
{
    struct document made = {.n = 0};
    size_t length = strlen(text), prefix = major == 1 ? 10 : 12;
    memcpy(made.bytes, "\x93NUMPY", 6);
    made.bytes[6] = (unsigned char)major;
    for (size_t i = 8; i < prefix; i++)
        made.bytes[i] = (unsigned char)(length >> 8 * (i - 8));
    memcpy(made.bytes + prefix, text, length);
    memcpy(made.bytes + prefix + length, data, size_bytes);
    made.n = prefix + length + size_bytes;
    return made;
}

#define TEXT_OF(descr, order, shape)                                                               \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static const float three[] = {1.0F, -2.5F, 3e10F};

static void reads_every_version(void **state)
{
    (void)state;
    for (int major = 1; major <= 3; major++) {
        struct document made =
            document(major, TEXT_OF("'<f4'", "False", "(3,)") "    \n", three, sizeof three);
        struct reader *reader = open_bytes("npy", made.bytes, made.n);
        struct array_header header = next_array(reader);
        assert_header(&header, IRRUN_F32, "[3]");
        assert_null(header.name);
        assert_null(header.key);
        assert_elements(reader, IRRUN_F32, three, 3);
        assert_at_end(reader);
        reader_close(reader);
    }
}

static void reads_other_spellings_of_the_header(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"shape\":(3,),\"fortran_order\":False,\"descr\":\"<f4\"}",
        "{'descr':'<f4','fortran_order':True,'shape':(3L,)}\n",
        "{ 'descr' : '=f4' , 'fortran_order' : False , 'shape' : ( 3 , ) , } ",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct document made = document(1, texts[i], three, sizeof three);
        struct reader *reader = open_bytes("npy", made.bytes, made.n);
        struct array_header header = next_array(reader);
        assert_header(&header, IRRUN_F32, "[3]");
        assert_elements(reader, IRRUN_F32, three, 3);
        reader_close(reader);
    }
}

static void reads_every_type_in_both_orders(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        enum irrun_dtype dtype;
        size_t size_bytes;
    } types[] = {
        {"f2", IRRUN_F16, 2}, {"f4", IRRUN_F32, 4}, {"f8", IRRUN_F64, 8}, {"i1", IRRUN_I8, 1},
        {"u1", IRRUN_U8, 1},  {"i2", IRRUN_I16, 2}, {"u2", IRRUN_U16, 2}, {"i4", IRRUN_I32, 4},
        {"u4", IRRUN_U32, 4}, {"i8", IRRUN_I64, 8}, {"u8", IRRUN_U64, 8},
    };
    unsigned char data[16], turned[16];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t size_bytes = types[i].size_bytes;
        for (size_t at = 0; at < 16; at++) {
            data[at] = (unsigned char)(16 * at + 3);
            turned[at] = (unsigned char)(16 * (at / size_bytes * size_bytes + size_bytes - 1 -
                                               at % size_bytes) +
                                         3);
        }
        for (int is_big = 0; is_big < 2; is_big++) {
            char text[128], shape[16];
            snprintf(shape, sizeof shape, "[%zu]", 16 / size_bytes);
            snprintf(text, sizeof text,
                     "{'descr': '%c%s', 'fortran_order': False, 'shape': (%zu,)}",
                     is_big ? '>' : '<', types[i].code, 16 / size_bytes);
            struct document made = document(1, text, data, sizeof data);
            struct reader *reader = open_bytes("npy", made.bytes, made.n);
            struct array_header header = next_array(reader);
            assert_header(&header, types[i].dtype, shape);
            uint16_t one = 1;
            bool is_host_big = *(unsigned char *)&one == 0;
            assert_elements(reader, types[i].dtype, is_big != is_host_big ? turned : data,
                            16 / size_bytes);
            reader_close(reader);
        }
    }
}

static void booleans_become_0_and_1(void **state)
{
    (void)state;
    struct document made = document(1, TEXT_OF("'|b1'", "False", "(4,)"), "\0\1\2\377", 4);
    struct reader *reader = open_bytes("npy", made.bytes, made.n);
    struct array_header header = next_array(reader);
    assert_header(&header, IRRUN_BOOLEAN, "[4]");
    assert_elements(reader, IRRUN_BOOLEAN, "\0\1\1\1", 4);
    reader_close(reader);
}

static void reads_what_numpy_wrote(void **state)
{
    (void)state;
    struct reader *reader = open_file("npy", DATA "big_endian.npy");
    struct array_header header = next_array(reader);
    assert_header(&header, IRRUN_F64, "[3,2]");
    double want[6];
    for (int i = 0; i < 6; i++)
        want[i] = i;
    assert_elements(reader, IRRUN_F64, want, 6);
    reader_close(reader);
}

/* Piece by piece, with a skip in between. */
static void turns_fortran_order_around(void **state)
{
    (void)state;
    struct reader *reader = open_file("npy", DATA "fortran.npy");
    for (int round = 0; round < 2; round++) {
        struct array_header header = next_array(reader);
        assert_header(&header, IRRUN_I16, "[2,3,4]");
        int16_t want[24];
        for (int i = 0; i < 24; i++)
            want[i] = (int16_t)i;
        size_t n_skipped;
        assert_elements(reader, IRRUN_I16, want, 5);
        assert_fine(reader_skip(reader, IRRUN_I16, 6, &n_skipped, &err));
        assert_int_equal(n_skipped, 6);
        assert_elements(reader, IRRUN_I16, want + 11, 13);
        assert_at_end(reader);
        assert_true(reader_can_rewind(reader));
        assert_fine(reader_rewind(reader, &err));
    }
    reader_close(reader);
}

static void reads_scalars_and_empty_arrays(void **state)
{
    (void)state;
    struct document made = document(1, TEXT_OF("'<f4'", "False", "()"), three, 4);
    struct reader *reader = open_bytes("npy", made.bytes, made.n);
    struct array_header header = next_array(reader);
    assert_header(&header, IRRUN_F32, "[]");
    assert_elements(reader, IRRUN_F32, three, 1);
    assert_at_end(reader);
    reader_close(reader);

    made = document(1, TEXT_OF("'<f4'", "True", "(2, 0, 3)"), "", 0);
    reader = open_bytes("npy", made.bytes, made.n);
    header = next_array(reader);
    assert_header(&header, IRRUN_F32, "[2,0,3]");
    struct irrun_tensor tensor;
    assert_fine(reader_read_tensor(reader, &header, &tensor, &err));
    assert_non_null(tensor.data);
    free(tensor.data);
    assert_at_end(reader);
    reader_close(reader);
}

static void reads_documents_one_after_the_other(void **state)
{
    (void)state;
    struct document a = document(1, TEXT_OF("'<f4'", "False", "(3,)"), three, sizeof three);
    struct document b = document(2, TEXT_OF("'|i1'", "False", "(1, 2)"), "\5\6", 2);
    unsigned char stream[1000];
    size_t n = 0;
    const struct document *order[] = {&a, &a, &b, &a};
    for (int i = 0; i < 4; i++) {
        memcpy(stream + n, order[i]->bytes, order[i]->n);
        n += order[i]->n;
    }
    for (int is_piped = 0; is_piped < 2; is_piped++) {
        struct reader *reader =
            is_piped ? open_piped("npy", stream, n) : open_bytes("npy", stream, n);
        assert_int_equal(reader_can_rewind(reader), !is_piped);
        next_array(reader);
        assert_elements(reader, IRRUN_F32, three, 3);
        next_array(reader); /* the second is not read, the fourth only in part */
        struct array_header header = next_array(reader);
        assert_header(&header, IRRUN_I8, "[1,2]");
        assert_elements(reader, IRRUN_I8, "\5\6", 2);
        header = next_array(reader);
        assert_header(&header, IRRUN_F32, "[3]");
        assert_elements(reader, IRRUN_F32, three, 2);
        assert_at_end(reader);
        reader_close(reader);
    }
}

static void gives_no_more_than_there_is(void **state)
{
    (void)state;
    struct document made = document(1, TEXT_OF("'<f4'", "False", "(3,)"), three, sizeof three);
    struct reader *reader = open_bytes("npy", made.bytes, made.n);
    next_array(reader);
    float data[8];
    size_t n_read;
    assert_fine(reader_read(reader, IRRUN_F32, data, 2, &n_read, &err));
    assert_int_equal(n_read, 2);
    assert_fine(reader_read(reader, IRRUN_F32, data, 8, &n_read, &err));
    assert_int_equal(n_read, 1);
    assert_fine(reader_read(reader, IRRUN_F32, data, 8, &n_read, &err));
    assert_int_equal(n_read, 0);
    reader_close(reader);
}

/* ---- Rejected files -------------------------------------------------------------------------- */

static void assert_bytes_refused(const void *bytes, size_t n, const char *part)
{
    for (int is_piped = 0; is_piped < 2; is_piped++) {
        struct reader *reader =
            is_piped ? open_piped("npy", bytes, n) : open_bytes("npy", bytes, n);
        struct array_header header;
        struct irrun_tensor tensor = {0};
        bool is_end;
        bool is_read = reader_next(reader, &header, &is_end, &err) &&
                       reader_read_tensor(reader, &header, &tensor, &err) &&
                       reader_next(reader, &header, &is_end, &err);
        assert_failed(is_read, IRRUN_DATA, part);
        free(tensor.data);
        reader_close(reader);
    }
}

static void assert_header_refused(const char *text, const char *part)
{
    struct document made = document(1, text, three, sizeof three);
    assert_bytes_refused(made.bytes, made.n, part);
}

static void refuses_other_types_by_name(void **state)
{
    (void)state;
    assert_header_refused(TEXT_OF("'<c8'", "False", "(3,)"), "complex numbers (descr '<c8')");
    assert_header_refused(TEXT_OF("'|O'", "False", "(3,)"), "Python objects");
    assert_header_refused(TEXT_OF("'<U5'", "False", "(3,)"), "text");
    assert_header_refused(TEXT_OF("'|S5'", "False", "(3,)"), "byte strings");
    assert_header_refused(TEXT_OF("'<f16'", "False", "(3,)"), "floats of another size");
    assert_header_refused(TEXT_OF("'<M8[s]'", "False", "(3,)"), "dates");
    assert_header_refused(TEXT_OF("'|V2'", "False", "(3,)"), "raw records");
    assert_header_refused(TEXT_OF("[('a', '<f4')]", "False", "(3,)"), "structured");
    assert_header_refused(TEXT_OF("'<q9'", "False", "(3,)"), "unknown type");
    assert_header_refused(TEXT_OF("''", "False", "(3,)"), "unknown type");
    assert_header_refused(TEXT_OF("'|f4'", "False", "(3,)"), "no byte order");
}

static void refuses_malformed_headers(void **state)
{
    (void)state;
    assert_header_refused(TEXT_OF("'<f4'", "False", "(3)"), "not a tuple");
    assert_header_refused(TEXT_OF("'<f4'", "False", "(-3,)"), "not a whole number");
    assert_header_refused(TEXT_OF("'<f4'", "False", "(3.0,)"), "not a tuple");
    assert_header_refused(TEXT_OF("'<f4'", "False", "(3,,)"), "not a whole number");
    assert_header_refused(TEXT_OF("'<f4'", "False", "[3]"), "not a tuple");
    assert_header_refused(TEXT_OF("'<f4'", "None", "(3,)"), "neither True nor False");
    assert_header_refused(TEXT_OF("4", "False", "(3,)"), "not a string");
    assert_header_refused("{'descr': '<f4', 'fortran_order': False}", "missing");
    assert_header_refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
                          "twice");
    assert_header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'x': 1}",
                          "other than");
    assert_header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)",
                          "is not closed");
    assert_header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} + 1",
                          "after the dictionary");
    assert_header_refused("{'descr", "not a string");
    assert_header_refused("(3,)", "not a dictionary");
    assert_header_refused("", "not a dictionary");
}

/* Memory of these sizes is not allocated: malloc of 2^62 bytes would give another error. */
static void refuses_shapes_beyond_the_file(void **state)
{
    (void)state;
    assert_header_refused(TEXT_OF("'<f4'", "False", "(99999999999999999999,)"), "too large");
    assert_header_refused(TEXT_OF("'<f4'", "False", "(4294967296, 4294967296)"), "too large");
    assert_header_refused(TEXT_OF("'<f4'", "False", "(2305843009213693951, 4)"), "too large");
    assert_header_refused(TEXT_OF("'<f4'", "False", "(1000000000000,)"), "3999999999988 of the");
    assert_header_refused(TEXT_OF("'<f4'", "True", "(1000000, 1000000)"), "3999999999988 of the");
    assert_header_refused(TEXT_OF("'|u1'", "False", "(4611686018427387904,)"), "truncated");
    assert_header_refused(TEXT_OF("'<f4'", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"),
                          "more than 16 dimensions");
}

static void refuses_truncated_and_foreign_files(void **state)
{
    (void)state;
    struct document made = document(1, TEXT_OF("'<f4'", "False", "(3,)"), three, sizeof three);
    assert_bytes_refused(made.bytes, 0, "is empty");
    assert_bytes_refused(made.bytes, 5, "is not an npy document");
    assert_bytes_refused(made.bytes, 30, "ends inside an npy header");
    assert_bytes_refused(made.bytes, made.n - 1,
                         "1 of the 12 bytes of array [3] of f32 are missing");
    assert_bytes_refused(made.bytes, made.n - 12, "12 of the 12 bytes");
    made.bytes[made.n] = 'x';
    assert_bytes_refused(made.bytes, made.n + 1, "not another npy document");
    made.bytes[6] = 4;
    assert_bytes_refused(made.bytes, made.n, "unknown version");
    assert_bytes_refused("PK\3\4\24\0 and so on, as a zip", 26, "is an npz archive");
    assert_bytes_refused("\x93NUMPY\2\0\377\377\377\377 and a little more", 30, "too long");
}

static void says_where_the_file_ends(void **state)
{
    (void)state;
    struct document made = document(1, TEXT_OF("'<f4'", "False", "(3,)"), three, 11);
    struct reader *reader = open_bytes("npy", made.bytes, made.n);
    struct array_header header;
    bool is_end;
    assert_false(reader_next(reader, &header, &is_end, &err));
    assert_int_equal(err.offset, made.n);
    assert_string_equal(err.file, reader_path(reader));
    reader_close(reader);
}

static void refuses_what_cannot_be_opened(void **state)
{
    (void)state;
    struct reader *reader;
    const struct format *npy = format_find("npy");
    assert_failed(reader_open(npy, in_directory("nothing"), &reader, &err), IRRUN_NO_INPUT,
                  "cannot be opened");
    assert_null(reader);
    assert_failed(reader_open(npy, directory, &reader, &err), IRRUN_NO_INPUT, "cannot be read");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(reads_every_version, clear_error),
        cmocka_unit_test_setup(reads_other_spellings_of_the_header, clear_error),
        cmocka_unit_test_setup(reads_every_type_in_both_orders, clear_error),
        cmocka_unit_test_setup(booleans_become_0_and_1, clear_error),
        cmocka_unit_test_setup(reads_what_numpy_wrote, clear_error),
        cmocka_unit_test_setup(turns_fortran_order_around, clear_error),
        cmocka_unit_test_setup(reads_scalars_and_empty_arrays, clear_error),
        cmocka_unit_test_setup(reads_documents_one_after_the_other, clear_error),
        cmocka_unit_test_setup(gives_no_more_than_there_is, clear_error),
        cmocka_unit_test_setup(refuses_other_types_by_name, clear_error),
        cmocka_unit_test_setup(refuses_malformed_headers, clear_error),
        cmocka_unit_test_setup(refuses_shapes_beyond_the_file, clear_error),
        cmocka_unit_test_setup(refuses_truncated_and_foreign_files, clear_error),
        cmocka_unit_test_setup(says_where_the_file_ends, clear_error),
        cmocka_unit_test_setup(refuses_what_cannot_be_opened, clear_error),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
