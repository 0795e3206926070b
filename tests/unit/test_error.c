/* base/error: the first error is kept, long texts are truncated, and editors can parse the format.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/error.h"

static void records_code_and_message(void **state)
{
    (void)state;
    struct irrun_error err;
    error_clear(&err);
    assert_false(fail(&err, IRRUN_DATA, "found %d, expected %s", 3, "four"));
    assert_int_equal(err.code, IRRUN_DATA);
    assert_string_equal(err.message, "found 3, expected four");
    assert_string_equal(err.file, "");
    assert_true(err.offset == UINT64_MAX);
}

static void first_error_wins(void **state)
{
    (void)state;
    struct irrun_error err;
    error_clear(&err);
    fail_at(&err, IRRUN_DATA, (struct place){"a.xml", 4, 7}, "first");
    assert_false(fail(&err, IRRUN_IO, "second"));
    assert_false(fail_at_offset(&err, IRRUN_IO, "b.bin", 12, "third"));
    assert_false(fail_memory(&err, 5));
    assert_int_equal(err.code, IRRUN_DATA);
    assert_string_equal(err.message, "first");
    assert_string_equal(err.file, "a.xml");
    assert_int_equal(err.line, 4);
    assert_int_equal(err.column, 7);
    assert_true(err.offset == UINT64_MAX);
}

static void hint_and_more_need_an_error(void **state)
{
    (void)state;
    struct irrun_error err;
    error_clear(&err);
    assert_false(fail_hint(&err, "no"));
    assert_false(fail_append(&err, "no"));
    assert_string_equal(err.hint, "");
    assert_string_equal(err.message, "");
}

static void first_hint_wins_and_more_is_appended(void **state)
{
    (void)state;
    struct irrun_error err;
    error_clear(&err);
    fail(&err, IRRUN_UNSUPPORTED, "ops:");
    fail_append(&err, "\n  %s", "NonZero");
    fail_append(&err, "\n  %s", "TopK");
    fail_hint(&err, "try %d", 1);
    fail_hint(&err, "try %d", 2);
    assert_string_equal(err.message, "ops:\n  NonZero\n  TopK");
    assert_string_equal(err.hint, "try 1");
}

static void later_fields_do_not_leak_from_an_old_error(void **state)
{
    (void)state;
    struct irrun_error err;
    memset(&err, 'x', sizeof err);
    error_clear(&err);
    fail(&err, IRRUN_IO, "new");
    assert_string_equal(err.file, "");
    assert_string_equal(err.hint, "");
    assert_int_equal(err.line, 0);
    assert_int_equal(err.column, 0);
}

static void keeps_the_end_of_a_file_name_that_is_too_long(void **state)
{
    (void)state;
    struct irrun_error err;
    char name[2000];
    for (size_t length = 500; length < 530; length++) {
        memset(name, 'd', length);
        memcpy(name + length - 9, "model.xml", 10);
        error_clear(&err);
        fail_at(&err, IRRUN_DATA, (struct place){name, 1, 1}, "m");
        size_t kept = strlen(err.file);
        assert_true(kept < sizeof err.file);
        assert_string_equal(err.file + kept - 9, "model.xml");
        if (length < sizeof err.file)
            assert_string_equal(err.file, name);
        else
            assert_memory_equal(err.file, "...ddd", 6);
    }
}

/* A truncated text has only whole characters. */
static void cuts_between_characters(void **state)
{
    (void)state;
    static const char *const characters[] = {"\xC3\xA4", "\xE2\x80\xA6", "\xF0\x9F\x98\x80"};
    struct irrun_error err;
    char text[4000];
    for (size_t kind = 0; kind < 3; kind++) {
        size_t width = strlen(characters[kind]);
        for (size_t shift = 0; shift < 4; shift++) {
            memset(text, 'a', shift);
            size_t length = shift;
            for (; length + width < sizeof text; length += width)
                memcpy(text + length, characters[kind], width);
            text[length] = '\0';
            error_clear(&err);
            fail(&err, IRRUN_DATA, "%s", text);
            size_t kept = strlen(err.message);
            assert_true(kept > sizeof err.message - 1 - width);
            assert_int_equal((kept - shift) % width, 0);
            assert_memory_equal(err.message, text, kept);

            error_clear(&err);
            fail_at(&err, IRRUN_DATA, (struct place){text, 0, 0}, "m");
            assert_memory_equal(err.file, "...", 3);
            assert_int_equal((strlen(err.file) - 3) % width, 0);
        }
    }
}

static void keeps_a_whole_character_at_the_cut(void **state)
{
    (void)state;
    struct irrun_error err;
    char text[3000];
    memset(text, 'a', sizeof text);
    memcpy(text + sizeof err.message - 3, "\xC3\xA4", 2);
    text[sizeof text - 1] = '\0';
    error_clear(&err);
    fail(&err, IRRUN_DATA, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

static void formats_as_editors_understand(void **state)
{
    (void)state;
    struct irrun_error err;
    char text[200];
    error_clear(&err);
    fail_at(&err, IRRUN_DATA, (struct place){"m.xml", 42, 7}, "bad");
    fail_hint(&err, "good");
    assert_string_equal(error_format(&err, text, sizeof text),
                        "m.xml:42:7: error: bad\n  hint: good\n");

    error_clear(&err);
    fail_at(&err, IRRUN_DATA, (struct place){"m.csv", 42, 0}, "bad");
    assert_string_equal(error_format(&err, text, sizeof text), "m.csv:42: error: bad\n");

    error_clear(&err);
    fail_at_offset(&err, IRRUN_DATA, "m.bin", 0, "bad");
    assert_string_equal(error_format(&err, text, sizeof text), "m.bin: byte 0: error: bad\n");

    error_clear(&err);
    fail(&err, IRRUN_USAGE, "bad");
    assert_string_equal(error_format(&err, text, sizeof text), "irrun: error: bad\n");
}

static void hides_what_would_control_the_terminal(void **state)
{
    (void)state;
    struct irrun_error err;
    char text[200];
    error_clear(&err);
    fail(&err, IRRUN_DATA, "%s",
         "a\x1b[31m \x7f \xC2\x9B"
         "31m \xC2\xA0 \xC3\x9B \xC2");
    assert_string_equal(error_format(&err, text, sizeof text),
                        "irrun: error: a?[31m ? ??31m \xC2\xA0 \xC3\x9B ?\n");

    error_clear(&err);
    fail_at(&err, IRRUN_DATA, (struct place){"a\nb", 0, 0},
            "no op \"%s\"; the model has:", "x\nirrun: error: all is lost");
    fail_append(&err, "\n  %s", "y");
    assert_string_equal(error_format(&err, text, sizeof text),
                        "a?b: error: no op \"x?irrun: error: all is lost\"; the model has:\n  y\n");
}

static void formats_into_any_size_without_writing_beyond(void **state)
{
    (void)state;
    struct irrun_error err;
    char whole[200], text[200];
    error_clear(&err);
    fail_at(&err, IRRUN_DATA, (struct place){"m.xml", 42, 7}, "bad");
    fail_hint(&err, "good");
    error_format(&err, whole, sizeof whole);
    for (size_t size = 0; size <= strlen(whole) + 1; size++) {
        memset(text, '#', sizeof text);
        error_format(&err, text, size);
        assert_int_equal(text[size], '#');
        if (size != 0) {
            assert_int_equal(strlen(text), size - 1);
            assert_memory_equal(text, whole, size - 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_code_and_message),
        cmocka_unit_test(first_error_wins),
        cmocka_unit_test(hint_and_more_need_an_error),
        cmocka_unit_test(first_hint_wins_and_more_is_appended),
        cmocka_unit_test(later_fields_do_not_leak_from_an_old_error),
        cmocka_unit_test(keeps_the_end_of_a_file_name_that_is_too_long),
        cmocka_unit_test(cuts_between_characters),
        cmocka_unit_test(keeps_a_whole_character_at_the_cut),
        cmocka_unit_test(formats_as_editors_understand),
        cmocka_unit_test(hides_what_would_control_the_terminal),
        cmocka_unit_test(formats_into_any_size_without_writing_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
