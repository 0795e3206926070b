/* Estimates the work of an op from the shapes of its inputs and outputs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_COST_H
#define IRRUN_OPS_COST_H

#include "ops/op.h"

/* Returns the number of floating-point operations; a multiply-add is two. Calls def->flops if it is
 * set. Otherwise, returns 0 for ops that only move elements, return views or use shapes alone, ops
 * with bodies, and ops with a role (Parameter, Const, ...). Other ops count one operation per
 * element of output 0, or of input 0 if that is larger and the op is not element-wise. */
double op_flops(const struct op *op, struct irrun_tensor *const *in,
                struct irrun_tensor *const *out);

/* Returns the number of bytes read and written. An op that only moves elements reads no more bytes
 * of an input than it writes; an op that uses shapes alone reads none. */
double op_bytes(const struct op *op, struct irrun_tensor *const *in, uint32_t n_inputs,
                struct irrun_tensor *const *out, uint32_t n_outputs);

/* Returns the number of elements of a tensor. */
static inline double cost_n(const struct irrun_tensor *tensor)
{
    return (double)shape_n_elements(&tensor->shape);
}

/* Returns a / b, or 0 if b is 0. */
static inline double cost_ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

#endif
