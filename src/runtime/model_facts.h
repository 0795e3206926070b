/* Facts about a model that does not have to run: the number of ops of each type, the bytes of
 * weights.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_MODEL_FACTS_H
#define IRRUN_RUNTIME_MODEL_FACTS_H

#include "ir/ir_builder.h"
#include "plan/model.h"

struct model_facts {
    size_t n_ops;
    uint64_t weights_bytes; /* a blob that several Consts share is counted once */
    const struct irrun_op_count *op_counts;
    size_t n_op_counts;
    const char **warnings; /* warnings about this model, one line each */
    size_t n_warnings;
};

/* Collects the facts. All memory is in the arena of the model. */
bool model_facts_collect(struct ir_model *model, struct model_facts *facts,
                         struct irrun_error *err);

/* Lists the variables for the public header, without init_value. All memory is in the arena of the
 * model. */
bool model_list_variables(const struct model *model, struct irrun_variable **variables,
                          struct irrun_error *err);

/* Lists all layers as written. Those of a body follow the layer that contains it. All memory is in
 * the arena of the model. */
bool model_list_layers(const struct model *model, const struct irrun_layer **layers, size_t *n,
                       struct irrun_error *err);

#endif
