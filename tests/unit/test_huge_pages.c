/* base/huge_pages: what is handed out is aligned and whole, and lies in large pages where there are such.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge_pages.h"

static void is_aligned_and_whole(void **state)
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
        void *data = huge_alloc(sizes[i]);
        assert_non_null(data);
        assert_int_equal((uintptr_t)data % alignment, 0);
        memset(data, 1, sizes[i]);
        free(data);
    }
    assert_null(huge_alloc(SIZE_MAX));
    assert_null(huge_alloc(SIZE_MAX - HUGE_PAGE_BYTES));
}

/* KB of this process in large pages; -1 if the kernel does not say. */
static long huge_kb(void)
{
    long kb = -1;
    char line[256];
    FILE *rollup = fopen("/proc/self/smaps_rollup", "r");
    while (rollup && kb < 0 && fgets(line, sizeof line, rollup))
        if (sscanf(line, "AnonHugePages: %ld", &kb) != 1)
            kb = -1;
    if (rollup)
        fclose(rollup);
    return kb;
}

static bool has_huge_pages(void)
{
    char words[64] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    bool is_read = file && fgets(words, sizeof words, file);
    if (file)
        fclose(file);
    return is_read && !strstr(words, "[never]") && huge_kb() >= 0;
}

/* A last page that is hardly used stays ordinary. What the kernel has no large page for is ordinary too, so that
 * only too many of them are wrong. */
static void asks_for_pages_that_are_used(void **state)
{
    (void)state;
    if (!has_huge_pages())
        return;
    long before = huge_kb();
    size_t size_bytes = 4 * HUGE_PAGE_BYTES + 4096;
    unsigned char *data = huge_alloc(size_bytes);
    assert_non_null(data);
    memset(data, 1, size_bytes);
    assert_in_range(huge_kb() - before, 0, 4 * (long)(HUGE_PAGE_BYTES >> 10));
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_aligned_and_whole),
        cmocka_unit_test(asks_for_pages_that_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
