/* Facts about a model that need no run: the number of ops of each type, the bytes of weights.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_MODEL_FACTS_H
#define IRRUN_RUNTIME_MODEL_FACTS_H

#include "ir/ir_builder.h"
#include "plan/model.h"

struct model_facts {
    size_t n_ops;
    uint64_t weights_bytes; /* a blob that several Consts share counts once */
    const struct irrun_op_count *op_counts;
    size_t n_op_counts;
    const char **warnings; /* warnings about this model, one line each */
    size_t n_warnings;
};

/* Everything is in the model's arena. */
bool model_facts_collect(struct ir_model *model, struct model_facts *facts,
                         struct irrun_error *err);

/* The variables as the public header shows them, except init_value; in the model's arena. */
bool model_list_variables(const struct model *model, struct irrun_variable **variables,
                          struct irrun_error *err);

/* All layers as written, those of a body after the layer that has it; in the model's arena. */
bool model_list_layers(const struct model *model, const struct irrun_layer **layers, size_t *n,
                       struct irrun_error *err);

#endif
