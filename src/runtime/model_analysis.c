/* Estimates the work of a model, and finds unused weights and probable mistakes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/model_facts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ops/op_state.h"
#include "plan/passes.h"

struct analyzer {
    const struct model *model;
    struct remarks suspicions;
    struct irrun_op_name *unused;
    size_t n_unused, unused_capacity;
    const struct const_attrs **used; /* the live Consts, sorted by offset once all are listed */
    size_t n_used, used_capacity;
    uint64_t unused_bytes;
    struct irrun_error *err;
};

/* ---- weights ---- */

static int by_offset(const void *a, const void *b)
{
    const struct const_attrs *x = *(const struct const_attrs *const *)a;
    const struct const_attrs *y = *(const struct const_attrs *const *)b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static const struct const_attrs *const_of(const struct op *op)
{
    const struct const_attrs *attrs = op_role_of(op) == ROLE_CONST ? op->attrs : NULL;
    return attrs && attrs->size > 0 ? attrs : NULL;
}

/* Lists the Consts that live ops of the graph and its bodies read. */
static bool list_used(struct analyzer *analyzer, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        const struct const_attrs *attrs = const_of(op);
        if (attrs &&
            !GROW_ARRAY(analyzer->used, analyzer->n_used, analyzer->used_capacity, analyzer->err))
            return false;
        if (attrs)
            analyzer->used[analyzer->n_used++] = attrs;
        for (uint32_t b = 0; b < op->n_bodies; b++)
            if (!list_used(analyzer, op->bodies[b].graph))
                return false;
    }
    return true;
}

static bool is_used(const struct analyzer *analyzer, const struct const_attrs *attrs)
{
    return analyzer->n_used > 0 &&
           bsearch(&attrs, analyzer->used, analyzer->n_used, sizeof *analyzer->used, by_offset);
}

static bool list_unused(struct analyzer *analyzer, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        const struct op *op = &graph->ops[i];
        const struct const_attrs *attrs = const_of(op);
        for (uint32_t b = 0; b < op->n_bodies; b++)
            if (!list_unused(analyzer, op->bodies[b].graph))
                return false;
        if (!attrs || is_used(analyzer, attrs))
            continue;
        if (!GROW_ARRAY(analyzer->unused, analyzer->n_unused, analyzer->unused_capacity,
                        analyzer->err))
            return false;
        analyzer->unused[analyzer->n_unused++] =
            (struct irrun_op_name){op->def->type, op->name, op->line};
        analyzer->unused_bytes += (uint64_t)attrs->size;
    }
    return true;
}

static bool is_weight_type(enum irrun_dtype dtype)
{
    return dtype != IRRUN_BOOLEAN && dtype != IRRUN_STRING &&
           (!dtype_is_integer(dtype) || dtype_size(dtype) == 1);
}

/* Returns the number of elements of a shape; 0 if it is too large for any tensor. */
static uint64_t count_elements(const struct irrun_shape *shape)
{
    double n = 1;
    for (uint32_t i = 0; i < shape->rank; i++)
        n *= (double)shape->dims[i];
    return n > 0 && n < 0x1p53 ? (uint64_t)n : 0;
}

/* Counts the elements of Consts that are weights, not indices. Consts at the same offset count
 * once. */
static uint64_t count_parameters(const struct analyzer *analyzer)
{
    uint64_t n = 0;
    for (size_t i = 0; i < analyzer->n_used; i++) {
        const struct const_attrs *attrs = analyzer->used[i];
        bool is_shared = i > 0 && analyzer->used[i - 1]->offset == attrs->offset;
        if (!is_shared && is_weight_type(attrs->element_type))
            n += count_elements(&attrs->shape);
    }
    return n;
}

static bool list_weights(struct analyzer *analyzer)
{
    if (!list_used(analyzer, analyzer->model->graph))
        return false;
    if (analyzer->n_used > 0)
        qsort(analyzer->used, analyzer->n_used, sizeof *analyzer->used, by_offset);
    return list_unused(analyzer, analyzer->model->graph);
}

/* ---- probable mistakes ---- */

#define SUSPECT(analyzer, ...)                                                                     \
    remarks_add(&(analyzer)->suspicions, (analyzer)->model->arena, (analyzer)->err, __VA_ARGS__)

static const struct variable_decl *variable_of(const struct model *model, const struct graph *graph,
                                               const struct op *op)
{
    uint32_t index = graph->analysis->index_of[op - graph->ops];
    return index < model->n_variables ? &model->variables[index] : NULL;
}

static bool has_variables(const struct op *op)
{
    for (uint32_t b = 0; b < op->n_bodies; b++)
        if (op->bodies[b].graph->analysis->has_variables)
            return true;
    return false;
}

/* Finds the ops that depend on an input or a variable. */
static void find_dependent(const struct graph *graph, bool *is_dependent)
{
    for (uint32_t p = 0; p < graph->n_order; p++) {
        uint32_t id = graph->order[p];
        const struct op *op = &graph->ops[id];
        enum op_role role = op_role_of(op);
        is_dependent[id] = role == ROLE_PARAMETER || role == ROLE_READ_VALUE || has_variables(op);
        for (uint32_t i = 0; i < op->n_inputs; i++)
            is_dependent[id] |= is_dependent[graph->values[op_input(graph, op, i)].op_id];
    }
}

/* Finds the ops that an output of the model depends on, directly or, in a later iteration, through
 * a variable. */
static void find_needed(const struct analyzer *analyzer, const struct graph *graph, bool *is_needed)
{
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (uint32_t p = graph->n_order; p-- > 0;) {
            uint32_t id = graph->order[p];
            const struct op *op = &graph->ops[id];
            enum op_role role = op_role_of(op);
            is_needed[id] |= role == ROLE_RESULT || has_variables(op);
            if (role == ROLE_ASSIGN) {
                const struct variable_decl *variable = variable_of(analyzer->model, graph, op);
                bool is_read =
                    !variable || variable->graph != graph || is_needed[variable->read - graph->ops];
                is_changed |= is_read && !is_needed[id];
                is_needed[id] |= is_read;
            }
            for (uint32_t i = 0; i < op->n_inputs && is_needed[id]; i++)
                is_needed[graph->values[op_input(graph, op, i)].op_id] = true;
        }
    }
}

static bool suspect_ops(struct analyzer *analyzer, const bool *is_dependent, const bool *is_needed)
{
    const struct graph *graph = analyzer->model->graph;
    bool is_done = true;
    for (uint32_t p = 0; p < graph->n_order && is_done; p++) {
        uint32_t id = graph->order[p];
        const struct op *op = &graph->ops[id];
        if (op_role_of(op) == ROLE_RESULT && !is_dependent[id])
            is_done = SUSPECT(
                analyzer, "output \"%s\" (line %" PRIu32 ") depends on no input and no variable",
                op->name, op->line);
        else if (op_role_of(op) == ROLE_PARAMETER && !is_needed[id])
            is_done = SUSPECT(analyzer, "no output depends on input \"%s\" (line %" PRIu32 ")",
                              op->name, op->line);
    }
    return is_done;
}

static bool suspect_variables(struct analyzer *analyzer, const bool *is_needed)
{
    const struct model *model = analyzer->model;
    bool is_done = true;
    for (uint32_t i = 0; i < model->n_variables && is_done; i++) {
        const struct variable_decl *variable = &model->variables[i];
        if (!variable->assign)
            is_done = SUSPECT(analyzer,
                              "variable \"%s\" (line %" PRIu32 ") has no Assign: it never changes",
                              variable->id, variable->read->line);
        else if (variable->graph == model->graph && !is_needed[variable->read - model->graph->ops])
            is_done = SUSPECT(analyzer, "no output depends on variable \"%s\" (line %" PRIu32 ")",
                              variable->id, variable->read->line);
    }
    return is_done;
}

static bool suspect(struct analyzer *analyzer)
{
    const struct graph *graph = analyzer->model->graph;
    bool *is_dependent = new_array(graph->n_ops, sizeof *is_dependent, analyzer->err);
    bool *is_needed = new_array(graph->n_ops, sizeof *is_needed, analyzer->err);
    bool is_done = is_dependent && is_needed;
    if (is_done) {
        find_dependent(graph, is_dependent);
        find_needed(analyzer, graph, is_needed);
        is_done = suspect_ops(analyzer, is_dependent, is_needed) &&
                  suspect_variables(analyzer, is_needed);
    }
    free(is_dependent);
    free(is_needed);
    return is_done;
}

/* ---- the analysis ---- */

static uint64_t count_state_bytes(const struct model *model)
{
    uint64_t n_bytes = 0;
    for (uint32_t i = 0; i < model->n_variables; i++) {
        const struct variable_decl *variable = &model->variables[i];
        struct irrun_shape shape;
        if (variable->dtype != IRRUN_DYNAMIC && partial_shape_to_shape(&variable->shape, &shape))
            n_bytes += 2 * count_elements(&shape) * dtype_size(variable->dtype);
    }
    return n_bytes;
}

bool model_analyse(const struct model *model, struct irrun_analysis *analysis,
                   struct irrun_error *err)
{
    struct analyzer analyzer = {.model = model, .err = err};
    struct model_work work = {0};
    bool is_done =
        model_work_of(model->graph, &work, err) && list_weights(&analyzer) && suspect(&analyzer);
    if (is_done)
        analysis->unused = arena_copy(model->arena, analyzer.unused, analyzer.n_unused,
                                      sizeof *analyzer.unused, err);
    is_done = is_done && analysis->unused;
    if (is_done) {
        analysis->n_parameters = count_parameters(&analyzer);
        analysis->flops = work.flops;
        analysis->bytes = work.bytes;
        analysis->n_open_ops = work.n_open_ops;
        analysis->values_bytes = work.values_bytes;
        analysis->state_bytes = count_state_bytes(model);
        analysis->n_unused = analyzer.n_unused;
        analysis->unused_bytes = analyzer.unused_bytes;
        analysis->suspicions = analyzer.suspicions.items;
        analysis->n_suspicions = analyzer.suspicions.n;
    }
    free(analyzer.used);
    free(analyzer.unused);
    return is_done;
}
