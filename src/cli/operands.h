/* The operands of the command line: the model and its weights, with hints for common mistakes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_OPERANDS_H
#define IRRUN_CLI_OPERANDS_H

#include "cli/options.h"

/* Takes the n operands. next_words: for each option that was given without a value, the word after
 * it, or NULL. Fails with IRRUN_USAGE. */
bool operands_take(struct options *options, char *const next_words[N_OPTIONS], int n, char **words,
                   struct irrun_error *err);

#endif
