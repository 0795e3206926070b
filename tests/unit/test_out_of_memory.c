/* Allocation k fails, for k = 1, 2, … until loading, planning and running succeed. Every failure
 * is reported as lack of memory, and nothing leaks (checked in builds with sanitizers).
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
/* link: -Wl,--wrap=aligned_alloc,--wrap=posix_memalign */
#include "unit.h"

#include <errno.h>

#include "case_tree.h"

static size_t n_left; /* allocations until one fails; 0 = none will */
static bool has_failed;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);

static size_t failed_bytes; /* of the last allocation, if it was aligned and failed; otherwise 0 */

static bool is_to_fail(void)
{
    bool is_now = n_left == 1;
    n_left -= n_left > 0;
    has_failed |= is_now;
    failed_bytes = 0;
    return is_now;
}

/* A smaller request directly afterwards fails too, because irrun tries a smaller size itself. */
static bool is_aligned_to_fail(size_t size)
{
    bool is_again = size < failed_bytes, is_now = is_to_fail() || is_again;
    failed_bytes = is_now ? size : 0;
    return is_now;
}

void *__wrap_malloc(size_t size)
{
    return is_to_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return is_to_fail() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return is_to_fail() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return is_aligned_to_fail(size) ? NULL : __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    return is_aligned_to_fail(size) ? ENOMEM : __real_posix_memalign(memory, alignment, size);
}

static bool run_twice(const char *path, struct irrun_error *err)
{
    struct case_session opened;
    if (!case_open(path, &opened, err))
        return false;
    bool is_fine = irrun_session_run(opened.session, err) && irrun_session_run(opened.session, err);
    case_close(&opened);
    return is_fine;
}

static void fails_cleanly(const char *path)
{
    struct irrun_error err;
    for (size_t k = 1;; k++) {
        n_left = k;
        has_failed = false;
        bool is_fine = run_twice(path, &err);
        n_left = 0;
        if (!has_failed) {
            if (!is_fine || k == 1)
                fail_test("%s: %s\n", path, is_fine ? "no allocation was seen" : err.message);
            return;
        }
        if (is_fine || err.code != IRRUN_SYSTEM)
            fail_test("%s: allocation %zu failed, and the result was code %d: %s\n", path, k,
                      (int)err.code, is_fine ? "success" : err.message);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "tests/api/running_sum.xml",
        "tests/cases/read_value_assign/twelve_variables/model.xml",
        "tests/cases/read_value_assign/init_computed/model.xml",
        "tests/cases/read_value_assign/cache_grows/model.xml",
        "tests/cases/read_value_assign/type_f16/model.xml",
        "tests/cases/loop/condition_false_after_first/model.xml",
        "tests/cases/tensor_iterator/two_states_crossed/model.xml",
        "tests/cases/convolution/conv2d/model.xml",
        "tests/cases/group_convolution/depthwise_2d/model.xml",
        "tests/cases/channels_last/factor/model.xml",
        "tests/cases/lstm_sequence/activations_absent/model.xml",
        "tests/cases/int8/border_5x5/model.xml",
        "tests/cases/compressed/convolution_bf16/model.xml",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        fails_cleanly(cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
