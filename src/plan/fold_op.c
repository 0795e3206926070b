/* Constant folding: while a plan is made, computes an op that depends only on shapes and constants.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/evaluate.h"
#include "plan/plan_internal.h"

/* Gets the data of a constant input. Computes missing data in the arena of the plan or the
 * model. */
static bool demand_input(struct plan *plan, const struct op *op, uint32_t i, bool is_widened,
                         struct irrun_tensor *tensor, struct irrun_error *err)
{
    struct model *model = plan->request.model;
    const struct graph *graph = plan->request.graph;
    uint32_t value_id = op_input(graph, op, i);
    struct slot *slot = &plan->slots[value_id];
    bool is_shared = graph->analysis->constants[value_id] != NULL;
    *tensor = slot->tensor;
    if (!tensor->data && is_shared) {
        const struct irrun_tensor *data = constant_get(model, graph, value_id, err);
        if (!data)
            return false;
        *tensor = slot->tensor = *data;
    }
    if (!is_widened || !dtype_is_half(tensor->dtype))
        return true;
    tensor->dtype = IRRUN_F32;
    tensor->data = is_shared ? (void *)constant_get_f32(model, graph, value_id, err)
                             : elements_as_f32(&slot->tensor, plan->op_arena, err);
    return tensor->data != NULL;
}

bool plan_widens(const struct plan *plan, const struct op *op)
{
    bool has_widened = false;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        has_widened |= dtype_is_widened(plan_input(plan, op, i)->declared,
                                        plan_input(plan, op, i)->tensor.dtype);
    return op_widens(op->def, has_widened);
}

bool plan_fold(struct plan *plan, const struct op *op, void *state, struct irrun_tensor *out,
               struct irrun_error *err)
{
    struct arena *temporary = &plan->temporary;
    struct irrun_tensor *tensors = arena_alloc_array(temporary, op->n_inputs, sizeof *tensors, err);
    const struct irrun_tensor **in = arena_alloc_array(temporary, op->n_inputs, sizeof *in, err);
    if (!tensors || !in)
        return false;
    bool widens = plan_widens(plan, op);
    bool needs_shapes_only = op->def->flags & OP_SHAPES_ONLY;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        in[i] = &tensors[i];
        if (needs_shapes_only)
            tensors[i] = plan_input(plan, op, i)->tensor;
        else if (!demand_input(plan, op, i, widens, &tensors[i], err))
            return false;
    }
    for (uint32_t k = 0; k < op->n_outputs; k++)
        out[k].dtype = stored_dtype(out[k].dtype, widens);
    return evaluate_op(&plan->request.model->kernels, plan->request.graph, op, state, in, out,
                       plan->op_arena, err);
}

bool plan_is_foldable(const struct plan *plan, const struct op *op)
{
    if (op->n_outputs == 0)
        return false;
    if (op->def->flags & OP_SHAPES_ONLY)
        return true;
    if (op->n_bodies > 0)
        return false;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (plan_input(plan, op, i)->kind != SLOT_CONSTANT)
            return false;
    return true;
}
