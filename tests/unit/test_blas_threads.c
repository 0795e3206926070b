/* kernels/blas: the threads of a BLAS are not changed before blas_limit_to_one_thread.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=dlsym */
#include "unit.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/blas.h"

static int n_calls;
static bool is_replaced; /* not before main, when a sanitizer calls dlsym for its own functions */

static void set_num_threads(int n)
{
    n_calls += n == 1;
}

void *__real_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name);

/* Any BLAS appears to have the function of OpenBLAS. */
__attribute__((no_sanitize_address)) void *__wrap_dlsym(void *handle, const char *name)
{
    void (*function)(int) = set_num_threads;
    void *address;
    if (!is_replaced || strcmp(name, "openblas_set_num_threads") != 0)
        return __real_dlsym(handle, name);
    memcpy(&address, &function, sizeof address);
    return address;
}

static bool load(void)
{
    struct irrun_error err;
    error_clear(&err);
    return blas_load(&err);
}

/* Calls is_right in a child process, because a process loads a BLAS only once. */
static void assert_in_child(bool (*is_right)(void))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(is_right() ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static bool loads_with_unchanged_threads(void)
{
    return load() && n_calls == 0;
}

static bool limits_a_loaded_blas(void)
{
    bool is_loaded = load();
    blas_limit_to_one_thread();
    blas_limit_to_one_thread();
    return is_loaded && n_calls == 1;
}

static bool limits_a_blas_loaded_later(void)
{
    blas_limit_to_one_thread();
    return n_calls == 0 && load() && n_calls == 1;
}

static void threads_are_left_alone_until_asked(void **state)
{
    (void)state;
    assert_in_child(loads_with_unchanged_threads);
}

static void one_thread_before_and_after_loading(void **state)
{
    (void)state;
    assert_in_child(limits_a_loaded_blas);
    assert_in_child(limits_a_blas_loaded_later);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_left_alone_until_asked),
        cmocka_unit_test(one_thread_before_and_after_loading),
    };
    is_replaced = true;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
