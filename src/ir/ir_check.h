/* Checks the live ops of a model, after plan/toposort has set the order of every graph: layers that
 * irrun does not support, bad attributes, wrong numbers of inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_IR_CHECK_H
#define IRRUN_IR_IR_CHECK_H

#include "graph/graph.h"

/* Fails with IRRUN_UNSUPPORTED at the first live layer that irrun does not support, and lists at
 * most 20 types of unsupported layers, including layers in bodies. Fails with IRRUN_DATA at the
 * first live layer with invalid attributes or a wrong number of inputs. */
bool ir_check_ops(const struct graph *graph, struct irrun_error *err);

/* Returns the reason why irrun, although it supports the operator, cannot run the layer with its
 * element type; NULL if it can. */
const char *ir_type_problem(const struct op *op);

/* Returns whether the op has too many or too few inputs. */
bool ir_has_bad_inputs(const struct op *op);

#endif
