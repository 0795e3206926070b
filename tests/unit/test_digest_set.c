/* base/digest_set, in memory and on disk; and base/digest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/digest_set.h"

static struct irrun_error err;

static struct digest digest_of(uint64_t number)
{
    return digest_update(DIGEST_SEED, &number, sizeof number);
}

static uint64_t tag_of(const struct digest_set *set, struct digest digest)
{
    uint64_t tag = UINT64_MAX;
    assert_true(digest_set_find(set, digest, &tag, &err));
    return tag;
}

/* Adds a digest. Returns the tag that the set had for it, or 0. */
static uint64_t added(struct digest_set *set, struct digest digest, uint64_t tag)
{
    uint64_t found = UINT64_MAX;
    assert_true(digest_set_add(set, digest, tag, &found, &err));
    return found;
}

static void finds_what_was_put_there(void **state)
{
    (void)state;
    enum { N = 50000 }; /* from 4,096 on it is on disk */
    struct digest_set set = {.n = 0};
    error_clear(&err);
    assert_int_equal(tag_of(&set, digest_of(1)), 0);
    for (uint64_t i = 1; i <= N; i++) {
        assert_int_equal(added(&set, digest_of(i), i), 0);
        assert_int_equal(set.is_on_disk, i > 4096);
    }
    for (uint64_t i = 1; i <= N; i++)
        assert_int_equal(tag_of(&set, digest_of(i)), i);
    for (uint64_t i = N + 1; i <= 2 * N; i++)
        assert_int_equal(tag_of(&set, digest_of(i)), 0);
    assert_int_equal(added(&set, digest_of(7), 70), 7);
    assert_int_equal(tag_of(&set, digest_of(7)), 7);
    assert_true(digest_set_replace(&set, digest_of(7), 70, &err));
    assert_int_equal(tag_of(&set, digest_of(7)), 70);
    assert_int_equal(set.n, N);
    digest_set_free(&set);
    digest_set_free(&set);
}

static void both_halves_of_a_digest_count(void **state)
{
    (void)state;
    struct digest_set set = {.n = 0};
    struct digest one = digest_of(1), other = {one.a, one.b + 1};
    error_clear(&err);
    assert_int_equal(added(&set, one, 1), 0);
    assert_int_equal(tag_of(&set, other), 0);
    assert_int_equal(added(&set, other, 2), 0);
    assert_int_equal(tag_of(&set, one), 1);
    assert_int_equal(tag_of(&set, other), 2);
    digest_set_free(&set);
}

static void a_digest_depends_on_every_byte_and_on_the_length(void **state)
{
    (void)state;
    const char text[] = "a/b_c";
    struct digest whole = digest_update(DIGEST_SEED, text, 5);
    for (size_t i = 0; i < 5; i++) {
        char other[] = "a/b_c";
        other[i] ^= 1;
        assert_int_not_equal(digest_update(DIGEST_SEED, other, 5).a, whole.a);
        assert_int_not_equal(digest_update(DIGEST_SEED, other, 5).b, whole.b);
        assert_int_not_equal(digest_update(DIGEST_SEED, text, i).a, whole.a);
    }
    struct digest again = digest_update(DIGEST_SEED, text, 5);
    assert_memory_equal(&again, &whole, sizeof whole);
    assert_int_not_equal(digest_update(whole, text, 5).a, whole.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_put_there),
        cmocka_unit_test(both_halves_of_a_digest_count),
        cmocka_unit_test(a_digest_depends_on_every_byte_and_on_the_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
