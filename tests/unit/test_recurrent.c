/* kernels/recurrent against the formulas of the specification: all kinds, attributes and directions
 * at odd sizes, with unequal lengths and NaN in the padding.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "kernels/cpu.h"
#include "recurrent_problem.h"

static void check_problem(struct problem *problem, double limit)
{
    solve(problem);
    assert_small(problem, "f64", difference_f64(problem), 1e-13 + limit * 1e-7);
    run_f32(problem, SIMD_scalar, gemm_plain_f32);
    assert_small(problem, "f32, plain, scalar", difference_f32(problem), limit);
    run_f32(problem, simd_best(), gemm_plain_f32);
    assert_small(problem, "f32, plain", difference_f32(problem), limit);
    run_f32(problem, simd_best(), gemm_cblas_f32);
    assert_small(problem, "f32, cblas", difference_f32(problem), limit);
    problem_free(problem);
}

static void stays_within_a_millionth_of_the_formulas(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 100, 128};
    enum { N_SIZES = sizeof sizes / sizeof sizes[0] };
    random_state = 20;
    for (int kind = RECURRENT_RNN; kind <= RECURRENT_LSTM; kind++) {
        for (size_t i = 0; i < N_SIZES; i++) {
            size_t input_size = sizes[(i * 5 + 3) % N_SIZES], batch = 1 + next_below(3);
            struct problem problem = problem_new((enum recurrent_kind)kind, batch,
                                                 1 + next_below(50), input_size, sizes[i], true);
            check_problem(&problem, 1e-6);
        }
    }
}

/* Relu lets values grow, and clip amplifies rounding: the tolerance is larger. */
static void follows_all_attributes(void **state)
{
    (void)state;
    random_state = 21;
    for (int i = 0; i < 300; i++) {
        size_t h = 1 + next_below(20), n_inputs = next_below(20);
        size_t t = next_below(9), b = 1 + next_below(5);
        struct problem problem =
            problem_new((enum recurrent_kind)(i % 3), b, t, n_inputs, h, false);
        check_problem(&problem, 5e-6);
    }
}

static void runs_sequences_longer_than_a_chunk(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{1, 95}, {1, 96}, {1, 97}, {1, 200}, {5, 40},
                                       {48, 5}, {49, 5}, {96, 3}, {97, 3},  {130, 2}};
    random_state = 22;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (int kind = RECURRENT_RNN; kind <= RECURRENT_LSTM; kind++) {
            struct problem problem =
                problem_new((enum recurrent_kind)kind, shapes[i][0], shapes[i][1], 5, 6, true);
            check_problem(&problem, 1e-6);
        }
    }
}

/* The bits of a batch element do not depend on the values and lengths of the others. */
static void elements_do_not_influence_each_other(void **state)
{
    (void)state;
    random_state = 23;
    for (int i = 0; i < 30; i++) {
        struct problem problem = problem_new((enum recurrent_kind)(i % 3), 4, 30, 9, 11, i % 2);
        const struct recurrent *c = &problem.common;
        gemm_f32_fn *gemm = i % 4 < 2 ? gemm_plain_f32 : gemm_cblas_f32;
        size_t first = c->n_directions * c->n_steps * c->hidden_size; /* floats of an element */
        size_t one_state = c->n_directions * c->hidden_size;
        float *y = allocate(first, sizeof *y), *ho = allocate(one_state, sizeof *ho);

        problem.lengths[0] = 1 + next_below(c->n_steps);
        run_f32(&problem, simd_best(), gemm);
        memcpy(y, problem.f32[Y], first * sizeof *y);
        memcpy(ho, problem.f32[HO], one_state * sizeof *ho);
        poison(problem.f32[X] + c->n_steps * c->input_size, 3 * c->n_steps * c->input_size);
        poison(problem.f32[H0] + one_state, 3 * one_state);
        poison(problem.f32[C0] + one_state, 3 * one_state);
        for (size_t b = 1; b < 4; b++)
            problem.lengths[b] = next_below(c->n_steps + 1);
        run_f32(&problem, simd_best(), gemm);
        assert_memory_equal(y, problem.f32[Y], first * sizeof *y);
        assert_memory_equal(ho, problem.f32[HO], one_state * sizeof *ho);
        free(y);
        free(ho);
        problem_free(&problem);
    }
}

static double n_multiplications;

static void counting_gemm(const struct gemm_f32 *product)
{
    n_multiplications += (double)product->m * (double)product->n * (double)product->k;
    gemm_plain_f32(product);
}

/* The chosen gemm computes all products, also those of the state. */
static void uses_the_gemm_for_every_product(void **state)
{
    (void)state;
    random_state = 26;
    for (int i = 0; i < 12; i++) {
        size_t h = 1 + next_below(40), t = 1 + next_below(60), batch = 1 + next_below(3);
        struct problem problem = problem_new((enum recurrent_kind)(i % 3), batch, t, 9, h, i % 2);
        const struct recurrent *c = &problem.common;
        struct recurrent_f32 engine = engine_of(c, simd_best(), counting_gemm);
        double columns = (double)(c->n_directions * recurrent_n_gates(c) * c->hidden_size);
        for (size_t b = 0; b < c->batch; b++)
            problem.lengths[b] = c->n_steps;
        engine.has_one_panel = i % 4 < 2;
        engine = pack(&problem, engine, NULL);
        n_multiplications = 0;
        run_packed(&problem, &engine, 0, NULL);
        double expected =
            (double)(c->batch * c->n_steps) * columns * (double)(c->input_size + c->hidden_size);
        assert_true(n_multiplications == expected);
        engine_free(&engine);
        problem_free(&problem);
    }
}

static void a_sequence_of_no_steps_gives_zeros(void **state)
{
    (void)state;
    random_state = 24;
    for (int kind = RECURRENT_RNN; kind <= RECURRENT_LSTM; kind++) {
        struct problem problem = problem_new((enum recurrent_kind)kind, 3, 0, 4, 5, true);
        run_f32(&problem, SIMD_scalar, gemm_plain_f32);
        for (size_t i = 0; i < problem.n[HO]; i++)
            assert_true(problem.f32[HO][i] == 0 && !signbit(problem.f32[HO][i]));
        check_problem(&problem, 0);
    }
}

static void large_arguments_saturate(void **state)
{
    (void)state;
    random_state = 25;
    for (int kind = RECURRENT_RNN; kind <= RECURRENT_LSTM; kind++) {
        struct problem problem = problem_new((enum recurrent_kind)kind, 2, 5, 4, 6, true);
        for (size_t i = 0; i < problem.n[W]; i++)
            put(&problem, W, i, problem.f64[W][i] * 1e6);
        check_problem(&problem, 1e-6);
    }
}

static void scratch_memory_does_not_grow_with_time(void **state)
{
    (void)state;
    struct recurrent common = {.kind = RECURRENT_LSTM,
                               .batch = 2,
                               .n_steps = 1000,
                               .input_size = 64,
                               .hidden_size = 32,
                               .n_directions = 2};
    gemm_f32_fn *const gemms[] = {NULL, gemm_plain_f32};
    for (int i = 0; i < 2; i++) {
        struct recurrent_f32 engine = engine_of(&common, SIMD_scalar, gemms[i]);
        assert_true(recurrent_f32_lay_out(&engine));
        size_t before = engine.scratch_bytes;
        engine.common.n_steps = 1000000000;
        assert_true(recurrent_f32_lay_out(&engine));
        assert_int_equal(engine.scratch_bytes, before);
        engine.common.batch = SIZE_MAX / 64;
        assert_false(recurrent_f32_lay_out(&engine));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_within_a_millionth_of_the_formulas),
        cmocka_unit_test(follows_all_attributes),
        cmocka_unit_test(runs_sequences_longer_than_a_chunk),
        cmocka_unit_test(elements_do_not_influence_each_other),
        cmocka_unit_test(uses_the_gemm_for_every_product),
        cmocka_unit_test(a_sequence_of_no_steps_gives_zeros),
        cmocka_unit_test(large_arguments_saturate),
        cmocka_unit_test(scratch_memory_does_not_grow_with_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
