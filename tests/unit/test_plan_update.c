/* A plan that is updated for new shapes gives the same bytes as a new plan, in a new session. Few
 * plans are made while a state grows.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=plan_infer */
#include "unit.h"

#include "ir_text.h"
#include "plan/plan_internal.h"
#include "plan_update_nets.h"
#include "tensor/tensor.h"

#define N_INPUTS_MAX 2
#define N_VARIABLES_MAX 8
#define LONGEST 24
#define BATCHES 3
#define HEADS 2
#define SIZE 16
#define ROWS 3

static size_t n_made; /* plans */

bool __real_plan_infer(struct plan *plan, const struct head *head, struct irrun_error *err);
bool __wrap_plan_infer(struct plan *plan, const struct head *head, struct irrun_error *err);

bool __wrap_plan_infer(struct plan *plan, const struct head *head, struct irrun_error *err)
{
    n_made++;
    return __real_plan_infer(plan, head, err);
}

/* `changed` keeps its plans; `fresh` is a new session in every iteration. */
struct pair {
    struct irrun_model *model;
    struct irrun_session *changed, *fresh;
};

static void load(struct pair *pair, const char *path)
{
    struct irrun_error err;
    struct irrun_options options = {.times_ops = true};
    if (!irrun_model_load(path, &options, &pair->model, &err))
        fail_test("%s:%u: %s\n", path, err.line, err.message);
    assert_true(irrun_session_new(pair->model, &pair->changed, &err));
    pair->fresh = NULL;
}

static void load_text(struct pair *pair, const char *text)
{
    char path[TEXT_PATH_BYTES];
    write_temporary(text, strlen(text), path);
    load(pair, path);
    unlink(path);
}

static void unload(struct pair *pair)
{
    irrun_session_free(pair->changed);
    irrun_session_free(pair->fresh);
    irrun_model_free(pair->model);
}

static void check_equal(const struct irrun_tensor *a, const struct irrun_tensor *b)
{
    assert_true(a && b && a->dtype == b->dtype && shape_equals(&a->shape, &b->shape));
    if (tensor_n_bytes(a) > 0)
        assert_memory_equal(a->data, b->data, tensor_n_bytes(a));
}

/* Replaces `fresh` with a new session that has the same variables. */
static void renew(struct pair *pair)
{
    struct irrun_error err;
    struct irrun_session *next;
    assert_true(irrun_session_new(pair->model, &next, &err));
    for (size_t i = 0; pair->fresh && i < irrun_model_n_variables(pair->model); i++) {
        const struct irrun_tensor *value = irrun_session_variable(pair->fresh, i);
        if (value)
            assert_true(irrun_session_set_variable(next, i, value, &err));
    }
    irrun_session_free(pair->fresh);
    pair->fresh = next;
}

static void run(struct pair *pair, const struct irrun_tensor *in)
{
    struct irrun_error err;
    renew(pair);
    for (size_t i = 0; i < irrun_model_n_inputs(pair->model); i++) {
        assert_true(irrun_session_set_input(pair->changed, i, &in[i], &err));
        assert_true(irrun_session_set_input(pair->fresh, i, &in[i], &err));
    }
    if (!irrun_session_run(pair->changed, &err))
        fail_test("%s\n", err.message);
    assert_true(irrun_session_run(pair->fresh, &err));
    for (size_t i = 0; i < irrun_model_n_outputs(pair->model); i++)
        check_equal(irrun_session_output(pair->changed, i), irrun_session_output(pair->fresh, i));
}

static void check_variables(const struct pair *pair)
{
    for (size_t i = 0; i < irrun_model_n_variables(pair->model); i++)
        check_equal(irrun_session_variable(pair->changed, i),
                    irrun_session_variable(pair->fresh, i));
}

static void reset(struct pair *pair)
{
    irrun_session_reset(pair->changed);
    irrun_session_free(pair->fresh);
    pair->fresh = NULL;
}

/* Runs tokens [n_sequences,length]. They continue sequences n_before - 1 … 0, in this order. */
static void run_tokens(struct pair *pair, int64_t n_before, int64_t n_sequences, int64_t length)
{
    int64_t tokens[BATCHES * LONGEST];
    int32_t order[BATCHES];
    for (int64_t i = 0; i < n_sequences * length; i++)
        tokens[i] = (i * 31 + length * 7) % 97;
    for (int64_t i = 0; i < n_sequences; i++)
        order[i] = (int32_t)(i < n_before ? n_before - 1 - i : 0);
    struct irrun_tensor in[N_INPUTS_MAX] = {{IRRUN_I64, {2, {n_sequences, length}}, tokens},
                                            {IRRUN_I32, {1, {n_sequences}}, order}};
    run(pair, in);
}

static void run_cache(struct pair *pair, int64_t length)
{
    static float x[HEADS * LONGEST * SIZE];
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = (float)((i * 37 + (size_t)length) % 101) / 64 - 0.75f;
    run(pair, &(struct irrun_tensor){IRRUN_F32, {4, {1, HEADS, length, SIZE}}, x});
}

static void few_plans_are_made_for_a_state_that_grows(void **state)
{
    (void)state;
    struct pair pair;
    load(&pair, "models/tiny_transformer/model.xml");
    run_tokens(&pair, 1, 1, 16);
    size_t before = n_made;
    for (int i = 0; i < 200; i++)
        run_tokens(&pair, 1, 1, 1);
    assert_true(n_made - before - 200 < 20); /* new sessions make 200 */
    check_variables(&pair);
    unload(&pair);
}

static void sequences_are_added_dropped_and_reordered(void **state)
{
    (void)state;
    struct pair pair;
    int64_t n_before = 1;
    load(&pair, "models/tiny_transformer/model.xml");
    for (int64_t i = 0; i < 150; i++) {
        if (i % 50 == 49) {
            check_variables(&pair);
            reset(&pair);
        }
        int64_t n = i % 11 < 8 ? n_before : 1 + i * 5 % BATCHES;
        run_tokens(&pair, i % 50 == 49 ? n : n_before, n, i % 7 < 5 ? 1 : 1 + i * 7 % LONGEST);
        n_before = n;
    }
    check_variables(&pair);
    unload(&pair);
}

static void every_record_has_its_own_length(void **state)
{
    (void)state;
    struct pair pair;
    load(&pair, "models/tiny_transformer_stateless/model.xml");
    for (int64_t i = 0; i < 120; i++)
        run_tokens(&pair, 1, i < 60 ? 1 : 1 + i % BATCHES, 1 + i * 7 % LONGEST);
    unload(&pair);
}

static void two_states_grow_in_different_steps(void **state)
{
    (void)state;
    struct pair pair;
    load_text(&pair, caches);
    for (int64_t i = 0; i < 200; i++) {
        if (i % 60 == 59) {
            check_variables(&pair);
            reset(&pair);
        }
        run_cache(&pair, i % 9 < 7 ? 1 : 1 + i * 5 % LONGEST);
    }
    check_variables(&pair);
    unload(&pair);
}

static void an_operand_becomes_smaller_than_the_result(void **state)
{
    (void)state;
    struct pair pair;
    int32_t p[ROWS * LONGEST], q[ROWS * LONGEST];
    load_text(&pair, sums);
    for (int32_t i = 0; i < ROWS * LONGEST; i++) {
        p[i] = 3 * i - 7;
        q[i] = 100 * i + 50;
    }
    for (int64_t i = 0; i < 200; i++) {
        int64_t n = 1 + i * 7 % LONGEST;
        run(&pair, (struct irrun_tensor[]){{IRRUN_I32, {2, {i / 20 % 3 == 0 ? 1 : ROWS, n}}, p},
                                           {IRRUN_I32, {2, {i / 20 % 3 == 2 ? 1 : ROWS, n}}, q}});
    }
    unload(&pair);
}

static void an_operand_of_fused_ops_depends_on_a_shape(void **state)
{
    (void)state;
    struct pair pair;
    float p[2] = {3, 0.5f};
    int32_t elements[LONGEST * LONGEST] = {0};
    load_text(&pair, scaled);
    for (int64_t i = 0; i < 120; i++)
        run(&pair,
            (struct irrun_tensor[]){{IRRUN_F32, {1, {2}}, p},
                                    {IRRUN_I32, {2, {1 + i * 17 % LONGEST, LONGEST}}, elements},
                                    {IRRUN_I32, {2, {i / LONGEST % ROWS, 0}}, elements}});
    unload(&pair);
}

static void constants_are_converted_again(void **state)
{
    (void)state;
    struct pair pair;
    float p[2] = {3, 0.5f};
    int32_t q[LONGEST] = {0};
    load_text(&pair, in_f16);
    for (int64_t n = 1; n <= LONGEST; n++)
        run(&pair, (struct irrun_tensor[]){{IRRUN_F32, {1, {2}}, p}, {IRRUN_I32, {2, {1, n}}, q}});
    unload(&pair);
}

static void views_move_and_become_copies(void **state)
{
    (void)state;
    struct pair pair;
    int32_t x[4 * LONGEST];
    size_t before = n_made;
    load_text(&pair, viewed);
    for (int32_t i = 0; i < 4 * LONGEST; i++)
        x[i] = i;
    for (int64_t i = 0; i < 100; i++)
        run(&pair, &(struct irrun_tensor){IRRUN_I32, {4, {1, 4, 1, LONGEST - i % LONGEST}}, x});
    assert_true(n_made - before - 100 < 20);
    unload(&pair);
}

static void a_state_does_not_exceed_its_bound(void **state)
{
    (void)state;
    struct pair pair;
    struct irrun_error err;
    int32_t elements[2 * (ROWS_MAX + 1)] = {0};
    struct irrun_tensor x = {IRRUN_I32, {2, {0, 2}}, elements};
    load_text(&pair, limited);
    for (; x.shape.dims[0] <= ROWS_MAX; x.shape.dims[0]++)
        run(&pair, &x);
    assert_true(irrun_session_set_input(pair.changed, 0, &x, &err));
    assert_false(irrun_session_run(pair.changed, &err));
    assert_int_equal(err.code, IRRUN_DATA);
    unload(&pair);
}

/* The cache is reset. Its memory has become larger since the plan was made. */
static void a_state_has_more_room_than_before(void **state)
{
    (void)state;
    struct pair pair;
    static float x[HEADS * LONGEST * SIZE], z[LONGEST];
    load_text(&pair, squeezed);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = (float)(i * 37 % 101) / 64 - 0.75f;
    for (int64_t i = 0; i < 120; i++) {
        bool is_long = i % 40 >= 35;
        if (!is_long)
            reset(&pair);
        run(&pair,
            (struct irrun_tensor[]){{IRRUN_F32, {4, {1, HEADS, is_long ? LONGEST : ROWS, SIZE}}, x},
                                    {IRRUN_F32, {1, {1 + i * 7 % LONGEST}}, z}});
    }
    unload(&pair);
}

static void rows_of_a_chain_become_longer(void **state)
{
    (void)state;
    struct pair pair;
    static float x[8 * 64 * 128];
    for (size_t i = 0; i < 8 * 64 * 128; i++)
        x[i] = (float)(i % 251);
    load(&pair, "tests/cases/channels_last/rows_of_width/model.xml");
    for (int64_t i = 0; i < 20; i++)
        run(&pair,
            &(struct irrun_tensor){IRRUN_F32, {4, {1, 8, 64, i < 10 ? 17 + i : 108 + i}}, x});
    unload(&pair);
}

static double count_bytes(const struct irrun_session *session)
{
    struct irrun_error err;
    struct irrun_profile *profile;
    double sum = 0;
    assert_true(irrun_profile_new(&session, 1, &profile, &err));
    for (size_t i = 0; i < profile->n_ops; i++)
        sum += profile->ops[i].bytes;
    irrun_profile_free(profile);
    return sum;
}

static void the_work_follows_the_shapes(void **state)
{
    (void)state;
    struct pair pair;
    uint16_t x[LONGEST] = {0};
    double bytes = 0;
    load_text(&pair, halves);
    for (int64_t i = 0; i < 100; i++) {
        run(&pair, &(struct irrun_tensor){IRRUN_F16, {1, {1 + i * 7 % LONGEST}}, x});
        bytes += count_bytes(pair.fresh);
    }
    assert_true(bytes > 0 && count_bytes(pair.changed) == bytes);
    unload(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_plans_are_made_for_a_state_that_grows),
        cmocka_unit_test(sequences_are_added_dropped_and_reordered),
        cmocka_unit_test(every_record_has_its_own_length),
        cmocka_unit_test(two_states_grow_in_different_steps),
        cmocka_unit_test(an_operand_becomes_smaller_than_the_result),
        cmocka_unit_test(a_state_has_more_room_than_before),
        cmocka_unit_test(rows_of_a_chain_become_longer),
        cmocka_unit_test(the_work_follows_the_shapes),
        cmocka_unit_test(an_operand_of_fused_ops_depends_on_a_shape),
        cmocka_unit_test(constants_are_converted_again),
        cmocka_unit_test(views_move_and_become_copies),
        cmocka_unit_test(a_state_does_not_exceed_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
