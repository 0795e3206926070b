/* Knows the inputs that exported text-generation models have beside their tokens.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_USUAL_INPUTS_H
#define IRRUN_CLI_USUAL_INPUTS_H

#include "irrun.h"

/* Returns the options that fill input `index`, if it has one of the known names and the model has
 * an input called input_ids; otherwise NULL. */
const char *usual_input_options(const struct irrun_model *model, size_t index);

#endif
