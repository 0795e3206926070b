/* A sequence: records that belong together and share the variables.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SEQUENCE_H
#define IRRUN_CLI_SEQUENCE_H

#include "cli/options.h"

struct sequence {
    const char *key; /* what text output and ark call it, and %k in names */
    const struct binding *inputs;
    size_t n_inputs;
};

/* The one sequence that -i and --random on the command line make; its key lives in `arena`. */
bool sequence_of_command_line(const struct options *options, struct arena *arena,
                              struct sequence *sequence, struct irrun_error *err);

#endif
