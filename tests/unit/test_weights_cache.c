/* plan/weights_cache: one entry per op and layout; the memory of dropped entries is reused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "plan/weights_cache.h"

static const int ops[2]; /* the cache compares addresses of ops, and does not read ops */

static void *get(struct weights_cache *cache, int op, uint32_t layout, size_t size_bytes,
                 bool want_new)
{
    struct irrun_error err;
    bool is_new;
    error_clear(&err);
    void *data = weights_cache_get(cache, (const struct op *)(const void *)&ops[op], layout,
                                   size_bytes, &is_new, &err);
    assert_non_null(data);
    assert_int_equal((uintptr_t)data % 64, 0);
    assert_int_equal(is_new, want_new);
    if (is_new)
        memset(data, op + 1, size_bytes);
    return data;
}

static void keeps_an_entry_per_op_and_layout(void **state)
{
    (void)state;
    struct weights_cache cache = {0};
    const unsigned char *first = get(&cache, 0, 1, 1000, true);
    const void *other_layout = get(&cache, 0, 2, 1000, true);
    const void *other_op = get(&cache, 1, 1, 3 << 20, true);
    assert_ptr_equal(get(&cache, 0, 1, 1000, false), first);
    assert_ptr_equal(get(&cache, 0, 2, 1000, false), other_layout);
    assert_ptr_equal(get(&cache, 1, 1, 3 << 20, false), other_op);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(first[i], 1);
    weights_cache_free(&cache);
}

static void uses_the_memory_of_dropped_entries_again(void **state)
{
    (void)state;
    struct weights_cache cache = {0};
    get(&cache, 0, 0, 3 << 20, true);
    get(&cache, 0, 1, 64, true);
    const struct prepacked *mark = cache.first;
    const void *dropped = get(&cache, 1, 0, 1 << 10, true);
    get(&cache, 1, 1, 1 << 10, true);
    size_t capacity_bytes = cache.capacity_bytes;
    for (int i = 0; i < 5000; i++) {
        weights_cache_drop(&cache, mark);
        assert_ptr_equal(get(&cache, 1, 0, 1 << 10, true), dropped);
        get(&cache, 1, 1, 1 << 10, true);
    }
    assert_int_equal(cache.capacity_bytes, capacity_bytes);
    get(&cache, 0, 1, 64, false);
    weights_cache_free(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_an_entry_per_op_and_layout),
        cmocka_unit_test(uses_the_memory_of_dropped_entries_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
