/* Calls prepare of one op, and lends it what outlives the plan: constants as they are stored, and the
 * model's packs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

#include "base/file.h"

#define MAX_CONSTANTS 4 /* that one op packs */

struct op_packer {
    struct packer packer;
    struct model *model;
    const struct irrun_tensor *constants[MAX_CONSTANTS]; /* that were asked for */
    size_t n_constants;
    bool has_new_pack;
};

static const struct irrun_tensor *constant_of(struct prepare *prepare, uint32_t i)
{
    struct op_packer *self = (struct op_packer *)prepare->packer;
    const struct irrun_tensor *constant = constant_demand_stored(
        self->model, prepare->graph, op_input(prepare->graph, prepare->op, i), prepare->err);

    if (constant && self->n_constants < MAX_CONSTANTS)
        self->constants[self->n_constants++] = constant;
    return constant;
}

static void *pack_of(struct prepare *prepare, uint32_t layout, size_t size_bytes, bool *is_new)
{
    struct op_packer *self = (struct op_packer *)prepare->packer;
    void *data =
        packs_get(&self->model->packs, prepare->op, layout, size_bytes, is_new, prepare->err);

    if (data && *is_new) {
        self->model->packed_bytes += size_bytes;
        self->has_new_pack = true;
    }
    return data;
}

/* Weights that have been packed are not read again: what the process holds of the file shrinks. */
static void forget_sources(const struct op_packer *packer, const struct graph *graph)
{
    for (size_t i = 0; packer->has_new_pack && i < packer->n_constants; i++)
        file_map_forget(graph->weights, packer->constants[i]->data,
                        tensor_n_bytes(packer->constants[i]));
}

/* The inputs that are constants of the model, not of this plan alone. */
static uint32_t constant_inputs(const struct plan *plan, const struct op *op, const uint32_t *in)
{
    const struct graph *graph = plan->request.graph;
    uint32_t constants = 0;

    for (uint32_t i = 0; i < op->n_inputs && i < 32; i++)
        if (in[i] < graph->n_values && plan->slots[in[i]].kind == SLOT_CONSTANT &&
            graph->notes->constants[in[i]])
            constants |= 1U << i;
    return constants;
}

static const struct irrun_tensor **tensors_of(struct plan *plan, const uint32_t *slots, uint32_t n,
                                              struct irrun_error *err)
{
    const struct irrun_tensor **tensors =
        arena_alloc_array(plan->engine.arena, n, sizeof *tensors, err);
    for (uint32_t i = 0; tensors && i < n; i++)
        tensors[i] = &plan->slots[slots[i]].tensor;
    return tensors;
}

static struct prepare prepare_for(struct plan *plan, const struct op *op, void *state)
{
    return (struct prepare){.graph = plan->request.graph,
                            .op = op,
                            .attrs = op->attrs,
                            .state = state,
                            .n_inputs = op->n_inputs,
                            .n_outputs = op->n_outputs,
                            .kernels = &plan->request.model->kernels,
                            .team = plan->request.team,
                            .arena = plan->engine.arena,
                            .engine = &plan->engine};
}

bool plan_packed_inputs(struct plan *plan, const struct op *op, void *state, const uint32_t *in,
                        uint32_t *packed, struct irrun_error *err)
{
    *packed = 0;
    if (!op->def->packs)
        return true;
    struct prepare prepare = prepare_for(plan, op, state);
    prepare.err = err;
    prepare.in = tensors_of(plan, in, op->n_inputs, err);
    if (!prepare.in)
        return false;
    uint32_t constants = constant_inputs(plan, op, in);
    *packed = constants & op->def->packs(&prepare, constants);
    return true;
}

bool plan_prepare_op(struct plan *plan, const struct op *op, void *state, const uint32_t *in,
                     const uint32_t *out, struct prepared *prepared, struct irrun_error *err)
{
    *prepared = (struct prepared){0};
    if (!op->def->prepare)
        return true;
    struct op_packer packer = {.packer = {constant_of, pack_of}, .model = plan->request.model};
    struct prepare prepare = prepare_for(plan, op, state);
    prepare.err = err;
    prepare.packer = &packer.packer;
    prepare.in = tensors_of(plan, in, op->n_inputs, err);
    prepare.out = tensors_of(plan, out, op->n_outputs, err);
    if (!prepare.in || !prepare.out ||
        !plan_packed_inputs(plan, op, state, in, &prepare.packed, err))
        return false;
    bool is_done = op->def->prepare(&prepare);
    forget_sources(&packer, plan->request.graph);
    *prepared =
        (struct prepared){prepare.scratch_bytes, prepare.flat, prepare.fusable, prepare.finishing};
    return is_done;
}
