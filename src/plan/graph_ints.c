/* Reads Consts of integers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/graph_ints.h"

#include "ops/op_state.h"

bool graph_ints(const struct graph *graph, uint32_t value_id, int64_t *items, uint32_t max,
                uint32_t *n)
{
    const struct op *op = value_producer(graph, value_id);
    const struct file_map *weights = graph->weights;
    if (op_role_of(op) != ROLE_CONST || !weights->data)
        return false;
    const struct const_attrs *attrs = op->attrs;
    int64_t count = shape_n_elements(&attrs->shape);
    if (count < 1 || count > max ||
        (attrs->element_type != IRRUN_I64 && attrs->element_type != IRRUN_I32))
        return false;
    *n = (uint32_t)count;
    convert_elements(attrs->element_type, weights->data + attrs->offset, IRRUN_I64, items,
                     (size_t)count);
    return true;
}
