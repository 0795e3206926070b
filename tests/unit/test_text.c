/* base/text: the growing buffer, and comparisons of words.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=realloc */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static bool is_out_of_memory;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_realloc(void *old, size_t size)
{
    return is_out_of_memory ? NULL : __real_realloc(old, size);
}

static void grows_with_what_is_added(void **state)
{
    (void)state;
    struct text text = {0};
    for (int i = 0; i < 1000; i++) {
        text_add(&text, "%03d", i);
        text_add_bytes(&text, "-;", 1);
        assert_int_equal(text.length, 4 * (i + 1));
        assert_int_equal(strlen(text.data), text.length);
    }
    assert_memory_equal(text.data, "000-001-", 8);
    assert_string_equal(text.data + 3996, "999-");
    assert_false(text.is_failed);
    text_free(&text);
    assert_null(text.data);
}

/* Every length around the first capacity, which must hold the NUL too. */
static void holds_any_length(void **state)
{
    (void)state;
    char word[300];
    for (size_t length = 0; length < sizeof word; length++) {
        memset(word, 'w', sizeof word);
        word[length] = '\0';
        struct text formatted = {0}, copied = {0};
        text_add(&formatted, "%s", word);
        text_add_bytes(&copied, word, length);
        assert_string_equal(formatted.data, word);
        assert_string_equal(copied.data, word);
        text_free(&formatted);
        text_free(&copied);
    }
}

static void says_so_when_memory_was_lacking(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "kept");
    is_out_of_memory = true;
    text_add(&text, "%1000d", 1);
    is_out_of_memory = false;
    assert_true(text.is_failed);
    text_add(&text, "late");
    text_add_bytes(&text, "late", 4);
    assert_true(text.is_failed);
    assert_string_equal(text.data, "kept");
    struct irrun_error err;
    error_clear(&err);
    assert_false(text_check(&text, &err));
    assert_string_equal(err.message, "out of memory: cannot allocate 1005 bytes");
    text_free(&text);
    assert_false(text.is_failed);
    error_clear(&err);
    assert_true(text_check(&text, &err));

    is_out_of_memory = true;
    text_add_bytes(&text, "x", 1);
    is_out_of_memory = false;
    assert_true(text.is_failed);
    assert_null(text.data);
    text_free(&text);
}

static void distance_counts_single_letter_changes(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        unsigned distance;
    } rows[] = {
        {"", "", 0},
        {"iter", "iter", 0},
        {"iter", "iters", 1},
        {"iter", "ter", 1},
        {"iter", "item", 1},
        {"iter", "itre", 2},
        {"kitten", "sitting", 3},
        {"", "abc", 3},
        {"abc", "", 3},
        {"abcd", "bcda", 2},
        {"--input", "--ouput", 2},
        {"a", "b", 1},
        {"sunday", "saturday", 3},
        {"LSTMCell", "LSTMSequence", 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(text_distance(rows[i].a, rows[i].b, 100), rows[i].distance);
        assert_int_equal(text_distance(rows[i].b, rows[i].a, 100), rows[i].distance);
    }
}

static void distance_beyond_the_limit_is_one_more(void **state)
{
    (void)state;
    for (unsigned limit = 0; limit < 10; limit++) {
        unsigned expected = limit < 3 ? limit + 1 : 3;
        assert_int_equal(text_distance("kitten", "sitting", limit), expected);
        assert_int_equal(text_distance("sitting", "kitten", limit), expected);
    }
}

static void distance_takes_words_of_any_length(void **state)
{
    (void)state;
    char a[1000], b[1000];
    for (size_t length = 250; length < 260; length++) {
        memset(a, 'a', sizeof a);
        memset(b, 'a', sizeof b);
        a[length] = b[length] = '\0';
        assert_int_equal(text_distance(a, b, 3), 0);
        b[length / 2] = 'b';
        assert_in_range(text_distance(a, b, 3), 1, 4);
    }
    memset(a, 'a', sizeof a - 1);
    a[sizeof a - 1] = '\0';
    assert_int_equal(text_distance(a, "a", 3), 4);
    assert_int_equal(text_distance("a", a, 3), 4);
}

static void quotes_for_the_shell(void **state)
{
    (void)state;
    char out[TEXT_QUOTED_BYTES];
    assert_string_equal(text_shell_quote("a.npy", out), "a.npy");
    assert_string_equal(text_shell_quote("a b", out), "'a b'");
    assert_string_equal(text_shell_quote("it's", out), "'it'\\''s'");
    assert_string_equal(text_shell_quote("~", out), "'~'");
    assert_string_equal(text_shell_quote("", out), "''");
}

static void compares_without_case(void **state)
{
    (void)state;
    assert_true(text_equals_ignore_case("", ""));
    assert_true(text_equals_ignore_case("LSTMCell", "lstmcELL"));
    assert_false(text_equals_ignore_case("abc", "ab"));
    assert_false(text_equals_ignore_case("ab", "abc"));
    assert_false(text_equals_ignore_case("[", "{"));
    assert_false(text_equals_ignore_case("@", "`"));
    assert_false(text_equals_ignore_case("\xC3\x84", "\xC3\xA4"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_with_what_is_added),
        cmocka_unit_test(holds_any_length),
        cmocka_unit_test(says_so_when_memory_was_lacking),
        cmocka_unit_test(distance_counts_single_letter_changes),
        cmocka_unit_test(distance_beyond_the_limit_is_one_more),
        cmocka_unit_test(distance_takes_words_of_any_length),
        cmocka_unit_test(compares_without_case),
        cmocka_unit_test(quotes_for_the_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
