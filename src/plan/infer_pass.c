/* First pass of planning: infers shapes and types in execution order. An op that depends only on
 * shapes and constants is computed here (constant folding) and gets no step.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"
#include "plan/evaluate.h"
#include "plan/plan_internal.h"

struct plan_inference {
    struct infer infer;
    struct plan *plan;
    bool has_data; /* every slot of the plan has data: a plan has run up to this op */
};

static const struct irrun_tensor *value_of_slot(struct infer *infer, uint32_t i)
{
    struct plan_inference *self = (struct plan_inference *)infer;
    uint32_t value_id = op_input(infer->graph, infer->op, i);
    struct slot *slot = &self->plan->slots[value_id];
    if (slot->kind == SLOT_CONSTANT) {
        if (slot->tensor.data)
            return &slot->tensor;
        return constant_get(self->plan->request.model, infer->graph, value_id, infer->err);
    }
    return self->has_data ? &slot->tensor : NULL;
}

bool plan_infer_op(struct plan *plan, const struct op *op, void *state, struct irrun_tensor *out,
                   bool has_data, struct arena *arena, int64_t **views, bool *is_waiting,
                   struct irrun_error *err)
{
    uint32_t n = op->n_inputs;
    arena_reset(&plan->temporary);
    struct irrun_tensor *tensors = arena_alloc_array(&plan->temporary, n, sizeof *tensors, err);
    const struct irrun_tensor **in = arena_alloc_array(&plan->temporary, n, sizeof *in, err);
    bool *is_constant = arena_alloc_array(&plan->temporary, n, sizeof *is_constant, err);
    if (!tensors || !in || !is_constant)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct slot *slot = plan_input(plan, op, i);
        tensors[i] = (struct irrun_tensor){slot->declared, slot->tensor.shape, NULL};
        in[i] = &tensors[i];
        is_constant[i] = slot->kind == SLOT_CONSTANT;
    }
    struct plan_inference self = {.infer = {.graph = plan->request.graph,
                                            .op = op,
                                            .attrs = op->attrs,
                                            .state = state,
                                            .n_inputs = n,
                                            .n_outputs = op->n_outputs,
                                            .in = in,
                                            .out = out,
                                            .arena = arena,
                                            .plan = plan,
                                            .value = value_of_slot,
                                            .is_constant = is_constant,
                                            .err = err},
                                  .plan = plan,
                                  .has_data = has_data};
    int64_t *firsts = arena_alloc_array(arena, op->n_outputs, sizeof *firsts, err);
    if (!firsts)
        return false;
    *is_waiting = false;
    *views = NULL;
    if (infer_op(&self.infer)) {
        if (op->def->flags & OP_VIEW || (op->def->views && !plan->request.model->no_fusion &&
                                         op->def->views(&self.infer, firsts)))
            *views = firsts;
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            size_t size_bytes;
            if (!tensor_size(out[k].dtype, &out[k].shape, &size_bytes)) {
                char text[SHAPE_TEXT_BYTES];
                return infer_fail(&self.infer, "its output %u %s does not fit in memory", k,
                                  shape_format(&out[k].shape, text));
            }
        }
        return true;
    }
    *is_waiting = self.infer.is_value_missing && err->code == IRRUN_OK;
    return false;
}

static void set_slot(struct plan *plan, uint32_t slot_id, enum slot_kind kind, uint32_t index,
                     const struct irrun_tensor *tensor, enum irrun_dtype declared)
{
    plan->slots[slot_id] = (struct slot){.tensor = *tensor,
                                         .declared = declared,
                                         .kind = kind,
                                         .root = slot_id,
                                         .parent = NO_ID,
                                         .index = index,
                                         .converted = NO_ID,
                                         .first_step = NO_ID,
                                         .gets_room = plan->slots[slot_id].gets_room};
}

/* ---- ops with a role: Parameter, ReadValue, Assign ---- */

static bool plan_parameter(struct plan *plan, const struct op *op, struct irrun_error *err)
{
    const struct parameter_attrs *attrs = op->attrs;
    uint32_t index = plan_index(plan, op);
    const struct irrun_tensor *in = plan->request.in[index];
    bool is_constant = plan->request.is_constant && plan->request.is_constant[index];
    enum irrun_dtype as_stored = stored_dtype(attrs->element_type, plan->request.is_body);
    if (in->dtype != as_stored)
        return fail_at(err, IRRUN_DATA, op_place(plan->request.graph, op),
                       "Parameter \"%s\" is %s, but is given %s", op->name,
                       irrun_dtype_name(attrs->element_type), irrun_dtype_name(in->dtype));
    set_slot(plan, op->first_output, is_constant ? SLOT_CONSTANT : SLOT_INPUT, index, in,
             attrs->element_type);
    return true;
}

static bool read_shape_without_init(const struct plan *plan, const struct op *op,
                                    const struct variable_decl *variable,
                                    struct irrun_tensor *tensor, struct irrun_error *err)
{
    struct place place = op_place(plan->request.graph, op);
    if (variable->dtype == IRRUN_DYNAMIC || variable->shape.is_rank_dynamic) {
        fail_at(err, IRRUN_DATA, place,
                "ReadValue \"%s\": variable \"%s\" has no initial value, and its %s is not known",
                op->name, variable->id, variable->dtype == IRRUN_DYNAMIC ? "type" : "rank");
        return fail_hint(err, "give it a value with --state-in");
    }
    tensor->dtype = variable->dtype;
    tensor->shape.rank = variable->shape.rank;
    for (uint32_t i = 0; i < variable->shape.rank; i++) {
        bool is_static = variable->shape.min[i] == variable->shape.max[i];
        tensor->shape.dims[i] = is_static ? variable->shape.min[i] : 0;
    }
    return true;
}

static bool read_shape_from_init(struct plan *plan, const struct op *op,
                                 const struct variable_decl *variable, struct irrun_tensor *tensor,
                                 struct irrun_error *err)
{
    const struct slot *init = plan_input(plan, op, 0);
    const struct op *source =
        value_producer(plan->request.graph, op_input(plan->request.graph, op, 0));
    char found[SHAPE_TEXT_BYTES], wanted[SHAPE_TEXT_BYTES];
    bool fits_type = variable->dtype == IRRUN_DYNAMIC || variable->dtype == init->declared;
    if (!fits_type || !partial_shape_admits(&variable->shape, &init->tensor.shape)) {
        fail_at(err, IRRUN_DATA, op_place(plan->request.graph, op),
                "ReadValue \"%s\": variable \"%s\" is %s %s, but its initial value is %s %s",
                op->name, variable->id, irrun_dtype_name(variable->dtype),
                partial_shape_format(&variable->shape, wanted), irrun_dtype_name(init->declared),
                shape_format(&init->tensor.shape, found));
        return fail_hint(err, "the initial value comes from %s \"%s\" (line %u)", source->def->type,
                         source->name, source->line);
    }
    *tensor = (struct irrun_tensor){init->declared, init->tensor.shape, NULL};
    return true;
}

bool plan_read_value(struct plan *plan, const struct op *op, struct irrun_tensor *tensor,
                     struct irrun_error *err)
{
    uint32_t index = plan_index(plan, op);
    const struct variable_decl *variable = &plan->request.model->variables[index];
    const struct variable_state *state = &plan->request.variables[index];
    *tensor = (struct irrun_tensor){0};
    if (state->is_set) {
        *tensor = (struct irrun_tensor){state->dtype, state->shape, NULL};
        return true;
    }
    return op->n_inputs > 0 ? read_shape_from_init(plan, op, variable, tensor, err)
                            : read_shape_without_init(plan, op, variable, tensor, err);
}

static bool plan_variable(struct plan *plan, const struct op *op, struct irrun_error *err)
{
    struct irrun_tensor tensor;
    if (!plan_read_value(plan, op, &tensor, err))
        return false;
    set_slot(plan, op->first_output, SLOT_VARIABLE, plan_index(plan, op), &tensor, tensor.dtype);
    return true;
}

static bool plan_assign(struct plan *plan, const struct op *op, struct irrun_error *err)
{
    const struct graph *graph = plan->request.graph;
    uint32_t index = plan_index(plan, op);
    const struct variable_decl *variable = &plan->request.model->variables[index];
    const struct variable_state *state = &plan->request.variables[index];
    const struct slot *in = plan_input(plan, op, 0);
    enum irrun_dtype dtype = variable->dtype;
    if (dtype == IRRUN_DYNAMIC && state->is_set)
        dtype = state->dtype;
    if ((dtype == IRRUN_DYNAMIC || dtype == in->declared) &&
        partial_shape_admits(&variable->shape, &in->tensor.shape)) {
        if (op->n_outputs > 0) {
            set_slot(plan, op->first_output, in->kind, in->index, &in->tensor, in->declared);
            plan->slots[op->first_output].root = in->root;
        }
        return true;
    }
    char found[SHAPE_TEXT_BYTES], wanted[SHAPE_TEXT_BYTES];
    const struct op *source = value_producer(graph, op_input(graph, op, 0));
    fail_at(err, IRRUN_DATA, op_place(graph, op),
            "Assign \"%s\": its input is %s %s, but ReadValue \"%s\" (line %u) declares variable "
            "\"%s\" as %s %s",
            op->name, irrun_dtype_name(in->declared), shape_format(&in->tensor.shape, found),
            variable->read->name, variable->read->line, variable->id, irrun_dtype_name(dtype),
            partial_shape_format(&variable->shape, wanted));
    return fail_hint(err, "the input comes from %s \"%s\" (line %u)", source->def->type,
                     source->name, source->line);
}

/* ---- all ops in order ---- */

/* Makes output k a view of input 0, from element `first` on. */
static void set_view(struct plan *plan, const struct op *op, uint32_t k, int64_t first)
{
    struct slot *slot = &plan->slots[op->first_output + k];
    const struct slot *source = plan_input(plan, op, 0);
    size_t offset = (size_t)first * dtype_size(source->tensor.dtype);
    slot->kind = source->kind;
    slot->index = source->index;
    slot->tensor.data = source->tensor.data;
    slot->tensor.dtype = source->tensor.dtype;
    if (shape_n_elements(&slot->tensor.shape) == shape_n_elements(&source->tensor.shape)) {
        slot->root = source->root;
        return;
    }
    slot->parent = source->root;
    slot->parent_offset = offset;
    if (slot->tensor.data)
        slot->tensor.data = (char *)slot->tensor.data + offset;
}

static bool plan_ordinary(struct plan *plan, const struct op *op, const struct head *head,
                          bool *is_waiting, struct irrun_error *err)
{
    struct irrun_tensor *out =
        head ? head->out : arena_alloc_array(&plan->arena, op->n_outputs, sizeof *out, err);
    void *state = head ? head->state : arena_alloc(&plan->arena, op->def->state_size, err);
    if (!out || !state)
        return false;
    int64_t whole[1] = {0}, *views = op->def->flags & OP_VIEW ? whole : NULL;
    *is_waiting = false;
    if (!head && !plan_infer_op(plan, op, state, out, false, &plan->arena, &views, is_waiting, err))
        return false;
    if (!head && plan_is_foldable(plan, op)) {
        for (uint32_t k = 0; k < op->n_outputs; k++)
            set_slot(plan, op->first_output + k, SLOT_CONSTANT, 0, &out[k], out[k].dtype);
        if (!plan_fold(plan, op, state, out, err))
            return false;
        for (uint32_t k = 0; k < op->n_outputs; k++)
            plan->slots[op->first_output + k].tensor = out[k];
        return true;
    }
    bool widens = plan_widens(plan, op);
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        struct irrun_tensor stored = {stored_dtype(out[k].dtype, widens), out[k].shape, NULL};
        set_slot(plan, op->first_output + k, SLOT_BLOCK, 0, &stored, out[k].dtype);
    }
    for (uint32_t k = 0; views && k < op->n_outputs; k++)
        set_view(plan, op, k, views[k]);
    plan->n_view_ops += views && !(op->def->flags & OP_VIEW);
    plan->planned[plan->n_planned++] =
        (struct planned_op){.op = op, .state = state, .is_view = views != NULL};
    return true;
}

bool plan_is_constant(const struct plan *plan, const struct op *op)
{
    bool is_constant = op->n_outputs > 0 && op->def->role != ROLE_ASSIGN;
    for (uint32_t k = 0; k < op->n_outputs && is_constant; k++)
        is_constant = plan->request.graph->analysis->constants[op->first_output + k];
    return is_constant;
}

static bool plan_op(struct plan *plan, const struct op *op, const struct head *head,
                    bool *is_waiting, struct irrun_error *err)
{
    *is_waiting = false;
    if (plan_is_constant(plan, op))
        return true;
    switch (op->def->role) {
    case ROLE_PARAMETER:
        return plan_parameter(plan, op, err);
    case ROLE_READ_VALUE:
        plan->planned[plan->n_planned++] = (struct planned_op){.op = op};
        return plan_variable(plan, op, err);
    case ROLE_ASSIGN:
        plan->planned[plan->n_planned++] = (struct planned_op){.op = op};
        return plan_assign(plan, op, err);
    case ROLE_RESULT:
        if (op->n_inputs > 0) /* otherwise its value is not read */
            plan->planned[plan->n_planned++] = (struct planned_op){.op = op};
        if (op->n_inputs > 0 && op->n_outputs > 0)
            plan->slots[op->first_output] = *plan_input(plan, op, 0);
        return true;
    default:
        return plan_ordinary(plan, op, head, is_waiting, err);
    }
}

bool plan_infer(struct plan *plan, const struct head *head, struct irrun_error *err)
{
    const struct graph *graph = plan->request.graph;
    plan->end = graph->n_order;
    for (uint32_t i = plan->begin; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        bool is_waiting;
        if (plan_op(plan, op, i == plan->begin ? head : NULL, &is_waiting, err))
            continue;
        if (!is_waiting)
            return false;
        plan->end = i;
        break;
    }
    return true;
}
