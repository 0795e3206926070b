/* Numbers for --random: the same for one seed on every machine.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RANDOM_H
#define IRRUN_CLI_RANDOM_H

#include "cli/feed.h"

bool random_check_names(const struct irrun_model *model, const struct random_list *randoms,
                        struct irrun_error *err);

/* What --random says of input `index`: by name, else for all; NULL if nothing. */
const struct random_spec *random_find(const struct irrun_model *model,
                                      const struct random_list *randoms, size_t index);

/* A record for input `index`; its data is malloc'ed, the caller's. Floats that the type cannot hold
 * are rounded to nearest even; integers and booleans are made from them as Convert does. The
 * numbers of one input do not depend on the others. IRRUN_USAGE if the port has open dimensions. */
bool random_record(const struct random_spec *spec, uint64_t seed, size_t index,
                   const struct feed_port *port, struct irrun_tensor *record,
                   struct irrun_error *err);

#endif
