/* Adds hints to errors about files: an existing file with a similar name, a command that downloads
 * a URL or makes a directory, another .bin in the model's directory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_ADVICE_H
#define IRRUN_CLI_ADVICE_H

#include "cli/options.h"

/* Adds a hint, if there is one, to an error about the model, an input or an output. */
void advise(const struct options *options, struct irrun_error *err);

#endif
