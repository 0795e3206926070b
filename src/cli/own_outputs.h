/* The outputs of a model that are meant where none is named.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_OWN_OUTPUTS_H
#define IRRUN_CLI_OWN_OUTPUTS_H

#include "irrun.h"

/* How many there are, those of --tap included; those that only --tap-all asks for come behind
 * them. */
static inline size_t own_outputs(const struct irrun_model *model)
{
    size_t n = irrun_model_n_outputs(model);
    while (n > 0 && irrun_model_output(model, n - 1)->is_traced)
        n--;
    return n;
}

#endif
