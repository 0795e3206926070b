/* tensor/shape: counts, formats, parses, compares and broadcasts shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "tensor/shape.h"

#define SHAPE(...)                                                                                 \
    shape_of(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static const struct irrun_shape scalar = {.rank = 0};

static void counts_elements(void **state)
{
    (void)state;
    int64_t n = -1;
    assert_true(shape_count(&scalar, &n) && n == 1);
    struct irrun_shape shape = SHAPE(2, 3, 4);
    assert_true(shape_count(&shape, &n) && n == 24);
    assert_true(shape_n_elements(&shape) == 24);
    assert_true(shape_product(&shape, 1, 3) == 12);
    assert_true(shape_product(&shape, 2, 2) == 1);
    shape = SHAPE(2, 0, 4);
    assert_true(shape_count(&shape, &n) && n == 0);
    shape = SHAPE(INT64_MAX);
    assert_true(shape_count(&shape, &n) && n == INT64_MAX);
}

static void rejects_dims_that_overflow(void **state)
{
    (void)state;
    int64_t n = -1;
    struct irrun_shape shape = SHAPE(INT64_MAX, 2);
    assert_false(shape_count(&shape, &n));
    shape = SHAPE(INT64_C(1) << 32, INT64_C(1) << 31);
    assert_false(shape_count(&shape, &n));
    shape = SHAPE(3, -1);
    assert_false(shape_count(&shape, &n));
    /* The number of elements is 0, although a product of other dimensions overflows. */
    shape = SHAPE(INT64_MAX, 2, 0);
    assert_false(shape_count(&shape, &n));
    shape = SHAPE(0, INT64_MAX, 2);
    assert_false(shape_count(&shape, &n));
    shape = SHAPE(0, -1);
    assert_false(shape_count(&shape, &n));
    assert_true(n == -1);
}

static void equal_shapes_have_rank_and_dims_in_common(void **state)
{
    (void)state;
    struct irrun_shape a = SHAPE(2, 3), b = SHAPE(2, 3), c = SHAPE(2, 4), d = SHAPE(2, 3, 1);
    b.dims[5] = 99; /* beyond the rank */
    assert_true(shape_equals(&a, &b));
    assert_false(shape_equals(&a, &c));
    assert_false(shape_equals(&a, &d));
    assert_false(shape_equals(&scalar, &a));
    assert_true(shape_equals(&scalar, &scalar));
}

static void writes_shapes(void **state)
{
    (void)state;
    char text[SHAPE_TEXT_BYTES];
    struct irrun_shape shape = SHAPE(1, 512);
    assert_ptr_equal(shape_format(&shape, text), text);
    assert_string_equal(text, "[1,512]");
    assert_string_equal(shape_format(&scalar, text), "[]");
    shape = SHAPE(0);
    assert_string_equal(shape_format(&shape, text), "[0]");
}

static void every_shape_fits_its_text(void **state)
{
    (void)state;
    char text[SHAPE_TEXT_BYTES];
    struct irrun_shape shape = {.rank = IRRUN_MAX_RANK};
    for (uint32_t i = 0; i < IRRUN_MAX_RANK; i++)
        shape.dims[i] = INT64_MIN + i;
    shape_format(&shape, text);
    assert_int_equal(strlen(text), 2 + IRRUN_MAX_RANK * 20 + 15);
    assert_int_equal(text[strlen(text) - 1], ']');
}

static void text_that_does_not_fit_is_cut_with_an_ellipsis(void **state)
{
    (void)state;
    for (uint32_t width = 0; width < 18; width++) {
        struct irrun_partial_shape shape = {.rank = IRRUN_MAX_RANK};
        char text[SHAPE_TEXT_BYTES + 1];
        for (uint32_t i = 0; i < IRRUN_MAX_RANK; i++) {
            shape.min[i] = INT64_MAX / 4 + i;
            shape.max[i] = INT64_MAX - 1;
        }
        /* Shifts the position where the text is truncated. */
        shape.min[0] = 1;
        for (uint32_t k = 0; k < width; k++)
            shape.min[0] *= 10;
        memset(text, '#', sizeof text);
        partial_shape_format(&shape, text);
        assert_int_equal(text[SHAPE_TEXT_BYTES], '#');
        assert_true(strlen(text) < SHAPE_TEXT_BYTES);
        assert_true(strlen(text) > SHAPE_TEXT_BYTES - 60);
        assert_string_equal(text + strlen(text) - 4, "\xE2\x80\xA6]");
    }
}

/* Parses texts, and formats the shapes. */
static void reads_partial_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *written;
    } rows[] = {
        {"", "[]"},
        {"  ", "[]"},
        {"[]", "[]"},
        {"[ ]", "[]"},
        {"1", "[1]"},
        {"0", "[0]"},
        {"1,3,224,224", "[1,3,224,224]"},
        {" 512 , 192 ", "[512,192]"},
        {"[1,2]", "[1,2]"},
        {" [ 1 , 2 ] ", "[1,2]"},
        {"?,4,?,128", "[?,4,?,128]"},
        {"-1,2", "[?,2]"},
        {"2?", "[?]"},
        {"2..8", "[2..8]"},
        {"1, 2 .. 8, 3", "[1,2..8,3]"},
        {"3..", "[3..]"},
        {"..5", "[..5]"},
        {"0..5", "[..5]"},
        {"5..5", "[5]"},
        {"..", "[?]"},
        {"...", "[...]"},
        {"[...]", "[...]"},
        {"9223372036854775806", "[9223372036854775806]"},
        {"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct irrun_partial_shape shape;
        char text[SHAPE_TEXT_BYTES];
        const char *why = NULL;
        assert_true(partial_shape_parse(rows[i].text, &shape, &why));
        assert_string_equal(partial_shape_format(&shape, text), rows[i].written);
        /* A written shape is read back unchanged. */
        struct irrun_partial_shape again;
        assert_true(partial_shape_parse(text, &again, &why));
        assert_memory_equal(&again, &shape, sizeof shape);
    }
}

static void refuses_other_texts_and_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"1,", "whole number"},
        {",", "whole number"},
        {",1", "whole number"},
        {"1,,2", "whole number"},
        {"a", "whole number"},
        {"1 2", "whole number"},
        {"-2", "whole number"},
        {"+2", "whole number"},
        {"1.5", "whole number"},
        {"0x10", "whole number"},
        {"-1..3", "whole number"},
        {"1..-1", "whole number"},
        {"1..2..3", "whole number"},
        {"1;2", "whole number"},
        {"8..2", "below"},
        {"[1", "bracket"},
        {"1]", "bracket"},
        {"[", "bracket"},
        {"]", "bracket"},
        {"[[1]]", "whole number"},
        {"9223372036854775807", "too large"},
        {"99999999999999999999", "too large"},
        {"1..9223372036854775808", "too large"},
        {"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct irrun_partial_shape shape;
        const char *why = NULL;
        if (partial_shape_parse(rows[i].text, &shape, &why))
            fail_test("\"%s\" is read as a shape\n", rows[i].text);
        assert_non_null(why);
        if (!strstr(why, rows[i].why))
            fail_test("\"%s\" is refused because %s\n", rows[i].text, why);
    }
}

static struct irrun_partial_shape partial_of(const char *text)
{
    struct irrun_partial_shape shape;
    const char *why;
    assert_true(partial_shape_parse(text, &shape, &why));
    return shape;
}

static void admits_what_lies_within_the_bounds(void **state)
{
    (void)state;
    struct irrun_partial_shape partial = partial_of("2..4,?,3");
    const struct irrun_shape inside[] = {SHAPE(2, 0, 3), SHAPE(4, 1000, 3)};
    const struct irrun_shape outside[] = {SHAPE(1, 1, 3), SHAPE(5, 1, 3),    SHAPE(2, 1, 2),
                                          SHAPE(2, 1),    SHAPE(2, 1, 3, 1), scalar};
    struct irrun_partial_shape any = partial_shape_any();
    for (size_t i = 0; i < 2; i++)
        assert_true(partial_shape_admits(&partial, &inside[i]));
    for (size_t i = 0; i < 6; i++) {
        assert_false(partial_shape_admits(&partial, &outside[i]));
        assert_true(partial_shape_admits(&any, &outside[i]));
    }
    struct irrun_partial_shape empty = partial_of("");
    assert_true(partial_shape_admits(&empty, &scalar));
}

static void static_is_what_admits_one_shape(void **state)
{
    (void)state;
    static const char *const dynamic[] = {"?", "1,2..3", "..."};
    struct irrun_shape shape = SHAPE(9);
    for (size_t i = 0; i < 3; i++) {
        struct irrun_partial_shape partial = partial_of(dynamic[i]);
        assert_false(partial_shape_is_static(&partial));
        assert_false(partial_shape_to_shape(&partial, &shape));
    }
    struct irrun_shape expected = SHAPE(1, 2);
    struct irrun_partial_shape partial = partial_of("1,2..2");
    assert_true(partial_shape_is_static(&partial));
    assert_true(partial_shape_to_shape(&partial, &shape));
    assert_true(shape_equals(&shape, &expected));
    partial = partial_shape_of(&scalar);
    assert_true(partial_shape_to_shape(&partial, &shape));
    assert_true(shape_equals(&shape, &scalar));
    partial = partial_shape_of(&expected);
    assert_true(partial_shape_admits(&partial, &expected));
    assert_true(partial_shape_is_static(&partial));
}

static void broadcasts_like_numpy(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b, *out;
    } rows[] = {
        {"", "", "[]"},           {"2,3", "", "[2,3]"},        {"2,3", "3", "[2,3]"},
        {"2,1", "1,3", "[2,3]"},  {"2,1,3", "4,1", "[2,4,3]"}, {"1", "1,1,1", "[1,1,1]"},
        {"0", "1", "[0]"},        {"2,0", "1", "[2,0]"},       {"5,1,0", "3,1", "[5,3,0]"},
        {"2,3", "2", NULL},       {"2,3", "3,2", NULL},        {"0", "2", NULL},
        {"2,3,4", "2,1,5", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct irrun_shape a, b, out;
        struct irrun_partial_shape partial = partial_of(rows[i].a);
        partial_shape_to_shape(&partial, &a);
        partial = partial_of(rows[i].b);
        partial_shape_to_shape(&partial, &b);
        char text[SHAPE_TEXT_BYTES];
        assert_int_equal(shape_broadcast(&a, &b, &out), rows[i].out != NULL);
        assert_int_equal(shape_broadcast(&b, &a, &a), rows[i].out != NULL); /* in place */
        if (rows[i].out) {
            assert_string_equal(shape_format(&out, text), rows[i].out);
            assert_string_equal(shape_format(&a, text), rows[i].out);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_elements),
        cmocka_unit_test(rejects_dims_that_overflow),
        cmocka_unit_test(equal_shapes_have_rank_and_dims_in_common),
        cmocka_unit_test(writes_shapes),
        cmocka_unit_test(every_shape_fits_its_text),
        cmocka_unit_test(text_that_does_not_fit_is_cut_with_an_ellipsis),
        cmocka_unit_test(reads_partial_shapes),
        cmocka_unit_test(refuses_other_texts_and_says_why),
        cmocka_unit_test(admits_what_lies_within_the_bounds),
        cmocka_unit_test(static_is_what_admits_one_shape),
        cmocka_unit_test(broadcasts_like_numpy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
