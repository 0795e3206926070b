/* kernels/strided_copy and the bounds of slices.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "kernels/strided_copy.h"
#include "ops/movement.h"

static uint32_t random_state = 5;

static uint32_t next_below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}

enum { ROOM = 40000 };

/* Returns the offset of element i by the definition: the sum of its indices times the strides. */
static int64_t source_of(uint32_t rank, const int64_t *dims, const int64_t *strides, int64_t i)
{
    int64_t offset = 0;
    for (uint32_t d = rank; d-- > 0; i /= dims[d])
        offset += i % dims[d] * strides[d];
    return offset;
}

static void check_copy(uint32_t rank, const int64_t *dims, const int64_t *strides, int64_t first,
                       size_t size)
{
    static unsigned char from[ROOM * 8], to[ROOM * 8];
    struct move_state state;
    int64_t n = 1;
    for (uint32_t d = 0; d < rank; d++)
        n *= dims[d];
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)next_below(256);
    memset(to, 0x55, sizeof to);
    move_plan(&state, rank, dims, strides, first);
    strided_copy_run(&state.copy, size, from + (size_t)first * size, to);
    for (int64_t i = 0; i < n; i++)
        assert_memory_equal(to + (size_t)i * size,
                            from + (size_t)(first + source_of(rank, dims, strides, i)) * size,
                            size);
    assert_int_equal(to[(size_t)n * size], 0x55);
}

/* Dimensions in any order, backwards, repeated or with gaps, as ops use them. */
static void copies_any_strides(void **state)
{
    (void)state;
    for (int round = 0; round < 600; round++) {
        uint32_t rank = next_below(6);
        int64_t dims[6], strides[6], stride = 1, first = 0;
        uint32_t order[6];
        for (uint32_t d = 0; d < rank; d++) {
            dims[d] = 1 + next_below(round % 3 ? 4 : 20 / rank + 1);
            uint32_t at = next_below(d + 1);
            order[d] = order[at];
            order[at] = d;
        }
        for (uint32_t d = 0; d < rank; d++) {
            uint32_t which = order[d], form = next_below(6);
            strides[which] = stride;
            stride *= dims[which];
            if (form == 0) {
                strides[which] = 0;
            } else if (form == 1) {
                first += strides[which] * (dims[which] - 1);
                strides[which] = -strides[which];
            } else if (form == 2 && stride < 1000) {
                strides[which] *= 2;
                stride *= 2;
            }
        }
        if (stride < ROOM)
            check_copy(rank, dims, strides, first, (size_t)1 << next_below(4));
    }
}

static void transposes_tiles_and_their_rests(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 15, 16, 17, 31, 33, 100};
    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 7; j++)
            for (size_t size = 1; size <= 8; size *= 2) {
                check_copy(2, (int64_t[]){sizes[i], sizes[j]}, (int64_t[]){1, sizes[i]}, 0, size);
                check_copy(3, (int64_t[]){sizes[i], 3, sizes[j]},
                           (int64_t[]){1, sizes[i] * sizes[j], sizes[i]}, 0, size);
            }
}

static void copies_empty_tensors_and_scalars(void **state)
{
    (void)state;
    check_copy(0, NULL, NULL, 3, 4);
    check_copy(2, (int64_t[]){3, 0}, (int64_t[]){1, 1}, 0, 4);
    const int64_t large = INT64_C(1) << 62;
    struct move_state empty;
    move_plan(&empty, 3, (int64_t[]){large, 0, large}, (int64_t[]){0, 1, 0}, 0);
    assert_true(empty.copy.is_empty);
}

static void merges_what_is_dense(void **state)
{
    (void)state;
    struct strided_copy copy;
    strided_copy_plan(&copy, 4, (int64_t[]){2, 1, 3, 4}, (int64_t[]){12, 7, 4, 1},
                      (int64_t[]){12, 12, 4, 1});
    assert_int_equal(copy.rank, 1);
    assert_int_equal(copy.loops[0].n, 24);
}

static void bounds_of_slices(void **state)
{
    (void)state;
    static const int64_t rows[][6] = {
        /* dim, begin, end, step, first, n */
        {5, 0, 5, 1, 0, 5},
        {5, 1, -1, 1, 1, 3},
        {5, -2, 100, 1, 3, 2},
        {5, 4, 1, 1, 0, 0},
        {5, 0, 5, 2, 0, 3},
        {5, 0, 5, INT64_MAX, 0, 1},
        {5, 4, -6, -1, 4, 5},
        {5, -1, INT64_MIN, -2, 4, 3},
        {5, 3, -1, -1, 0, 0},
        {5, INT64_MAX, 0, -1, 4, 4},
        {5, 4, 0, INT64_MIN, 4, 1},
        {0, 0, 5, 1, 0, 0},
        {0, -1, INT64_MIN, -1, 0, 0},
        {5, INT64_MIN, INT64_MIN, -1, 0, 1},
        {1, INT64_MIN, INT64_MAX, 1, 0, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t first, n;
        slice_bounds(rows[i][0], rows[i][1], rows[i][2], rows[i][3], &first, &n);
        if (first != rows[i][4] || n != rows[i][5])
            fail_test("row %zu: %lld elements from %lld\n", i, (long long)n, (long long)first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_any_strides),
        cmocka_unit_test(transposes_tiles_and_their_rests),
        cmocka_unit_test(copies_empty_tensors_and_scalars),
        cmocka_unit_test(merges_what_is_dense),
        cmocka_unit_test(bounds_of_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
