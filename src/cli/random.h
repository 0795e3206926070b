/* Numbers for --random: the same for one seed on every machine.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RANDOM_H
#define IRRUN_CLI_RANDOM_H

#include "cli/options.h"

/* Fills a tensor that has memory. `stream` tells the inputs of one run apart: their numbers do not depend
 * on one another. Floats that the type cannot hold are rounded to nearest even; integers and booleans are
 * made from them as Convert does. */
void random_fill(const struct random_spec *spec, uint64_t seed, uint64_t stream,
                 const struct irrun_tensor *tensor);

#endif
