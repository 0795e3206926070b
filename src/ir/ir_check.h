/* Checks the live ops of a model, after plan/toposort has set the order of every graph: layers that
 * irrun does not support, bad attributes, wrong numbers of inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_IR_CHECK_H
#define IRRUN_IR_IR_CHECK_H

#include "graph/graph.h"

/* Fails with IRRUN_UNSUPPORTED and the whole list, bodies included, at the place of the first; or
 * with IRRUN_DATA at the first live layer whose attributes or number of inputs are bad. */
bool ir_check_ops(const struct graph *graph, struct irrun_error *err);

/* Returns why irrun cannot run the layer with its element type, although it supports the operator;
 * NULL if it can. */
const char *ir_type_problem(const struct op *op);

/* Whether the op has more or fewer inputs than it takes. */
bool ir_has_bad_inputs(const struct op *op);

#endif
