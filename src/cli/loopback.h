/* --feed: outputs of an iteration that become inputs of the next.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_LOOPBACK_H
#define IRRUN_CLI_LOOPBACK_H

#include "cli/inputs.h"

struct loop {
    size_t output, input;
};

/* All zero = none. */
struct loopback {
    struct loop *loops;
    size_t n;
};

bool loopback_new(struct loopback *loopback, const struct irrun_model *model,
                  const struct options *options, struct irrun_error *err);
void loopback_free(struct loopback *loopback);

/* Between two iterations: gives the values on. IRRUN_DATA if an input does not take its output. */
bool loopback_give(const struct loopback *loopback, const struct irrun_tensor *const *values,
                   struct inputs *inputs, struct irrun_session *session, struct irrun_error *err);

#endif
