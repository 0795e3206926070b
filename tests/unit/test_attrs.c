/* ops/attrs: every kind of attribute, its defaults, and the messages about invalid ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ops/op.h"

struct all_attrs {
    int64_t number;
    double real;
    bool flag;
    const char *word;
    struct i64_list numbers;
    struct f64_list reals;
    struct string_list words;
    enum irrun_dtype type;
    struct irrun_partial_shape open_shape;
    struct irrun_shape shape;
    int mode;
};

static const struct attr_def table[] = {
    ATTR(struct all_attrs, number, "-7"),
    ATTR(struct all_attrs, real, "0.5"),
    ATTR(struct all_attrs, flag, "true"),
    ATTR(struct all_attrs, word, "w"),
    ATTR(struct all_attrs, numbers, "1,2"),
    ATTR(struct all_attrs, reals, ""),
    ATTR(struct all_attrs, words, "sigmoid, tanh"),
    ATTR(struct all_attrs, type, "f32"),
    ATTR(struct all_attrs, open_shape, "1,?"),
    ATTR(struct all_attrs, shape, "3"),
    ATTR_CHOICE(struct all_attrs, mode, "numpy", "none|numpy|pdpd"),
};

static const struct op_def op = {.type = "Thing", OP_ATTRS(table, struct all_attrs)};

struct fixture {
    struct all_attrs attrs;
    struct arena arena;
    struct irrun_error err;
};

static bool read_pair(struct fixture *f, const char *name, const char *value)
{
    const char *const pairs[] = {"stray", "x", name, value, NULL};
    *f = (struct fixture){.attrs = {.number = 0}};
    error_clear(&f->err);
    return attrs_read(&op, pairs, &f->attrs, &f->arena, "t", (struct place){"m.xml", 4, 2},
                      &f->err);
}

static void check_good(struct fixture *f, const char *name, const char *value)
{
    if (!read_pair(f, name, value))
        fail_test("%s=\"%s\": %s\n", name, value, f->err.message);
}

static void check_refused(const char *name, const char *value, const char *why)
{
    struct fixture f;
    if (read_pair(&f, name, value))
        fail_test("%s=\"%s\" is accepted\n", name, value);
    arena_free(&f.arena);
    assert_int_equal(f.err.code, IRRUN_DATA);
    assert_int_equal(f.err.line, 4);
    assert_int_equal(f.err.column, 2);
    char start[200];
    snprintf(start, sizeof start, "Thing \"t\": attribute %s is \"%s\": ", name, value);
    if (strncmp(f.err.message, start, strlen(start)) != 0 || !strstr(f.err.message, why))
        fail_test("%s\n", f.err.message);
    assert_true(f.err.hint[0] != '\0');
}

static void fills_in_defaults(void **state)
{
    (void)state;
    struct fixture f = {.attrs = {.number = 0}};
    error_clear(&f.err);
    assert_true(
        attrs_read(&op, NULL, &f.attrs, &f.arena, "t", (struct place){"m.xml", 1, 1}, &f.err));
    assert_int_equal(f.attrs.number, -7);
    assert_true(f.attrs.real == 0.5);
    assert_true(f.attrs.flag);
    assert_string_equal(f.attrs.word, "w");
    assert_int_equal(f.attrs.numbers.n, 2);
    assert_int_equal(f.attrs.numbers.items[1], 2);
    assert_int_equal(f.attrs.reals.n, 0);
    assert_int_equal(f.attrs.words.n, 2);
    assert_string_equal(f.attrs.words.items[1], "tanh");
    assert_int_equal(f.attrs.type, IRRUN_F32);
    assert_int_equal(f.attrs.open_shape.rank, 2);
    assert_int_equal(f.attrs.open_shape.max[1], INT64_MAX);
    assert_int_equal(f.attrs.shape.dims[0], 3);
    assert_int_equal(f.attrs.mode, 1);
    arena_free(&f.arena);
}

static void reads_numbers(void **state)
{
    (void)state;
    struct fixture f;
    check_good(&f, "number", " 9223372036854775807 ");
    assert_int_equal(f.attrs.number, INT64_MAX);
    arena_free(&f.arena);
    check_good(&f, "real", "0.10000000149011612");
    assert_true(f.attrs.real == (double)0.1f);
    arena_free(&f.arena);
    check_good(&f, "real", "-inf");
    assert_true(isinf(f.attrs.real));
    arena_free(&f.arena);
    check_refused("number", "abc", "expected a whole number");
    check_refused("number", "1.0", "expected a whole number");
    check_refused("number", "9223372036854775808", "expected a whole number");
    check_refused("real", "0,2", "expected a number");
    check_refused("real", "", "expected a number");
}

static void reads_booleans_in_every_writing(void **state)
{
    (void)state;
    static const char *const words[] = {"false", "true", "0",       "1",
                                        "False", "True", " FALSE ", "TRUE"};
    for (int i = 0; i < 8; i++) {
        struct fixture f;
        check_good(&f, "flag", words[i]);
        assert_int_equal(f.attrs.flag, i % 2);
        arena_free(&f.arena);
    }
    check_refused("flag", "yes", "expected true or false");
    check_refused("flag", "", "expected true or false");
    check_refused("flag", "10", "expected true or false");
}

static void reads_lists(void **state)
{
    (void)state;
    struct fixture f;
    check_good(&f, "numbers", " [ 3 ,-4, 5 ] ");
    assert_int_equal(f.attrs.numbers.n, 3);
    assert_int_equal(f.attrs.numbers.items[1], -4);
    arena_free(&f.arena);
    check_good(&f, "numbers", "");
    assert_int_equal(f.attrs.numbers.n, 0);
    arena_free(&f.arena);
    check_good(&f, "numbers", "[]");
    assert_int_equal(f.attrs.numbers.n, 0);
    arena_free(&f.arena);
    check_good(&f, "reals", "[0.3]");
    assert_true(f.attrs.reals.n == 1 && f.attrs.reals.items[0] == 0.3);
    arena_free(&f.arena);
    check_good(&f, "words", "relu");
    assert_string_equal(f.attrs.words.items[0], "relu");
    arena_free(&f.arena);
    check_refused("numbers", "1,,2", "expected whole numbers");
    check_refused("numbers", "1,2,", "expected whole numbers");
    check_refused("numbers", "[1,2", "brackets match");
    check_refused("numbers", "]", "brackets match");
    check_refused("numbers", "[", "brackets match");
    check_refused("reals", "1,x", "expected numbers");
    check_refused("words", "a, ,b", "expected words");
}

static void reads_types_and_shapes(void **state)
{
    (void)state;
    struct fixture f;
    check_good(&f, "type", "FP16");
    assert_int_equal(f.attrs.type, IRRUN_F16);
    arena_free(&f.arena);
    check_good(&f, "shape", "[512, 192]");
    assert_int_equal(f.attrs.shape.rank, 2);
    assert_int_equal(f.attrs.shape.dims[1], 192);
    arena_free(&f.arena);
    check_good(&f, "open_shape", "...");
    assert_true(f.attrs.open_shape.is_rank_dynamic);
    arena_free(&f.arena);
    check_refused("type", "f33", "expected an element type such as f32");
    check_refused("shape", "1,?", "expected dimensions that are whole numbers");
    check_refused("shape", "1,,2", "a dimension is");
    check_refused("open_shape", "2,", "a dimension is");
}

static void reads_choices(void **state)
{
    (void)state;
    struct fixture f;
    check_good(&f, "mode", " PDPD");
    assert_int_equal(f.attrs.mode, 2);
    arena_free(&f.arena);
    check_good(&f, "mode", "none");
    assert_int_equal(f.attrs.mode, 0);
    arena_free(&f.arena);
    check_refused("mode", "num", "expected one of none|numpy|pdpd");
    check_refused("mode", "", "expected one of none|numpy|pdpd");
    check_refused("mode", "none|numpy", "expected one of none|numpy|pdpd");
}

static void names_what_is_missing(void **state)
{
    (void)state;
    static const struct attr_def required[] = {
        ATTR_NAMED(struct all_attrs, number, "hidden_size", NULL)};
    static const struct op_def needy = {.type = "Needy", OP_ATTRS(required, struct all_attrs)};
    struct fixture f = {.attrs = {.number = 0}};
    error_clear(&f.err);
    assert_false(attrs_read(&needy, NULL, &f.attrs, &f.arena, "cell", (struct place){"m.xml", 9, 3},
                            &f.err));
    assert_string_equal(f.err.message, "Needy \"cell\": attribute hidden_size is missing");
    assert_non_null(strstr(f.err.hint, "hidden_size=\"...\""));
    assert_int_equal(f.err.line, 9);
    arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_in_defaults),
        cmocka_unit_test(reads_numbers),
        cmocka_unit_test(reads_booleans_in_every_writing),
        cmocka_unit_test(reads_lists),
        cmocka_unit_test(reads_types_and_shapes),
        cmocka_unit_test(reads_choices),
        cmocka_unit_test(names_what_is_missing),
    };
    return cmocka_run_group_tests_name("attrs", tests, NULL, NULL);
}
