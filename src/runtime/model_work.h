/* The work of an iteration and the memory of its values, as far as the XML gives shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_MODEL_WORK_H
#define IRRUN_RUNTIME_MODEL_WORK_H

#include "graph/graph.h"

struct model_work {
    double flops, bytes;   /* as op_flops and op_bytes count */
    uint64_t values_bytes; /* the most that values take at a time, inputs and outputs included */
    size_t n_open_ops;     /* ops that are not counted: the XML leaves a shape open */
};

/* Computes the work of the live ops of the graph and its bodies. The caller zeroes *work. */
bool model_work_of(const struct graph *graph, struct model_work *work, struct irrun_error *err);

#endif
