/* kernels/blas: the BLAS of this machine has a name, and computes in the caller's thread only.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/blas.h"
#include "kernels/kernels.h"

static int count_tasks(void)
{
    DIR *directory = opendir("/proc/self/task");
    int n = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        n += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return n;
}

static void has_a_name(void **state)
{
    (void)state;
    assert_non_null(strchr(blas_identity(), '('));
    if (strncmp(blas_identity(), "reference", 9) == 0)
        assert_false(blas_is_fast());
    if (strncmp(blas_identity(), "OpenBLAS", 8) == 0)
        assert_true(blas_is_fast());
}

static void auto_takes_only_a_fast_one(void **state)
{
    (void)state;
    struct irrun_error err;
    struct kernels kernels;
    error_clear(&err);
    assert_true(kernels_choose(&kernels, IRRUN_GEMM_AUTO, NULL, &err));
    bool takes_cblas = kernels_gemm_f32(&kernels, 512, 512, 512) == gemm_cblas_f32;
    assert_int_equal(takes_cblas, blas_is_fast());
    assert_ptr_equal(kernels_gemm_f32(&kernels, 2, 2, 2), gemm_plain_f32);
    assert_true(kernels_choose(&kernels, IRRUN_GEMM_PACKED, NULL, &err));
    assert_ptr_equal(kernels_gemm_f32(&kernels, 512, 512, 512), gemm_plain_f32);
    assert_true(kernels_choose(&kernels, IRRUN_GEMM_CBLAS, NULL, &err));
    assert_ptr_equal(kernels_gemm_f32(&kernels, 512, 512, 512), gemm_cblas_f32);
    assert_ptr_equal(kernels_gemm_f64(&kernels, 2, 2, 2), gemm_cblas_f64);
}

static void works_in_one_thread(void **state)
{
    (void)state;
    enum { N = 600 };
    blas_limit_to_one_thread();
    static float a[N * N], c[N * N];
    for (size_t i = 0; i < N * N; i++)
        a[i] = 1;
    gemm_cblas_f32(&(struct gemm_f32){
        .m = N, .n = N, .k = N, .a = a, .lda = N, .b = a, .ldb = N, .c = c, .ldc = N});
    assert_true(c[0] == N && c[N * N - 1] == N);
    assert_int_equal(count_tasks(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_a_name),
        cmocka_unit_test(auto_takes_only_a_fast_one),
        cmocka_unit_test(works_in_one_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
