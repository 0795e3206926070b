/* Collects facts about a model without running it: its ops and weights as written, and, from the
 * shapes in the XML, its work, its memory and probable mistakes. Results are in the arena of the
 * model.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_MODEL_FACTS_H
#define IRRUN_RUNTIME_MODEL_FACTS_H

#include "ir/ir_builder.h"
#include "plan/model.h"

struct model_facts {
    size_t n_ops;
    uint64_t weights_bytes; /* bytes that several Consts share are counted once */
    const struct irrun_op_count *op_counts;
    size_t n_op_counts;
    const char **warnings; /* warnings about this model, one line each */
    size_t n_warnings;
};

bool model_facts_collect(struct ir_model *model, struct model_facts *facts,
                         struct irrun_error *err);

/* Lists the variables as irrun_model_variable returns them, but without init_value. */
bool model_list_variables(const struct model *model, struct irrun_variable **variables,
                          struct irrun_error *err);

/* Lists all layers as written. The layers of a body follow the layer that contains the body. */
bool model_list_layers(const struct model *model, const struct irrun_layer **layers, size_t *n,
                       struct irrun_error *err);

/* If all elements of value `id` are equal, sets *text to this number, as text in the arena. *text
 * is NULL if the elements differ, or if the value does not come from a Const in `weights`, directly
 * or through Converts. */
bool initial_value_find(const struct graph *graph, uint32_t id, const struct file_map *weights,
                        struct arena *arena, const char **text, struct irrun_error *err);

struct model_work {
    double flops, bytes;   /* see op_flops and op_bytes */
    uint64_t values_bytes; /* peak size of all values, including inputs and outputs */
    size_t n_open_ops;     /* ops that are not included, since a shape in the XML is dynamic */
};

/* Computes the work of the live ops of the graph and its bodies. The caller zeroes *work. */
bool model_work_of(const struct graph *graph, struct model_work *work, struct irrun_error *err);

/* Estimates the work and memory of a model loaded with is_dry, and finds probable mistakes. */
bool model_analyse(const struct model *model, struct irrun_analysis *analysis,
                   struct irrun_error *err);

#endif
