/* Reads small Consts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/graph_ints.h"

#include "ops/op_state.h"

/* Returns the attributes of a Const of 1 to `max` elements, or NULL. */
static const struct const_attrs *find_const(const struct graph *graph, const struct op *op,
                                            uint32_t max)
{
    if (op_role_of(op) != ROLE_CONST || !graph->weights->data)
        return NULL;
    const struct const_attrs *attrs = op->attrs;
    int64_t n = shape_n_elements(&attrs->shape);
    return n >= 1 && n <= max ? attrs : NULL;
}

bool graph_ints(const struct graph *graph, uint32_t value_id, int64_t *items, uint32_t max,
                uint32_t *n)
{
    const struct const_attrs *attrs = find_const(graph, value_producer(graph, value_id), max);
    if (!attrs || (attrs->element_type != IRRUN_I64 && attrs->element_type != IRRUN_I32))
        return false;
    *n = (uint32_t)shape_n_elements(&attrs->shape);
    convert_elements(attrs->element_type, graph->weights->data + attrs->offset, IRRUN_I64, items,
                     *n);
    return true;
}

bool graph_number(const struct graph *graph, uint32_t value_id, double *number,
                  struct irrun_shape *shape)
{
    const struct op *op = value_producer(graph, value_id);
    bool is_widened = op_is_type(op, "Convert") &&
                      ((const struct convert_attrs *)op->attrs)->destination_type == IRRUN_F32;
    if (is_widened)
        op = value_producer(graph, op_input(graph, op, 0));
    const struct const_attrs *attrs = find_const(graph, op, 1);
    if (!attrs || !(is_widened ? dtype_is_half : dtype_is_float)(attrs->element_type))
        return false;
    *shape = attrs->shape;
    convert_elements(attrs->element_type, graph->weights->data + attrs->offset, IRRUN_F64, number,
                     1);
    return true;
}
