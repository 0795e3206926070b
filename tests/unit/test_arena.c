/* base/arena: alignment, zeros, sizes that overflow, and allocations that fail.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static bool is_out_of_memory;
static size_t n_calls;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    n_calls++;
    return is_out_of_memory ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    n_calls++;
    return is_out_of_memory ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    n_calls++;
    return is_out_of_memory ? NULL : __real_realloc(old, size);
}

static int restore_memory(void **state)
{
    (void)state;
    is_out_of_memory = false;
    return 0;
}

static void assert_all_zero(const void *memory, size_t size_bytes)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < size_bytes; i++)
        assert_int_equal(bytes[i], 0);
}

/* Sizes below, at and above those of the blocks, in mixed order. */
static void pieces_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    static const size_t sizes[] = {1,     7,  16, 100,     4095, 4096, 4097, 3,      70000,
                                   5,     17, 0,  3000000, 9,    2048, 2049, 600000, 1,
                                   12345, 31, 33, 1048576, 64,   1,    8191};
    enum { N = sizeof sizes / sizeof sizes[0], N_ROUNDS = 3 };
    struct arena arena = {0};
    struct irrun_error err;
    error_clear(&err);
    unsigned char *pieces[N * N_ROUNDS];
    size_t total = 0;
    for (size_t i = 0; i < N * N_ROUNDS; i++) {
        size_t size = sizes[i % N];
        pieces[i] = arena_alloc(&arena, size, &err);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        assert_all_zero(pieces[i], size);
        memset(pieces[i], (int)i + 1, size);
        total += size;
    }
    for (size_t i = 0; i < N * N_ROUNDS; i++)
        for (size_t k = 0; k < sizes[i % N]; k++)
            assert_int_equal(pieces[i][k], i + 1);
    assert_int_equal(arena.size_bytes, total);
    arena_free(&arena);
    assert_null(arena.blocks);
    assert_int_equal(arena.size_bytes, 0);
}

static void many_small_pieces_take_few_allocations(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct irrun_error err;
    error_clear(&err);
    size_t before = n_calls;
    for (size_t i = 0; i < 100000; i++) {
        assert_non_null(arena_alloc(&arena, 24, &err));
        if (i % 1000 == 0)
            assert_non_null(arena_alloc(&arena, 5000, &err));
    }
    assert_true(n_calls - before < 30);
    arena_free(&arena);
}

/* A large piece has its own block; the rest of the current block remains in use. */
static void large_pieces_do_not_end_a_block(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct irrun_error err;
    error_clear(&err);
    size_t before = n_calls;
    for (size_t i = 0; i < 40; i++) {
        assert_non_null(arena_alloc(&arena, 24, &err));
        assert_non_null(arena_alloc(&arena, 1100000, &err));
    }
    assert_true(n_calls - before < 45);
    arena_free(&arena);
}

static void rejects_sizes_that_overflow(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct irrun_error err;
    static const size_t pairs[][2] = {
        {SIZE_MAX, 1}, {SIZE_MAX, 2}, {SIZE_MAX / 2 + 1, 2}, {SIZE_MAX - 20, 1}};
    for (size_t i = 0; i < 4; i++) {
        error_clear(&err);
        assert_null(arena_alloc_array(&arena, pairs[i][0], pairs[i][1], &err));
        assert_int_equal(err.code, IRRUN_SYSTEM);
        assert_true(i == 3 || strstr(err.message, "cannot allocate more than 2^"));
    }
    error_clear(&err);
    assert_null(arena_strndup(&arena, "x", SIZE_MAX, &err));
    assert_int_equal(err.code, IRRUN_SYSTEM);
    assert_int_equal(arena.size_bytes, 0);
    arena_free(&arena);
}

static void array_of_nothing_is_a_pointer(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct irrun_error err;
    error_clear(&err);
    assert_non_null(arena_alloc_array(&arena, 0, 8, &err));
    assert_non_null(arena_alloc_array(&arena, 8, 0, &err));
    arena_free(&arena);
}

static void copies_texts_with_their_end(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct irrun_error err;
    error_clear(&err);
    assert_string_equal(arena_strdup(&arena, "variable", &err), "variable");
    assert_string_equal(arena_strdup(&arena, "", &err), "");
    assert_string_equal(arena_strndup(&arena, "abcdef", 3, &err), "abc");
    assert_string_equal(arena_strndup(&arena, NULL, 0, &err), "");
    arena_free(&arena);
}

static void reports_that_there_is_no_memory(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct irrun_error err;
    error_clear(&err);
    is_out_of_memory = true;
    void *piece = arena_alloc(&arena, 10, &err);
    is_out_of_memory = false;
    assert_null(piece);
    assert_int_equal(err.code, IRRUN_SYSTEM);
    assert_non_null(strstr(err.message, "10 bytes"));

    error_clear(&err);
    char *kept = arena_strdup(&arena, "kept", &err);
    assert_non_null(kept);
    is_out_of_memory = true;
    char *copy = arena_strndup(&arena, "x", 100000, &err);
    is_out_of_memory = false;
    assert_null(copy);
    assert_int_equal(err.code, IRRUN_SYSTEM);
    assert_string_equal(kept, "kept");
    arena_free(&arena);
}

static void array_grows_and_keeps_its_items(void **state)
{
    (void)state;
    struct irrun_error err;
    error_clear(&err);
    uint64_t *items = NULL;
    size_t n = 0, capacity = 0, before = n_calls;
    for (; n < 10000; n++) {
        assert_true(grow_array((void **)&items, n, &capacity, sizeof items[0], &err));
        assert_true(capacity > n);
        items[n] = n * n;
    }
    assert_true(n_calls - before < 20);
    for (size_t i = 0; i < n; i++)
        assert_true(items[i] == i * i);
    free(items);
}

static void array_stays_valid_when_it_cannot_grow(void **state)
{
    (void)state;
    struct irrun_error err;
    error_clear(&err);
    int *items = NULL;
    size_t n = 0, capacity = 0;
    do {
        assert_true(grow_array((void **)&items, n, &capacity, sizeof items[0], &err));
        items[n++] = 7;
    } while (n < capacity);
    int *old = items;
    size_t old_capacity = capacity;
    is_out_of_memory = true;
    bool is_grown = grow_array((void **)&items, n, &capacity, sizeof items[0], &err);
    is_out_of_memory = false;
    assert_false(is_grown);
    assert_int_equal(err.code, IRRUN_SYSTEM);
    assert_ptr_equal(items, old);
    assert_int_equal(capacity, old_capacity);
    assert_int_equal(items[n - 1], 7);

    error_clear(&err);
    capacity = SIZE_MAX / 4;
    assert_false(grow_array((void **)&items, capacity, &capacity, sizeof items[0], &err));
    assert_int_equal(err.code, IRRUN_SYSTEM);
    assert_ptr_equal(items, old);
    free(items);
}

static void new_arrays_are_zeroed(void **state)
{
    (void)state;
    struct irrun_error err;
    error_clear(&err);
    int *items = new_array(3, sizeof *items, &err);
    assert_non_null(items);
    assert_int_equal(items[0] | items[1] | items[2], 0);
    free(items);
    items = new_array(0, sizeof *items, &err);
    assert_non_null(items);
    free(items);
    is_out_of_memory = true;
    assert_null(new_array(0, sizeof *items, &err));
    is_out_of_memory = false;
    assert_string_equal(err.message, "out of memory: cannot allocate 4 bytes");
    error_clear(&err);
    assert_null(new_array(SIZE_MAX, sizeof *items, &err));
    assert_non_null(strstr(err.message, "cannot allocate more than 2^"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(many_small_pieces_take_few_allocations),
        cmocka_unit_test(large_pieces_do_not_end_a_block),
        cmocka_unit_test(rejects_sizes_that_overflow),
        cmocka_unit_test(array_of_nothing_is_a_pointer),
        cmocka_unit_test(copies_texts_with_their_end),
        cmocka_unit_test_teardown(reports_that_there_is_no_memory, restore_memory),
        cmocka_unit_test(array_grows_and_keeps_its_items),
        cmocka_unit_test_teardown(array_stays_valid_when_it_cannot_grow, restore_memory),
        cmocka_unit_test_teardown(new_arrays_are_zeroed, restore_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
