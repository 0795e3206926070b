/* Accesses the variables of a run by index: first those of the model, then those of the inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/all_variables.h"

size_t all_variables_count(const struct all_variables *variables)
{
    return irrun_model_n_variables(variables->model) + inputs_n_variables(variables->inputs);
}

struct variable_info all_variables_info(const struct all_variables *variables, size_t index)
{
    size_t n = irrun_model_n_variables(variables->model);
    if (index < n) {
        const struct irrun_variable *variable = irrun_model_variable(variables->model, index);
        return (struct variable_info){variable->id, variable->dtype, variable->shape};
    }
    const struct irrun_port *port = inputs_variable_port(variables->inputs, index - n);
    return (struct variable_info){port->name, port->dtype, port->shape};
}

const struct irrun_tensor *all_variables_value(const struct all_variables *variables, size_t index)
{
    size_t n = irrun_model_n_variables(variables->model);
    return index < n ? irrun_session_variable(variables->session, index)
                     : inputs_variable(variables->inputs, index - n);
}

void all_variables_values(const struct all_variables *variables, const struct irrun_tensor **values)
{
    for (size_t i = 0; i < all_variables_count(variables); i++)
        values[i] = all_variables_value(variables, i);
}

bool all_variables_set(const struct all_variables *variables, size_t index,
                       const struct irrun_tensor *value, struct irrun_error *err)
{
    size_t n = irrun_model_n_variables(variables->model);
    return index < n ? irrun_session_set_variable(variables->session, index, value, err)
                     : inputs_set_variable(variables->inputs, index - n, value, err);
}

bool all_variables_reset(const struct all_variables *variables, struct irrun_error *err)
{
    irrun_session_reset(variables->session);
    return inputs_reset_variables(variables->inputs, err);
}
