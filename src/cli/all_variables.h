/* All variables of a run, for resets, states and checkpoints: the variables of the model, then the
 * values that the inputs keep between iterations, such as those of --feed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_ALL_VARIABLES_H
#define IRRUN_CLI_ALL_VARIABLES_H

#include "cli/inputs.h"

struct all_variables {
    const struct irrun_model *model;
    struct irrun_session *session;
    struct inputs *inputs;
};

struct variable_info {
    const char *id;
    enum irrun_dtype dtype;
    struct irrun_partial_shape shape;
};

size_t all_variables_count(const struct all_variables *variables);
struct variable_info all_variables_info(const struct all_variables *variables, size_t index);

/* Get the value of one variable, or of all variables. The value of an unset variable is NULL. */
const struct irrun_tensor *all_variables_value(const struct all_variables *variables, size_t index);
void all_variables_values(const struct all_variables *variables,
                          const struct irrun_tensor **values);

/* Sets a variable to a copy of `value`. Type and shape must match. */
bool all_variables_set(const struct all_variables *variables, size_t index,
                       const struct irrun_tensor *value, struct irrun_error *err);

bool all_variables_reset(const struct all_variables *variables, struct irrun_error *err);

#endif
