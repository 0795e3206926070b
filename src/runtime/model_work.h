/* Estimates the work of an iteration and the memory of its values from the shapes in the XML.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_MODEL_WORK_H
#define IRRUN_RUNTIME_MODEL_WORK_H

#include "graph/graph.h"

struct model_work {
    double flops, bytes;   /* as in op_flops and op_bytes */
    uint64_t values_bytes; /* peak, including inputs and outputs */
    size_t n_open_ops;     /* ops that are not counted, since the XML leaves a shape open */
};

/* Computes the work of the live ops of the graph and its bodies. The caller zeroes *work. */
bool model_work_of(const struct graph *graph, struct model_work *work, struct irrun_error *err);

#endif
