/* The recurrent engine with packed weights and with weights in place, at every level of this CPU,
 * against the formulas. Dividing a sequence, the number of runs and f16 weights must not change the
 * bits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "kernels/cpu.h"
#include "kernels/kernels.h"
#include "kernels/thread_pool.h"
#include "recurrent_problem.h"
#include "tensor/half.h"

static struct recurrent_f32 pack_for(const struct problem *problem, enum simd simd,
                                     uint16_t *const f16[2])
{
    return pack(problem, engine_of(&problem->common, simd, NULL), f16);
}

/* Solves the problem with packed weights, and with weights in place. */
static void check_problem(struct problem *problem, double limit)
{
    solve(problem);
    for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++) {
        if (!simd_is_supported(simd))
            continue;
        struct kernels kernels;
        kernels_fill(&kernels, simd);
        run_f32(problem, simd, NULL);
        assert_small(problem, simd_name(simd), difference_f32(problem), limit);
        run_f32(problem, simd, kernels.gemm_rows);
        assert_small(problem, simd_name(simd), difference_f32(problem), limit);
    }
    problem_free(problem);
}

static void stays_within_a_millionth_of_the_formulas(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 100, 128};
    enum { N_SIZES = sizeof sizes / sizeof sizes[0] };
    random_state = 30;
    for (int kind = RECURRENT_RNN; kind <= RECURRENT_LSTM; kind++) {
        for (size_t i = 0; i < N_SIZES; i++) {
            size_t t = 1 + next_below(50), b = 1 + next_below(15);
            struct problem problem = problem_new((enum recurrent_kind)kind, b, t,
                                                 sizes[(i * 5 + 3) % N_SIZES], sizes[i], true);
            check_problem(&problem, 1e-6);
        }
    }
}

/* Relu lets values grow, and clip amplifies rounding: the tolerance is larger. */
static void obeys_every_rule(void **state)
{
    (void)state;
    random_state = 32;
    for (int i = 0; i < 300; i++) {
        size_t h = 1 + next_below(40), n_inputs = next_below(20);
        size_t t = 1 + next_below(8), b = 1 + next_below(5);
        struct problem problem =
            problem_new((enum recurrent_kind)(i % 3), b, t, n_inputs, h, false);
        check_problem(&problem, 5e-6);
    }
}

static void crosses_chunks(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{1, 95}, {1, 96}, {1, 97}, {1, 200}, {5, 40},
                                       {48, 5}, {49, 5}, {96, 3}, {97, 3},  {130, 2}};
    random_state = 33;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (int kind = RECURRENT_RNN; kind <= RECURRENT_LSTM; kind++) {
            struct problem problem =
                problem_new((enum recurrent_kind)kind, shapes[i][0], shapes[i][1], 5, 6, true);
            check_problem(&problem, 1e-6);
        }
    }
}

static void copy_results(const struct problem *problem, float *results[3])
{
    for (int part = Y; part <= CO; part++) {
        results[part - Y] = allocate(problem->n[part], sizeof(float));
        memcpy(results[part - Y], problem->f32[part], problem->n[part] * sizeof(float));
    }
}

static void assert_same_bytes(const struct problem *problem, float *results[3])
{
    int last = problem->common.kind == RECURRENT_LSTM ? CO : HO;
    for (int part = Y; part <= last; part++)
        assert_memory_equal(results[part - Y], problem->f32[part],
                            problem->n[part] * sizeof(float));
}

static void free_results(float *results[3])
{
    for (int i = 0; i < 3; i++)
        free(results[i]);
}

static void round_weights(struct problem *problem, uint16_t *f16[2])
{
    for (int part = W; part <= R; part++) {
        f16[part - W] = allocate(problem->n[part], sizeof(uint16_t));
        for (size_t i = 0; i < problem->n[part]; i++) {
            f16[part - W][i] = f16_from_f32(problem->f32[part][i]);
            put(problem, (enum part)part, i, (double)f16_to_f32(f16[part - W][i]));
        }
    }
}

static void gives_the_same_bytes_for_f16_and_for_any_number_of_runs(void **state)
{
    (void)state;
    random_state = 34;
    for (int i = 0; i < 60; i++) {
        size_t h = 1 + next_below(70), n_inputs = 1 + next_below(40), b = 1 + next_below(14);
        struct problem problem =
            problem_new((enum recurrent_kind)(i % 3), b, 20, n_inputs, h, i % 2);
        uint16_t *f16[2];
        float *results[3];
        round_weights(&problem, f16);
        for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++) {
            if (!simd_is_supported(simd))
                continue;
            struct recurrent_f32 packed = pack_for(&problem, simd, NULL);
            struct recurrent_f32 half = pack_for(&problem, simd, f16);
            run_packed(&problem, &packed, 0, NULL);
            copy_results(&problem, results);
            run_packed(&problem, &packed, 1, NULL);
            assert_same_bytes(&problem, results);
            run_packed(&problem, &half, 2, NULL);
            assert_same_bytes(&problem, results);
            free_results(results);
            engine_free(&packed);
            engine_free(&half);
        }
        free(f16[0]);
        free(f16[1]);
        problem_free(&problem);
    }
}

/* A hundred steps of 1024 units: errors accumulate over both. */
static void long_sequences_of_many_units_stay_within_a_millionth(void **state)
{
    (void)state;
    random_state = 31;
    for (int kind = RECURRENT_RNN; kind <= RECURRENT_LSTM; kind++) {
        struct problem problem = problem_new((enum recurrent_kind)kind, 1, 100, 64, 1024, true);
        uint16_t *f16[2];
        float *results[3];
        round_weights(&problem, f16);
        solve(&problem);
        for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++) {
            if (!simd_is_supported(simd))
                continue;
            struct recurrent_f32 packed = pack_for(&problem, simd, NULL);
            struct recurrent_f32 half = pack_for(&problem, simd, f16);
            run_packed(&problem, &packed, 0, NULL);
            assert_small(&problem, simd_name(simd), difference_f32(&problem), 1e-6);
            copy_results(&problem, results);
            run_packed(&problem, &half, 1, NULL);
            assert_same_bytes(&problem, results);
            free_results(results);
            engine_free(&packed);
            engine_free(&half);
        }
        free(f16[0]);
        free(f16[1]);
        problem_free(&problem);
    }
}

/* Runs a forward problem in pieces, each of which starts from the state of the previous one. */
static void run_in_pieces(struct problem *problem, enum simd simd, size_t piece, float *y)
{
    struct recurrent whole = problem->common;
    size_t h = whole.hidden_size;
    struct recurrent_f32_tensors tensors = tensors_of(problem);
    memcpy(tensors.ho, tensors.h0, h * sizeof(float));
    if (tensors.co)
        memcpy(tensors.co, tensors.c0, h * sizeof(float));
    tensors.h0 = tensors.ho;
    tensors.c0 = tensors.co;
    tensors.lengths = NULL;
    for (size_t t = 0; t < whole.n_steps; t += piece) {
        problem->common.n_steps = whole.n_steps - t < piece ? whole.n_steps - t : piece;
        struct recurrent_f32 packed = pack_for(problem, simd, NULL);
        tensors.x = problem->f32[X] + t * whole.input_size;
        tensors.y = y + t * h;
        engine_run(&packed, &tensors, 0, NULL);
        engine_free(&packed);
    }
    problem->common = whole;
}

static void gives_the_same_bytes_for_a_sequence_cut_in_pieces(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 2, 7, 64, 97};
    random_state = 35;
    for (int i = 0; i < 30; i++) {
        size_t h = 1 + next_below(70), n_inputs = 1 + next_below(40);
        struct problem problem =
            problem_new((enum recurrent_kind)(i % 3), 1, 100, n_inputs, h, i % 2);
        problem.common.n_directions = 1;
        problem.common.is_reverse = false;
        problem.lengths[0] = 100;
        float *y = allocate(problem.n[Y], sizeof(float));
        for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++) {
            if (!simd_is_supported(simd))
                continue;
            size_t n = 100 * problem.common.hidden_size;
            struct recurrent_f32 packed = pack_for(&problem, simd, NULL);
            run_packed(&problem, &packed, 0, NULL);
            engine_free(&packed);
            run_in_pieces(&problem, simd, pieces[i % 5], y);
            assert_memory_equal(y, problem.f32[Y], n * sizeof(float));
        }
        free(y);
        problem_free(&problem);
    }
}

/* Hidden sizes from 160 on, for which threads share the panels. */
static void gives_the_same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
    struct irrun_error err;
    random_state = 36;
    for (unsigned n_threads = 2; n_threads <= 5; n_threads++) {
        struct thread_pool *pool = thread_pool_new(n_threads, &err);
        assert_non_null(pool);
        for (int i = 0; i < 9; i++) {
            enum recurrent_kind kind = (enum recurrent_kind)(i % 3);
            size_t h = (kind == RECURRENT_RNN ? 330 : 160) + next_below(40);
            size_t n_inputs = 1 + next_below(90), t = 1 + next_below(12), b = 1 + next_below(3);
            struct problem problem = problem_new(kind, b, t, n_inputs, h, i % 2);
            float *results[3];
            struct kernels kernels;
            kernels_fill(&kernels, simd_best());
            gemm_f32_fn *const gemms[] = {NULL, gemm_plain_f32, NULL, kernels.gemm_rows};
            struct recurrent_f32 engine = engine_of(&problem.common, simd_best(), gemms[i % 4]);
            struct recurrent_f32 one = pack(&problem, engine, NULL);
            engine.n_threads = n_threads;
            struct recurrent_f32 many = pack(&problem, engine, NULL);
            assert_true(many.is_shared || (many.has_one_panel && problem.common.n_directions == 1));
            run_packed(&problem, &one, 0, NULL);
            copy_results(&problem, results);
            run_packed(&problem, &many, (unsigned)i, pool);
            assert_same_bytes(&problem, results);
            free_results(results);
            engine_free(&one);
            engine_free(&many);
            problem_free(&problem);
        }
        thread_pool_free(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_within_a_millionth_of_the_formulas),
        cmocka_unit_test(long_sequences_of_many_units_stay_within_a_millionth),
        cmocka_unit_test(obeys_every_rule),
        cmocka_unit_test(crosses_chunks),
        cmocka_unit_test(gives_the_same_bytes_for_f16_and_for_any_number_of_runs),
        cmocka_unit_test(gives_the_same_bytes_for_a_sequence_cut_in_pieces),
        cmocka_unit_test(gives_the_same_bytes_for_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
