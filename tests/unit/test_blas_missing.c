/* kernels/blas if no library can be loaded: CBLAS is refused, and the other choices work.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=dlopen */
#include "unit.h"

#include <string.h>

#include "kernels/blas.h"
#include "kernels/kernels.h"

static int n_loads;

void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
    (void)name, (void)flags;
    n_loads++;
    return NULL;
}

static void small_products_do_not_load_blas(void **state)
{
    (void)state;
    struct irrun_error err;
    struct kernels kernels;
    error_clear(&err);
    assert_true(kernels_choose(&kernels, IRRUN_GEMM_AUTO, NULL, &err));
    assert_ptr_equal(kernels_gemm_f32(&kernels, 2, 2, 2), gemm_plain_f32);
    assert_true(kernels_choose(&kernels, IRRUN_GEMM_PLAIN, NULL, &err));
    assert_ptr_equal(kernels_gemm_f32(&kernels, 512, 512, 512), gemm_plain_f32);
    assert_int_equal(n_loads, 0);
}

static void auto_works_without_blas(void **state)
{
    (void)state;
    struct irrun_error err;
    struct kernels kernels;
    float a[] = {2}, c[] = {0};
    error_clear(&err);
    assert_true(kernels_choose(&kernels, IRRUN_GEMM_AUTO, NULL, &err));
    assert_ptr_equal(kernels_gemm_f32(&kernels, 512, 512, 512), gemm_plain_f32);
    assert_int_equal(n_loads, 1);
    assert_string_equal(blas_identity(), "none");
    assert_false(blas_is_fast());
    gemm_cblas_f32(&(struct gemm_f32){
        .m = 1, .n = 1, .k = 1, .a = a, .lda = 1, .b = a, .ldb = 1, .c = c, .ldc = 1});
    assert_true(c[0] == 4);
}

static void cblas_is_refused(void **state)
{
    (void)state;
    struct irrun_error err;
    struct kernels kernels;
    error_clear(&err);
    assert_false(kernels_choose(&kernels, IRRUN_GEMM_CBLAS, NULL, &err));
    assert_int_equal(err.code, IRRUN_SYSTEM);
    assert_non_null(strstr(err.message, "cannot load CBLAS"));
    assert_non_null(strstr(err.hint, "--gemm"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_products_do_not_load_blas),
        cmocka_unit_test(auto_works_without_blas),
        cmocka_unit_test(cblas_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
