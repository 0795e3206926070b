/* What can be said of a model once its live ops are known (plan/toposort has set the order of every
 * graph): which layers irrun lacks, which have bad attributes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_IR_CHECK_H
#define IRRUN_IR_IR_CHECK_H

#include "graph/graph.h"

/* A type and version that live layers have and irrun lacks. */
struct unsupported_op {
    const char *type, *version; /* as written */
    const char *why;
    uint32_t n_layers;
    uint32_t line, column; /* of the first of them */
};

/* Lists what is lacking, bodies included, in document order; the list lies in the arena. */
bool ir_list_unsupported(const struct graph *graph, struct arena *arena,
                         struct unsupported_op **list, uint32_t *n, struct irrun_error *err);

/* Fails with IRRUN_UNSUPPORTED and the whole list, at the place of the first; or with IRRUN_DATA at
 * the first live layer whose attributes are bad. */
bool ir_check_ops(const struct graph *graph, struct irrun_error *err);

#endif
