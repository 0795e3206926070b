/* The model and its weights on the command line, and what is often taken for them by mistake.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_OPERANDS_H
#define IRRUN_CLI_OPERANDS_H

#include "cli/options.h"

/* Takes the n words that are not options. next_words: for each option that stood without a value
 * the word after it, or NULL. Fails with IRRUN_USAGE. */
bool operands_take(struct options *options, char *const next_words[N_OPTIONS], int n, char **words,
                   struct irrun_error *err);

#endif
