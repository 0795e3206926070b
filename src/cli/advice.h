/* Hints for a file that cannot be opened: a similar name that exists.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_ADVICE_H
#define IRRUN_CLI_ADVICE_H

#include "cli/options.h"

/* Adds a hint to an error about an input, if it has none and a file exists that the user may have
 * meant. */
void advise(const struct options *options, struct irrun_error *err);

#endif
