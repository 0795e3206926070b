/* tensor/broadcast: merged loops, and every element visited once with the right operands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/broadcast.h"

#define SHAPE(...)                                                                                 \
    shape_of(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

/* Returns the offset of an operand for element i of the output, computed dimension by dimension. */
static int64_t offset_by_definition(const struct irrun_shape *output,
                                    const struct irrun_shape *shape, int64_t i)
{
    int64_t offset = 0, stride = 1;
    for (uint32_t k = 0; k < output->rank; k++) {
        uint32_t axis = output->rank - 1 - k;
        int64_t at = i % output->dims[axis];
        i /= output->dims[axis];
        if (k >= shape->rank)
            continue;
        int64_t dim = shape->dims[shape->rank - 1 - k];
        offset += dim == 1 ? 0 : at * stride;
        stride *= dim;
    }
    return offset;
}

static struct arena arena;

static int free_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void plan_loops(struct broadcast *plan, uint32_t n_operands,
                       const struct irrun_shape *const *shapes)
{
    struct irrun_error err;
    error_clear(&err);
    assert_true(broadcast_plan(plan, n_operands, shapes, &arena, &err));
}

struct walk {
    const struct broadcast *plan;
    const struct irrun_shape *const *shapes;
    int64_t n_visited;
    int64_t stop_after;
};

static bool check_run(void *context, const int64_t *offsets, size_t n)
{
    struct walk *walk = context;
    const struct broadcast *plan = walk->plan;
    for (int64_t i = 0; i < (int64_t)n; i++) {
        int64_t element = walk->n_visited + i;
        for (uint32_t k = 0; k < plan->n_operands; k++)
            assert_int_equal(offsets[k] + i * plan->inner_strides[k],
                             offset_by_definition(walk->shapes[0], walk->shapes[k], element));
    }
    walk->n_visited += (int64_t)n;
    return walk->n_visited != walk->stop_after;
}

/* Checks that the runs cover the output in order: each begins where the previous one ended. */
static void assert_covers(uint32_t n_operands, const struct irrun_shape *const *shapes)
{
    struct broadcast plan;
    plan_loops(&plan, n_operands, shapes);
    struct walk walk = {&plan, shapes, 0, -1};
    assert_true(broadcast_walk(&plan, check_run, &walk));
    assert_int_equal(walk.n_visited, shape_n_elements(shapes[0]));
    assert_int_equal(plan.inner_strides[0], 1);
    for (uint32_t k = 0; k < n_operands; k++)
        assert_in_range(plan.inner_strides[k], 0, 1);

    /* No two neighbouring loops could be merged. */
    for (uint32_t i = 0; i < plan.rank; i++) {
        bool is_merged = true;
        for (uint32_t k = 0; k < n_operands; k++) {
            bool is_last = i + 1 == plan.rank;
            int64_t inside = is_last ? plan.inner_strides[k] * plan.n_inner
                                     : plan.loops[i + 1].strides[k] * plan.loops[i + 1].n;
            is_merged = is_merged && plan.loops[i].strides[k] == inside;
        }
        assert_false(is_merged);
        assert_true(plan.loops[i].n > 1);
    }
}

/* Three operands, each with every choice of dimensions of 1 and of missing leading ones. */
static void visits_every_element_with_its_operands(void **state)
{
    (void)state;
    static const int64_t outputs[][4] = {{2, 3, 4, 5}, {2, 1, 3, 2}, {1, 1, 4, 1}, {1, 1, 1, 1}};
    for (size_t o = 0; o < 4; o++) {
        struct irrun_shape output = shape_of(4, outputs[o]);
        for (unsigned choice = 0; choice < 256; choice++) {
            struct irrun_shape a = output, b = output;
            for (uint32_t i = 0; i < 4; i++) {
                if (choice >> i & 1)
                    a.dims[i] = 1;
                if (choice >> (4 + i) & 1)
                    b.dims[i] = 1;
            }
            for (uint32_t n_missing = 0; n_missing <= 4; n_missing++) {
                struct irrun_shape c = shape_of(4 - n_missing, output.dims + n_missing);
                const struct irrun_shape *shapes[] = {&output, &a, &b, &c};
                assert_covers(4, shapes);
            }
        }
    }
}

static void same_shapes_are_one_run(void **state)
{
    (void)state;
    struct irrun_shape shape = SHAPE(2, 3, 4), other = SHAPE(3, 4);
    const struct irrun_shape *shapes[] = {&shape, &shape, &shape};
    struct broadcast plan;
    plan_loops(&plan, 3, shapes);
    assert_int_equal(plan.rank, 0);
    assert_int_equal(plan.n_inner, 24);
    for (int k = 0; k < 3; k++)
        assert_int_equal(plan.inner_strides[k], 1);

    shapes[1] = &other;
    plan_loops(&plan, 2, shapes);
    assert_int_equal(plan.rank, 1);
    assert_int_equal(plan.loops[0].n, 2);
    assert_int_equal(plan.n_inner, 12);
    assert_int_equal(plan.loops[0].strides[0], 12);
    assert_int_equal(plan.loops[0].strides[1], 0);
}

static void scalar_operand_has_stride_0(void **state)
{
    (void)state;
    struct irrun_shape shape = SHAPE(2, 3, 4), scalar = {.rank = 0}, ones = SHAPE(1, 1);
    const struct irrun_shape *shapes[] = {&shape, &scalar, &ones, &shape};
    struct broadcast plan;
    plan_loops(&plan, 4, shapes);
    assert_int_equal(plan.rank, 0);
    assert_int_equal(plan.n_inner, 24);
    assert_int_equal(plan.inner_strides[1], 0);
    assert_int_equal(plan.inner_strides[2], 0);
    assert_int_equal(plan.inner_strides[3], 1);
}

static void one_element_is_one_run(void **state)
{
    (void)state;
    struct irrun_shape scalar = {.rank = 0}, ones = SHAPE(1, 1, 1);
    const struct irrun_shape *shapes[] = {&scalar, &scalar};
    assert_covers(2, shapes);
    shapes[0] = &ones;
    assert_covers(2, shapes);
}

static bool refuse(void *context, const int64_t *offsets, size_t n)
{
    (void)context;
    (void)offsets;
    (void)n;
    return false;
}

static void empty_output_is_never_visited(void **state)
{
    (void)state;
    struct irrun_shape output = SHAPE(3, 0, 2), row = SHAPE(2), one = SHAPE(1, 1);
    const struct irrun_shape *shapes[] = {&output, &row, &one};
    struct broadcast plan;
    plan_loops(&plan, 3, shapes);
    assert_int_equal(plan.n_inner, 0);
    assert_true(broadcast_walk(&plan, refuse, NULL));
}

static void stops_when_a_visit_returns_false(void **state)
{
    (void)state;
    struct irrun_shape output = SHAPE(3, 2, 5), column = SHAPE(3, 1, 5);
    const struct irrun_shape *shapes[] = {&output, &column};
    struct broadcast plan;
    plan_loops(&plan, 2, shapes);
    struct walk walk = {&plan, shapes, 0, 10};
    assert_false(broadcast_walk(&plan, check_run, &walk));
    assert_int_equal(walk.n_visited, 10);
}

/* Visits units one by one and in pairs, of one loop and of two. The last unit of the innermost loop
 * has fewer elements. */
static void units_cover_the_output(void **state)
{
    (void)state;
    struct irrun_shape rows = SHAPE(5, 70), row = SHAPE(70), column = SHAPE(5, 1);
    const struct irrun_shape *walks[][2] = {{&rows, &rows}, {&rows, &row}, {&rows, &column}};
    for (size_t i = 0; i < 3; i++)
        for (size_t step = 1; step <= 2; step++) {
            struct broadcast plan;
            plan_loops(&plan, 2, walks[i]);
            struct walk walk = {&plan, walks[i], 0, -1};
            size_t n = broadcast_n_units(&plan);
            assert_int_equal(n, i == 0 ? 6 : 5);
            for (size_t at = 0; at < n; at += step)
                assert_true(broadcast_walk_units(&plan, at, at + step < n ? at + step : n,
                                                 check_run, &walk));
            assert_int_equal(walk.n_visited, 350);
        }
}

static void takes_the_largest_rank(void **state)
{
    (void)state;
    struct irrun_shape output = {.rank = IRRUN_MAX_RANK}, other = {.rank = IRRUN_MAX_RANK};
    for (uint32_t i = 0; i < IRRUN_MAX_RANK; i++) {
        output.dims[i] = 2;
        other.dims[i] = i % 2 ? 2 : 1;
    }
    const struct irrun_shape *shapes[] = {&output, &other};
    assert_covers(2, shapes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_every_element_with_its_operands),
        cmocka_unit_test(same_shapes_are_one_run),
        cmocka_unit_test(scalar_operand_has_stride_0),
        cmocka_unit_test(one_element_is_one_run),
        cmocka_unit_test(empty_output_is_never_visited),
        cmocka_unit_test(stops_when_a_visit_returns_false),
        cmocka_unit_test(units_cover_the_output),
        cmocka_unit_test(takes_the_largest_rank),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
