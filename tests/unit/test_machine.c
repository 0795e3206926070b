/* cli/machine.c, compiled as for an unknown architecture.
 * SPDX-License-Identifier: Apache-2.0 */
#undef __SSE__
#undef __aarch64__
#include "../../src/cli/machine.c"

#include "unit.h"

static void keeping_denormals_is_fine(void **state)
{
    struct irrun_error err;
    (void)state;
    error_clear(&err);
    assert_true(machine_check_denormals(false, &err));
    assert_int_equal(err.code, IRRUN_OK);
}

static void flushing_denormals_is_refused(void **state)
{
    struct irrun_error err;
    (void)state;
    error_clear(&err);
    assert_false(machine_check_denormals(true, &err));
    assert_int_equal(err.code, IRRUN_USAGE);
    assert_non_null(strstr(err.message, "--denormals=flush"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeping_denormals_is_fine),
        cmocka_unit_test(flushing_denormals_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
