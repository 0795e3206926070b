/* The library as an outsider uses it: a running sum over five numbers, a reset, a value put into
 * the variable.
 * SPDX-License-Identifier: Apache-2.0 */
#include <irrun.h>
#include <stdio.h>

static int complain(const struct irrun_error *err)
{
    if (err->file[0])
        fprintf(stderr, "%s:", err->file);
    if (err->line > 0)
        fprintf(stderr, "%u:%u:", (unsigned)err->line, (unsigned)err->column);
    fprintf(stderr, "%s%s\n", err->file[0] ? " " : "", err->message);
    if (err->hint[0])
        fprintf(stderr, "  hint: %s\n", err->hint);
    return 1;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "tests/api/running_sum.xml";
    static const float expected[] = {1, 3, 6, 4, 9};
    struct irrun_model *model;
    struct irrun_session *session;
    struct irrun_error err;
    float x = 0, start = 100;
    struct irrun_tensor in = {IRRUN_F32, {2, {1, 1}}, &x};
    struct irrun_tensor state = {IRRUN_F32, {2, {1, 1}}, &start};
    size_t input, output;

    if (!irrun_model_load(path, NULL, &model, &err) ||
        !irrun_model_find_input(model, "x", &input, &err) ||
        !irrun_model_find_output(model, "sum", &output, &err) ||
        !irrun_session_new(model, &session, &err) ||
        !irrun_session_set_input(session, input, &in, &err))
        return complain(&err);
    for (int i = 0; i < 5; i++) {
        if (i == 3)
            irrun_session_reset(session);
        x = (float)(i + 1);
        if (!irrun_session_run(session, &err))
            return complain(&err);
        float sum = *(const float *)irrun_session_output(session, output)->data;
        if (sum != expected[i]) {
            fprintf(stderr, "iteration %d: %g, expected %g\n", i, (double)sum, (double)expected[i]);
            return 1;
        }
        printf("%g\n", (double)sum);
    }
    if (!irrun_session_set_variable(session, 0, &state, &err) || !irrun_session_run(session, &err))
        return complain(&err);
    float sum = *(const float *)irrun_session_variable(session, 0)->data;
    irrun_session_free(session);
    irrun_model_free(model);
    return sum == 105 ? 0 : 1;
}
