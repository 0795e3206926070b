/* ops/infer: the shape of an output.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "ops/op.h"

static struct irrun_tensor out;
static struct infer infer = {.out = &out, .n_outputs = 1};

/* Dimensions beyond the rank have values of another shape. */
static void test_dimensions_beyond_the_rank(void **state)
{
    struct irrun_shape shape = {.rank = 1, .dims = {3, -1, -1, -1, -1, -1, -1, -1}};
    (void)state;
    assert_true(infer_output(&infer, 0, IRRUN_F32, &shape));
    assert_int_equal(out.dtype, IRRUN_F32);
    assert_int_equal(out.shape.rank, 1);
    assert_int_equal(out.shape.dims[0], 3);
    shape.rank = 0;
    assert_true(infer_output(&infer, 0, IRRUN_I64, &shape));
    assert_int_equal(out.shape.rank, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dimensions_beyond_the_rank)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
