/* Finds the ends of every --feed and moves the values. The first value of an input is inputs.c's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/loopback.h"

#include <stdlib.h>

bool loopback_new(struct loopback *loopback, const struct irrun_model *model,
                  const struct options *options, struct irrun_error *err)
{
    size_t n = options->loops.n;
    *loopback = (struct loopback){.loops = calloc(n + 1, sizeof *loopback->loops)};
    if (!loopback->loops)
        return fail_memory(err, (n + 1) * sizeof *loopback->loops);
    for (; loopback->n < n; loopback->n++) {
        const struct loop_spec *spec = &options->loops.items[loopback->n];
        struct loop *loop = &loopback->loops[loopback->n];
        if (!irrun_model_find_output(model, spec->out, &loop->output, err) ||
            !irrun_model_find_input(model, spec->in, &loop->input, err))
            return false;
        for (size_t i = 0; i < loopback->n; i++) {
            if (loopback->loops[i].input == loop->input)
                return fail(err, IRRUN_USAGE, "--feed is given twice for input \"%s\"", spec->in);
        }
    }
    return true;
}

void loopback_free(struct loopback *loopback)
{
    free(loopback->loops);
    *loopback = (struct loopback){.loops = NULL};
}

bool loopback_give(const struct loopback *loopback, const struct irrun_tensor *const *values,
                   struct inputs *inputs, struct irrun_session *session, struct irrun_error *err)
{
    for (size_t i = 0; i < loopback->n; i++) {
        const struct loop *loop = &loopback->loops[i];
        if (!inputs_set(inputs, session, loop->input, values[loop->output], err))
            return false;
    }
    return true;
}
