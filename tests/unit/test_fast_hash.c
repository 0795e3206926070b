/* base/fast_hash depends on every bit, on its position and on the length, but not on the address.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/fast_hash.h"

enum { SIZE = 200 };

static void fill(unsigned char *data)
{
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (unsigned char)(i * 37 + 11);
}

static void every_bit_counts(void **state)
{
    (void)state;
    unsigned char data[SIZE];
    fill(data);
    for (size_t n = 1; n <= SIZE; n += 13) {
        uint64_t whole = fast_hash(0, data, n);
        for (size_t bit = 0; bit < 8 * n; bit++) {
            data[bit / 8] ^= (unsigned char)(1U << bit % 8);
            assert_int_not_equal(fast_hash(0, data, n), whole);
            data[bit / 8] ^= (unsigned char)(1U << bit % 8);
        }
        assert_int_equal(fast_hash(0, data, n), whole);
    }
}

/* Likely changes of weights: two signs changed, two values exchanged, zeros appended. */
static void two_changes_do_not_cancel(void **state)
{
    (void)state;
    float values[SIZE] = {0}, changed[SIZE];
    for (size_t i = 0; i < SIZE; i++)
        values[i] = (float)i - 100;
    uint64_t whole = fast_hash(0, values, sizeof values);
    for (size_t i = 0; i < SIZE; i++) {
        for (size_t j = i + 1; j < SIZE; j++) {
            memcpy(changed, values, sizeof values);
            changed[i] = -values[i];
            changed[j] = -values[j];
            assert_int_not_equal(fast_hash(0, changed, sizeof changed), whole);
            memcpy(changed, values, sizeof values);
            changed[i] = values[j];
            changed[j] = values[i];
            assert_int_not_equal(fast_hash(0, changed, sizeof changed), whole);
        }
    }
}

static void length_and_what_came_before_count(void **state)
{
    (void)state;
    static const unsigned char zeros[SIZE];
    uint64_t before = fast_hash(0, zeros, 0);
    for (size_t n = 1; n < SIZE; n++) {
        uint64_t digest = fast_hash(0, zeros, n);
        assert_int_not_equal(digest, before);
        assert_int_not_equal(digest, fast_hash(1, zeros, n));
        before = digest;
    }
}

static void where_the_bytes_lie_does_not_count(void **state)
{
    (void)state;
    unsigned char data[SIZE], moved[SIZE + 16];
    fill(data);
    for (size_t shift = 0; shift < 16; shift++) {
        memcpy(moved + shift, data, SIZE);
        assert_int_equal(fast_hash(7, moved + shift, SIZE), fast_hash(7, data, SIZE));
    }
}

/* Files store digests, so they must not change. The expected ones were computed in Python: (c ^ w)
 * rotated by 29, times the factor, mod 2^64. */
static void files_of_earlier_runs_stay_valid(void **state)
{
    (void)state;
    unsigned char data[SIZE];
    fill(data);
    assert_int_equal(fast_hash(0, data, 0), UINT64_C(0x985c518470b40c3c));
    assert_int_equal(fast_hash(0, data, SIZE), UINT64_C(0xcaf802ef668426c7));
    assert_int_equal(fast_hash(5, data, 64), UINT64_C(0xd8a3194092422a80));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(two_changes_do_not_cancel),
        cmocka_unit_test(length_and_what_came_before_count),
        cmocka_unit_test(where_the_bytes_lie_does_not_count),
        cmocka_unit_test(files_of_earlier_runs_stay_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
