/* No case allocates memory in an iteration with the shapes of the previous one. Counts calls of
 * malloc and similar functions.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
/* link: -Wl,--wrap=aligned_alloc,--wrap=posix_memalign */
#include "unit.h"

#include "case_tree.h"

static size_t n_calls;
static size_t n_run, n_changing;

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

void *__wrap_malloc(size_t size)
{
    n_calls++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    n_calls++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    n_calls++;
    return __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    n_calls++;
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    n_calls++;
    return __real_posix_memalign(memory, alignment, size);
}

/* Returns a number that changes when the shape of a variable does. */
static size_t state_size(const struct case_session *opened)
{
    size_t sum = 0;
    for (size_t i = 0; i < irrun_model_n_variables(opened->model); i++) {
        const struct irrun_tensor *value = irrun_session_variable(opened->session, i);
        sum += value ? tensor_n_bytes(value) : 0;
    }
    return sum;
}

static void iterate(const char *path)
{
    struct case_session opened;
    struct irrun_error err;
    if (strstr(path, "/endless") || !case_open(path, &opened, &err))
        return;
    size_t sizes[5], calls[5];
    bool is_fine = true;
    for (int i = 0; i < 5 && is_fine; i++) {
        calls[i] = n_calls;
        is_fine = irrun_session_run(opened.session, &err);
        calls[i] = n_calls - calls[i];
        sizes[i] = state_size(&opened);
    }
    if (is_fine && sizes[1] == sizes[4]) {
        n_run++;
        if (calls[3] + calls[4] != 0)
            fail_test("%s: %zu allocations in the iterations after the third\n", path,
                      calls[3] + calls[4]);
    } else if (is_fine) {
        n_changing++;
    }
    case_close(&opened);
}

static void no_case_allocates_once_its_shapes_are_known(void **state)
{
    (void)state;
    size_t n = case_visit_all(iterate);
    print_message("# %zu models, %zu run, %zu with a growing state\n", n, n_run, n_changing);
    assert_true(n_run > n / 2);
    assert_true(n_changing > 0);
    assert_true(n_calls > 0); /* the functions above were called */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_case_allocates_once_its_shapes_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
