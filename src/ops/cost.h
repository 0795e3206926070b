/* The work of an op, estimated from the shapes of its operands.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_COST_H
#define IRRUN_OPS_COST_H

#include "ops/op.h"

/* Floating point operations; a multiply-add is two. Uses def->flops, or else one per element of
 * output 0 or input 0, whichever has more; ops that only move elements have none. Reads only the
 * shapes of the tensors. */
double op_flops(const struct op *op, struct irrun_tensor *const *in,
                struct irrun_tensor *const *out);

/* Bytes read and written. An op that only moves elements reads at most as many bytes of an input as
 * it writes. */
double op_bytes(const struct op *op, struct irrun_tensor *const *in, uint32_t n_inputs,
                struct irrun_tensor *const *out, uint32_t n_outputs);

/* The number of elements of a tensor. */
static inline double cost_n(const struct irrun_tensor *tensor)
{
    return (double)shape_n_elements(&tensor->shape);
}

/* a / b, 0 for a division by 0. */
static inline double cost_ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

#endif
