/* Pairs ReadValue with Assign, and analyses the graph for all plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/model.h"

#include <string.h>

#include "base/fast_hash.h"
#include "ops/body.h"
#include "ops/op.h"
#include "ops/op_state.h"

typedef bool graph_visit_fn(struct model *model, struct graph *graph, struct irrun_error *err);

/* Visits a graph and all bodies in it. The XML reader limits how deep bodies can nest. */
static bool visit_graphs(struct model *model, struct graph *graph, graph_visit_fn *visit,
                         struct irrun_error *err)
{
    if (!visit(model, graph, err))
        return false;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        for (uint32_t b = 0; b < op->n_bodies; b++)
            if (!visit_graphs(model, op->bodies[b].graph, visit, err))
                return false;
    }
    return true;
}

static bool allocate_analysis(struct model *model, struct graph *graph, struct irrun_error *err)
{
    struct graph_analysis *analysis = arena_alloc(model->arena, sizeof *analysis, err);
    if (!analysis)
        return false;
    graph->analysis = analysis;
    analysis->constants =
        arena_alloc_array(model->arena, graph->n_values, sizeof *analysis->constants, err);
    analysis->index_of =
        arena_alloc_array(model->arena, graph->n_ops, sizeof *analysis->index_of, err);
    analysis->is_main =
        arena_alloc_array(model->arena, graph->n_ops, sizeof *analysis->is_main, err);
    if (!analysis->constants || !analysis->index_of || !analysis->is_main)
        return false;
    for (uint32_t i = 0; i < graph->n_ops; i++)
        analysis->index_of[i] = NO_ID;
    for (uint32_t i = 0; i < graph->n_parameters; i++)
        analysis->index_of[graph->parameters[i]] = i;
    for (uint32_t i = 0; i < graph->n_results; i++)
        analysis->index_of[graph->results[i]] = i;
    return true;
}

uint32_t body_ordinal(const struct graph *body, uint32_t op_id, enum op_role role)
{
    return op_role_of(&body->ops[op_id]) == role ? body->analysis->index_of[op_id] : NO_ID;
}

/* Returns the entry of `id` in the hash table, or the free entry for it. The table uses linear
 * probing and is at most half full. */
static uint32_t *find_entry(const struct model *model, const char *id)
{
    uint32_t mask = model->n_variable_entries - 1;
    for (uint32_t i = (uint32_t)fast_hash(0, id, strlen(id)) & mask;; i = (i + 1) & mask) {
        uint32_t *entry = &model->variable_entries[i];
        if (*entry == NO_ID || strcmp(model->variables[*entry].id, id) == 0)
            return entry;
    }
}

static struct variable_decl *find_variable(struct model *model, const char *id)
{
    uint32_t index = *find_entry(model, id);
    return index == NO_ID ? NULL : &model->variables[index];
}

/* Fails at an op, and names a second op of the same variable. */
static bool fail_pair(struct irrun_error *err, const struct graph *graph, const struct op *op,
                      const char *id, const char *problem, const struct op *other)
{
    fail_at(err, IRRUN_DATA, op_place(graph, op), "%s \"%s\": variable \"%s\" %s \"%s\" (line %u)",
            op->def->type, op->name, id, problem, other->name, other->line);
    return false;
}

static bool check_id(struct irrun_error *err, const struct graph *graph, const struct op *op,
                     const char *id)
{
    if (*id != '\0')
        return true;
    fail_at(err, IRRUN_DATA, op_place(graph, op), "%s \"%s\": attribute variable_id is empty",
            op->def->type, op->name);
    return fail_hint(err, "a ReadValue and the Assign that writes its variable have the same id");
}

static bool add_read(struct model *model, struct graph *graph, const struct op *op,
                     struct irrun_error *err)
{
    const struct read_value_attrs *attrs = op->attrs;
    if (!check_id(err, graph, op, attrs->variable_id))
        return false;
    struct variable_decl *known = find_variable(model, attrs->variable_id);
    if (known) {
        if (known->dtype != attrs->variable_type ||
            memcmp(&known->shape, &attrs->variable_shape, sizeof known->shape) != 0)
            return fail_pair(err, graph, op, known->id,
                             "is declared with a different type or shape by ReadValue",
                             known->read);
    } else {
        *find_entry(model, attrs->variable_id) = model->n_variables;
        known = &model->variables[model->n_variables++];
        *known = (struct variable_decl){.id = attrs->variable_id,
                                        .dtype = attrs->variable_type,
                                        .shape = attrs->variable_shape,
                                        .graph = graph,
                                        .read = op};
    }
    known->n_reads++;
    graph->analysis->index_of[op - graph->ops] = (uint32_t)(known - model->variables);
    return true;
}

static bool add_reads(struct model *model, struct graph *graph, struct irrun_error *err)
{
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        if (op_role_of(op) == ROLE_READ_VALUE && !add_read(model, graph, op, err))
            return false;
    }
    return true;
}

static bool add_assign(struct model *model, struct graph *graph, const struct op *op,
                       struct irrun_error *err)
{
    const struct assign_attrs *attrs = op->attrs;
    if (!check_id(err, graph, op, attrs->variable_id))
        return false;
    struct variable_decl *variable = find_variable(model, attrs->variable_id);
    if (!variable) {
        fail_at(err, IRRUN_DATA, op_place(graph, op),
                "Assign \"%s\" writes variable \"%s\", which no ReadValue reads", op->name,
                attrs->variable_id);
        if (model->n_variables > 0)
            fail_hint(err, "the ReadValue layers read: \"%s\"%s", model->variables[0].id,
                      model->n_variables > 1 ? " and others" : "");
        return false;
    }
    if (variable->assign)
        return fail_pair(err, graph, op, variable->id, "is already written by Assign",
                         variable->assign);
    variable->assign = op;
    variable->assign_graph = graph;
    graph->analysis->index_of[op - graph->ops] = (uint32_t)(variable - model->variables);
    return true;
}

static bool add_assigns(struct model *model, struct graph *graph, struct irrun_error *err)
{
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        if (op_role_of(op) == ROLE_ASSIGN && !add_assign(model, graph, op, err))
            return false;
    }
    return true;
}

/* Marks the main ops: ops that a Result or Assign depends on, other than through the input of a
 * ReadValue. The order is topological, so one backward pass is enough. */
static bool mark_main(struct model *model, struct graph *graph, struct irrun_error *err)
{
    (void)model, (void)err;
    bool *is_main = graph->analysis->is_main;
    for (uint32_t i = graph->n_order; i-- > 0;) {
        const struct op *op = &graph->ops[graph->order[i]];
        enum op_role role = op_role_of(op);
        if (role == ROLE_RESULT || role == ROLE_ASSIGN)
            is_main[graph->order[i]] = true;
        graph->analysis->has_variables |= role == ROLE_READ_VALUE || role == ROLE_ASSIGN;
        if (!is_main[graph->order[i]] || role == ROLE_READ_VALUE)
            continue;
        for (uint32_t k = 0; k < op->n_inputs; k++)
            is_main[graph->values[op_input(graph, op, k)].op_id] = true;
    }
    return true;
}

static uint32_t count_reads(const struct graph *graph)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        n += op_role_of(op) == ROLE_READ_VALUE;
        for (uint32_t b = 0; b < op->n_bodies; b++)
            n += count_reads(op->bodies[b].graph);
    }
    return n;
}

static bool allocate_variables(struct model *model, struct irrun_error *err)
{
    uint32_t n = count_reads(model->graph), n_entries = 4;
    while (n_entries / 2 < n)
        n_entries *= 2;
    model->variables = arena_alloc_array(model->arena, n, sizeof *model->variables, err);
    model->variable_entries =
        arena_alloc_array(model->arena, n_entries, sizeof *model->variable_entries, err);
    model->n_variable_entries = n_entries;
    for (uint32_t i = 0; model->variable_entries && i < n_entries; i++)
        model->variable_entries[i] = NO_ID;
    return model->variables && model->variable_entries;
}

bool model_prepare(struct model *model, bool is_dry, struct irrun_error *err)
{
    if (!allocate_variables(model, err))
        return false;
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0 ||
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) != 0 ||
        pthread_mutex_init(&model->lock, &attributes) != 0)
        return fail(err, IRRUN_SYSTEM, "cannot create a lock");
    pthread_mutexattr_destroy(&attributes);
    return visit_graphs(model, model->graph, allocate_analysis, err) &&
           visit_graphs(model, model->graph, add_reads, err) &&
           visit_graphs(model, model->graph, add_assigns, err) &&
           visit_graphs(model, model->graph, mark_main, err) &&
           (is_dry || visit_graphs(model, model->graph, constants_find, err));
}

void model_release(struct model *model)
{
    weights_cache_free(&model->weights_cache);
    pthread_mutex_destroy(&model->lock);
}
