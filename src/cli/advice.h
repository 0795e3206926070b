/* What is there instead of a file that cannot be opened.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_ADVICE_H
#define IRRUN_CLI_ADVICE_H

#include "cli/options.h"

/* Adds a hint to an error about an input, if it has none and there is a file that may have been
 * meant. */
void advise(const struct options *options, struct irrun_error *err);

#endif
