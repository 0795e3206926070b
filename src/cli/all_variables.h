/* All variables of a run, for resets, states and checkpoints: those of the model, then the inputs
 * whose values pass from one iteration to the next.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_ALL_VARIABLES_H
#define IRRUN_CLI_ALL_VARIABLES_H

#include "cli/inputs.h"

struct all_variables {
    const struct irrun_model *model;
    struct irrun_session *session;
    struct inputs *inputs;
};

struct variable_form {
    const char *id;
    enum irrun_dtype dtype;
    struct irrun_partial_shape shape;
};

size_t all_variables_count(const struct all_variables *variables);
struct variable_form all_variables_form(const struct all_variables *variables, size_t index);

/* Returns the value of a variable; NULL if it is unset. */
const struct irrun_tensor *all_variables_value(const struct all_variables *variables, size_t index);

/* Fills `values` with the values of all variables. */
void all_variables_values(const struct all_variables *variables,
                          const struct irrun_tensor **values);

/* Copies the value, which must have the type and shape of the variable. */
bool all_variables_set(const struct all_variables *variables, size_t index,
                       const struct irrun_tensor *value, struct irrun_error *err);

/* Resets all variables to their initial values. */
bool all_variables_reset(const struct all_variables *variables, struct irrun_error *err);

#endif
