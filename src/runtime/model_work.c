/* Estimates the work of live ops with the shapes that the XML gives for their ports. A body is
 * counted once for each iteration. The number of iterations follows from a sliced or concatenated
 * port; without such a port it is 1.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/model_facts.h"

#include <stdlib.h>

#include "ir/ir_check.h"
#include "ops/body_loop.h"
#include "ops/cost.h"

/* The properties of a value. */
struct value_info {
    struct irrun_tensor tensor;
    bool is_dynamic;  /* the XML has a dynamic dimension, or no known type */
    bool is_constant; /* depends only on Consts, so it is computed once */
    uint32_t root;    /* the value whose memory it shares, or itself */
    uint32_t last;    /* the last op that reads its memory: position in the order */
    uint64_t n_bytes; /* size of its own memory; 0 if it shares memory */
};

struct graph_work {
    const struct graph *graph;
    struct irrun_error *err;
    struct value_info *values;
    struct irrun_tensor **operands; /* operands of the current op */
};

static void read_hint(const struct value *value, struct value_info *info)
{
    struct irrun_tensor *tensor = &info->tensor;
    tensor->dtype = (enum irrun_dtype)value->dtype_hint;
    tensor->shape.rank = value->rank_hint;
    info->is_dynamic = tensor->dtype == IRRUN_DYNAMIC || tensor->dtype == IRRUN_STRING;
    double n = 1;
    for (uint32_t i = 0; i < value->rank_hint; i++) {
        int64_t dim = value->dims_hint[i];
        tensor->shape.dims[i] = dim;
        info->is_dynamic |= dim < 0;
        n *= dim > 0 ? (double)dim : 1;
    }
    info->is_dynamic |= n > 0x1p53;                          /* too many elements for any tensor */
    if (value->port > 0 && tensor->dtype == IRRUN_DYNAMIC) { /* the layer does not list it */
        tensor->shape = (struct irrun_shape){.rank = 1};
        info->is_dynamic = false;
    }
}

/* Returns whether all inputs are constants. An op without inputs, except Const, is not treated as
 * constant. */
static bool is_constant(const struct graph_work *work, const struct op *op)
{
    bool is_fixed = op->n_inputs > 0 && op_role_of(op) == ROLE_ORDINARY;
    for (uint32_t i = 0; i < op->n_inputs && is_fixed; i++)
        is_fixed = work->values[op_input(work->graph, op, i)].is_constant;
    return is_fixed || op_role_of(op) == ROLE_CONST;
}

/* Sets the properties of an op's outputs, and records `position`, its position in the order, as the
 * last use of its inputs. */
static void set_outputs(struct graph_work *work, const struct op *op, uint32_t position)
{
    const struct graph *graph = work->graph;
    bool is_fixed = is_constant(work, op);
    bool is_view = op->n_inputs > 0 &&
                   (op_role_of(op) == ROLE_ASSIGN || (op->def && (op->def->flags & OP_VIEW) != 0));
    for (uint32_t i = 0; i < op->n_inputs; i++)
        work->values[work->values[op_input(graph, op, i)].root].last = position;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint32_t id = op->first_output + k;
        struct value_info *info = &work->values[id];
        read_hint(&graph->values[id], info);
        info->is_constant = is_fixed;
        info->root = is_view ? work->values[op_input(graph, op, 0)].root : id;
        info->last = position;
        if (info->root == id && !is_fixed && !info->is_dynamic)
            info->n_bytes = tensor_n_bytes(&info->tensor);
    }
}

/* Returns the number of outputs to count. An Assign has none: its output is its input, or is not in
 * the XML. */
static uint32_t count_outputs(const struct op *op)
{
    return op_role_of(op) == ROLE_ASSIGN ? 0 : op->n_outputs;
}

/* Lists the operands. Returns whether all their shapes are known. */
static bool list_operands(struct graph_work *work, const struct op *op)
{
    uint32_t n = op->n_inputs + count_outputs(op);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id =
            i < op->n_inputs ? op_input(work->graph, op, i) : op->first_output + i - op->n_inputs;
        work->operands[i] = &work->values[id].tensor;
        if (work->values[id].is_dynamic)
            return false;
    }
    return true;
}

/* Returns the number of iterations, which follows from a sliced input or a concatenated output; 1
 * if there is no such port. */
static double count_iterations(const struct graph_work *work, const struct op *op,
                               const struct body *body)
{
    for (uint32_t i = 0; i < body->n_inputs + body->n_outputs; i++) {
        bool is_input = i < body->n_inputs;
        const struct port_map *map =
            is_input ? &body->inputs[i] : &body->outputs[i - body->n_inputs];
        uint32_t n_ports = is_input ? op->n_inputs : op->n_outputs;
        if (!map->has_axis || map->external < 0 || map->external >= n_ports || map->part_size < 1)
            continue;
        uint32_t port = (uint32_t)map->external;
        const struct value_info *info =
            &work->values[is_input ? op_input(work->graph, op, port) : op->first_output + port];
        int64_t rank = info->tensor.shape.rank, axis = map->axis + (map->axis < 0 ? rank : 0);
        if (info->is_dynamic || axis < 0 || axis >= rank)
            continue;
        int64_t start, end, length = info->tensor.shape.dims[axis];
        if (is_input && loop_bound(map->start, length, &start) &&
            loop_bound(map->end, length, &end))
            length = map->stride < 0 ? start - end : end - start;
        return (double)(length / map->part_size);
    }
    return 1;
}

/* Adds the work of the body; for an If, the maximum of both branches. */
static bool add_bodies(struct graph_work *in, const struct op *op, struct model_work *sum,
                       uint64_t *body_bytes)
{
    struct model_work most = {0};
    for (uint32_t b = 0; b < op->n_bodies; b++) {
        struct model_work body = {0};
        if (!model_work_of(op->bodies[b].graph, &body, in->err))
            return false;
        double n = op->n_bodies == 1 ? count_iterations(in, op, &op->bodies[b]) : 1;
        most.flops = body.flops * n > most.flops ? body.flops * n : most.flops;
        most.bytes = body.bytes * n > most.bytes ? body.bytes * n : most.bytes;
        most.n_open_ops += body.n_open_ops;
        if (most.values_bytes < body.values_bytes)
            most.values_bytes = body.values_bytes;
    }
    sum->flops += most.flops;
    sum->bytes += most.bytes;
    sum->n_open_ops += most.n_open_ops;
    *body_bytes = most.values_bytes;
    return true;
}

/* Adds the work of an op. Sets *body_bytes to the peak size of the values of its bodies. */
static bool add_op(struct graph_work *in, const struct op *op, struct model_work *sum,
                   uint64_t *body_bytes)
{
    enum op_role role = op_role_of(op);
    *body_bytes = 0;
    bool is_idle = role != ROLE_ORDINARY && role != ROLE_ASSIGN;
    if (is_idle || is_constant(in, op))
        return true;
    if (!op->def || op->fault || ir_has_bad_inputs(op) || !list_operands(in, op)) {
        sum->n_open_ops++;
        return add_bodies(in, op, sum, body_bytes);
    }
    if ((op->def->flags & OP_VIEW) == 0 && op->n_bodies == 0) {
        sum->flops += op_flops(op, in->operands, in->operands + op->n_inputs);
        sum->bytes += op_bytes(op, in->operands, op->n_inputs, in->operands + op->n_inputs,
                               count_outputs(op));
    }
    return add_bodies(in, op, sum, body_bytes);
}

/* Returns the peak size of all values in use. body_bytes: the size of the values of bodies at each
 * position. ending: zeroed; becomes the size of the values that are freed after each position. */
static uint64_t find_peak(const struct graph_work *work, const uint64_t *body_bytes,
                          uint64_t *ending)
{
    const struct graph *graph = work->graph;
    uint64_t now = 0, peak = 0;
    for (uint32_t p = 0; p < graph->n_order; p++) {
        const struct op *op = &graph->ops[graph->order[p]];
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const struct value_info *info = &work->values[op->first_output + k];
            now += info->n_bytes;
            ending[info->last] += info->n_bytes;
        }
        peak = now + body_bytes[p] > peak ? now + body_bytes[p] : peak;
        now -= ending[p];
    }
    return peak;
}

bool model_work_of(const struct graph *graph, struct model_work *work, struct irrun_error *err)
{
    uint32_t most_operands = 0;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        uint32_t n = op->n_inputs + op->n_outputs;
        most_operands = n > most_operands ? n : most_operands;
    }
    struct graph_work in = {.err = err,
                            .graph = graph,
                            .values = new_array(graph->n_values, sizeof *in.values, err),
                            .operands = new_array(most_operands, sizeof *in.operands, err)};
    uint64_t *body_bytes = new_array(graph->n_order, sizeof *body_bytes, err);
    uint64_t *ending = new_array(graph->n_order, sizeof *ending, err);
    bool is_done = in.values && in.operands && body_bytes && ending;
    for (uint32_t p = 0; p < graph->n_order && is_done; p++) {
        const struct op *op = &graph->ops[graph->order[p]];
        set_outputs(&in, op, p);
        is_done = add_op(&in, op, work, &body_bytes[p]);
    }
    if (is_done)
        work->values_bytes = find_peak(&in, body_bytes, ending);
    free(in.values);
    free(in.operands);
    free(body_bytes);
    free(ending);
    return is_done;
}
