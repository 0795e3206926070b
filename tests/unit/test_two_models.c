/* Threads load, plan, run and describe at the same time, each with its own model or with its own
 * session of one model. A build with SANITIZE=thread detects data races; other builds compare the
 * results.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <pthread.h>

#include "case_tree.h"

#define N_ROUNDS 20
#define N_ELEMENTS 10 /* of the model's output */

struct user {
    const struct irrun_build *build;
    struct irrun_error err;
    float output[N_ELEMENTS];
    bool is_fine;
};

/* A model whose element-wise ops are fused. */
static bool run(struct user *user)
{
    struct case_session opened;
    if (!case_open("tests/cli/data/joined.xml", &opened, &user->err))
        return false;
    bool is_fine = irrun_session_run(opened.session, &user->err);
    if (is_fine)
        memcpy(user->output, irrun_session_output(opened.session, 0)->data, sizeof user->output);
    case_close(&opened);
    return is_fine;
}

static void *use(void *context)
{
    struct user *user = context;
    user->is_fine = true;
    for (size_t i = 0; i < N_ROUNDS && user->is_fine; i++) {
        user->build = irrun_build();
        user->is_fine = user->build->compiler && run(user);
    }
    return NULL;
}

static void models_share_nothing(void **state)
{
    struct user users[2] = {0};
    pthread_t threads[2];
    (void)state;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use, &users[i]), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < 2; i++)
        if (!users[i].is_fine)
            fail_test("%s\n", users[i].err.message);
    assert_memory_equal(users[0].output, users[1].output, sizeof users[0].output);
    assert_string_equal(users[0].build->compiler, users[1].build->compiler);
    for (size_t i = 0; i < N_ELEMENTS; i++) /* y = |x * x| + x, x = 1, 0, 0, 1, … */
        assert_true(users[0].output[i] == (i % 3 == 0 ? 2.0F : 0.0F));
}

static void *run_session(void *context)
{
    struct irrun_error err;
    return irrun_session_run(context, &err) ? context : NULL;
}

/* The first run of a session packs the weights of the model. */
static void describes_a_session_while_another_plans(void **state)
{
    struct case_session opened;
    struct irrun_session *other;
    struct irrun_session_info info;
    const struct irrun_layer *layers;
    struct irrun_error err;
    pthread_t thread;
    size_t n_layers;
    void *result;
    (void)state;
    assert_true(case_open("models/speech_watch/model.xml", &opened, &err));
    assert_true(irrun_session_new(opened.model, &other, &err));
    assert_int_equal(pthread_create(&thread, NULL, run_session, opened.session), 0);
    for (size_t i = 0; i < N_ROUNDS; i++)
        irrun_session_describe(other, &info);
    assert_true(irrun_model_list_layers(opened.model, &layers, &n_layers, &err));
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, opened.session);
    irrun_session_describe(other, &info);
    assert_true(info.weights_packed_bytes > 0 && n_layers > 0);
    irrun_session_free(other);
    case_close(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_share_nothing),
        cmocka_unit_test(describes_a_session_while_another_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
