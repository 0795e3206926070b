/* base/huge_pages: memory is aligned, has huge pages where they are mostly used, and has the
 * preferred size if there is enough memory.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=madvise,--wrap=posix_memalign */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/huge_pages.h"
#include "base/memory_limit.h"

#define MAX_ADVISED 64

static struct {
    unsigned char *at;
    size_t n_bytes;
} advised[MAX_ADVISED]; /* large pages, in order */
static size_t n_advised;
static size_t refused_from = SIZE_MAX; /* sizes that cannot be allocated */

int __wrap_madvise(void *at, size_t n_bytes, int advice);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);

int __wrap_madvise(void *at, size_t n_bytes, int advice)
{
    assert_int_equal(advice, MADV_HUGEPAGE);
    assert_true(n_advised < MAX_ADVISED);
    advised[n_advised].at = at;
    advised[n_advised++].n_bytes = n_bytes;
    return 0;
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    return size >= refused_from ? ENOMEM : __real_posix_memalign(memory, alignment, size);
}

static void allocates_aligned_memory(void **state)
{
    static const size_t sizes[] = {0,
                                   1,
                                   63,
                                   64,
                                   4097,
                                   HUGE_PAGE_BYTES - 1,
                                   HUGE_PAGE_BYTES,
                                   HUGE_PAGE_BYTES + 1,
                                   5 * HUGE_PAGE_BYTES / 2};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t alignment = sizes[i] < HUGE_PAGE_BYTES ? 64 : HUGE_PAGE_BYTES;
        n_advised = 0;
        void *data = huge_alloc(sizes[i]);
        assert_non_null(data);
        assert_int_equal((uintptr_t)data % alignment, 0);
        memset(data, 1, sizes[i]);
        free(data);
    }
    assert_null(huge_alloc(SIZE_MAX));
    assert_null(huge_alloc(SIZE_MAX - HUGE_PAGE_BYTES));
}

static void assert_reserved(size_t size_bytes, size_t whole_bytes, size_t alignment)
{
    size_t got_bytes = size_bytes;
    void *data = huge_reserve(&got_bytes);
    assert_non_null(data);
    assert_int_equal(got_bytes, whole_bytes);
    assert_int_equal((uintptr_t)data % alignment, 0);
    free(data);
}

static void reserves_whole_lines_and_pages(void **state)
{
    size_t too_many = SIZE_MAX;
    (void)state;
    n_advised = 0;
    assert_reserved(0, 64, 64);
    assert_reserved(65, 128, 64);
    assert_reserved(HUGE_PAGE_BYTES - 64, HUGE_PAGE_BYTES - 64, 64);
    assert_reserved(HUGE_PAGE_BYTES - 63, HUGE_PAGE_BYTES, HUGE_PAGE_BYTES);
    assert_reserved(HUGE_PAGE_BYTES + 1, 2 * HUGE_PAGE_BYTES, HUGE_PAGE_BYTES);
    assert_null(huge_reserve(&too_many));
    assert_int_equal(n_advised, 0);
}

/* Returns the pages of a block for which huge pages were requested, as a set of bits. */
static unsigned advised_pages(const unsigned char *block)
{
    unsigned pages = 0;
    for (size_t i = 0; i < n_advised; i++) {
        size_t at = (size_t)(advised[i].at - block);
        assert_int_equal(at % HUGE_PAGE_BYTES, 0);
        assert_int_equal(advised[i].n_bytes, HUGE_PAGE_BYTES);
        pages |= 1U << at / HUGE_PAGE_BYTES;
    }
    return pages;
}

static unsigned pages_of_size(size_t size_bytes)
{
    n_advised = 0;
    void *block = huge_alloc(size_bytes);
    assert_non_null(block);
    unsigned pages = advised_pages(block);
    free(block);
    return pages;
}

/* A last page of which less than half is used stays an ordinary one. */
static void asks_for_pages_that_are_used(void **state)
{
    (void)state;
    assert_int_equal(pages_of_size(4096), 0);
    assert_int_equal(pages_of_size(HUGE_PAGE_BYTES - 1), 0);
    assert_int_equal(pages_of_size(HUGE_PAGE_BYTES), 1);
    assert_int_equal(pages_of_size(4 * HUGE_PAGE_BYTES + 4096), 15);
    assert_int_equal(pages_of_size(4 * HUGE_PAGE_BYTES + HUGE_PAGE_BYTES / 2 - 1), 15);
    assert_int_equal(pages_of_size(4 * HUGE_PAGE_BYTES + HUGE_PAGE_BYTES / 2), 31);
}

static unsigned pages_of_range(size_t begin, size_t end, size_t min_bytes)
{
    static unsigned char block[4];
    n_advised = 0;
    huge_advise(block, begin, end, min_bytes);
    return advised_pages(block);
}

static void asks_for_the_pages_of_a_range(void **state)
{
    const size_t page = HUGE_PAGE_BYTES;
    (void)state;
    assert_int_equal(pages_of_range(0, 0, 1), 0);
    assert_int_equal(pages_of_range(100, 200, 100), 1);
    assert_int_equal(pages_of_range(100, 200, 101), 0);
    assert_int_equal(pages_of_range(page - 100, page + 200, 1), 3);
    assert_int_equal(pages_of_range(page - 100, page + 200, 101), 2);
    assert_int_equal(pages_of_range(page - 100, page + 200, 201), 0);
    assert_int_equal(pages_of_range(2 * page, 4 * page, page), 12);
}

static void assert_size(size_t min_bytes, size_t preferred_bytes, size_t wanted)
{
    struct irrun_error err;
    size_t size_bytes = 77;
    n_advised = 0;
    void *data = huge_alloc_at_least(0, min_bytes, preferred_bytes, &size_bytes, &err);
    assert_int_equal(data ? size_bytes : 0, wanted);
    assert_int_equal(err.code, data ? IRRUN_OK : IRRUN_SYSTEM);
    free(data);
}

static void allocates_the_preferred_size_if_memory_suffices(void **state)
{
    (void)state;
    memory_limit_lower(80000000);
    assert_size(1000, 0, 1000);
    assert_size(1000, 2000, 2000);
    assert_size(6000000, 10000000, 10000000);
    assert_size(6000000, 10000001, 6000000);
    assert_size(70000000, 140000000, 70000000);
    assert_size(90000000, 0, 0);
    refused_from = 7000000;
    assert_size(5000000, 9000000, 5000000);
    assert_size(8000000, 9000000, 0);
    refused_from = SIZE_MAX;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocates_aligned_memory),
        cmocka_unit_test(reserves_whole_lines_and_pages),
        cmocka_unit_test(asks_for_pages_that_are_used),
        cmocka_unit_test(asks_for_the_pages_of_a_range),
        cmocka_unit_test(allocates_the_preferred_size_if_memory_suffices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
