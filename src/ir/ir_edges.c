/* Reads <edge> elements. At the end of a net or body, resolves layer and port ids to values, and
 * fills the lists of the graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir_builder_internal.h"

bool start_edge(struct ir_builder *builder, xml_attrs attrs)
{
    struct scope *scope = builder->scope;
    struct parsed_edge edge = {.line = here(builder).line, .column = here(builder).column};
    if (!read_id(builder, attrs, "from-layer", &edge.from_layer) ||
        !read_id(builder, attrs, "from-port", &edge.from_port) ||
        !read_id(builder, attrs, "to-layer", &edge.to_layer) ||
        !read_id(builder, attrs, "to-port", &edge.to_port) ||
        !GROW_ARRAY(scope->edges, scope->n_edges, scope->edges_capacity, builder->err))
        return false;
    scope->edges[scope->n_edges++] = edge;
    return true;
}

static int compare_layers(const void *a, const void *b)
{
    const struct layer_ref *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->op_id > y->op_id) - (x->op_id < y->op_id);
}

/* Fails if two layers have the same id. Reports the first layer that repeats the id of an earlier
 * layer. */
static bool check_duplicates(struct ir_builder *builder, const struct layer_index *layers)
{
    const struct layer_ref *first = NULL, *second = NULL;
    for (uint32_t i = 1; i < layers->n; i++) {
        const struct layer_ref *ref = &layers->refs[i];
        if (ref->id == ref[-1].id && (!second || ref->op_id < second->op_id)) {
            second = ref;
            first = ref - 1;
        }
    }
    if (!second)
        return true;
    const struct op *op = &builder->scope->ops[second->op_id];
    const struct op *other = &builder->scope->ops[first->op_id];
    fail_at(builder->err, IRRUN_DATA, (struct place){builder->file, op->line, op->column},
            "layer id %u of %s \"%.200s\" is already used by %s \"%.200s\" at line %u, column %u",
            second->id, op_type(op), op->name, op_type(other), other->name, other->line,
            other->column);
    return fail_hint(builder->err, "every layer of a net or body needs an id of its own");
}

static bool index_layers(struct ir_builder *builder, struct layer_index *layers)
{
    const struct scope *scope = builder->scope;
    uint32_t n = (uint32_t)scope->n_ops;
    layers->refs = new_array(n, sizeof *layers->refs, builder->err);
    if (!layers->refs)
        return false;
    layers->n = n;
    for (uint32_t i = 0; i < n; i++)
        layers->refs[i] = (struct layer_ref){scope->layer_ids[i], i};
    qsort(layers->refs, n, sizeof *layers->refs, compare_layers);
    return check_duplicates(builder, layers);
}

uint32_t find_layer(const struct layer_index *layers, uint32_t layer_id)
{
    uint32_t from = 0, to = layers->n;
    /* The ids are usually 0, 1, 2 … */
    if (layer_id < layers->n && layers->refs[layer_id].id == layer_id)
        return layers->refs[layer_id].op_id;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (layers->refs[middle].id < layer_id)
            from = middle + 1;
        else
            to = middle;
    }
    return from < layers->n && layers->refs[from].id == layer_id ? layers->refs[from].op_id : NO_ID;
}

static struct place edge_place(const struct ir_builder *builder, const struct parsed_edge *edge)
{
    return (struct place){builder->file, edge->line, edge->column};
}

static bool fail_layer(struct ir_builder *builder, const struct parsed_edge *edge,
                       const struct layer_index *layers, const char *end, uint32_t layer_id)
{
    fail_at(builder->err, IRRUN_DATA, edge_place(builder, edge),
            "the edge goes %s layer %u, but there is no such layer", end, layer_id);
    return fail_hint(builder->err, "the layer ids of this net or body are between %u and %u",
                     layers->refs[0].id, layers->refs[layers->n - 1].id);
}

/* Fails because the layer has no port port_id, and lists its ports. */
static bool fail_port(struct ir_builder *builder, const struct parsed_edge *edge, bool is_input,
                      uint32_t port_id, const struct op *op)
{
    const struct scope *scope = builder->scope;
    const char *kind = is_input ? "input" : "output";
    const struct port_ref *refs = is_input ? input_ports(scope, op) : output_ports(scope, op);
    uint32_t n = is_input ? op->n_inputs : op->n_outputs;
    fail_at(builder->err, IRRUN_DATA, edge_place(builder, edge),
            "the edge goes %s port %u of %s \"%.200s\" (line %u), but there is no such %s port",
            is_input ? "to" : "from", port_id, op_type(op), op->name, op->line, kind);
    if (n == 0 || refs[0].id == NO_ID)
        return fail_hint(builder->err, "the layer lists no %s ports", kind);
    char list[160] = "";
    size_t length = 0;
    uint32_t i = 0;
    for (; i < n && refs[i].id != NO_ID && length < sizeof list - 24; i++)
        length += (size_t)sprintf(list + length, i == 0 ? "%u" : ", %u", refs[i].id);
    return fail_hint(builder->err, "its %s ports: %s%s", kind, list,
                     i == n || refs[i].id == NO_ID ? "" : ", ...");
}

/* Fails because an earlier edge ends at the same input. */
static bool fail_second_edge(struct ir_builder *builder, const struct parsed_edge *edge,
                             const struct op *op)
{
    const struct parsed_edge *other = builder->scope->edges;
    while (other->to_layer != edge->to_layer || other->to_port != edge->to_port)
        other++;
    fail_at(builder->err, IRRUN_DATA, edge_place(builder, edge),
            "port %u of %s \"%.200s\" (line %u) already has an edge, at line %u, column %u",
            edge->to_port, op_type(op), op->name, op->line, other->line, other->column);
    return fail_hint(builder->err, "an input takes one edge: remove one, or fix its to-port");
}

static bool resolve_edge(struct ir_builder *builder, const struct parsed_edge *edge,
                         const struct layer_index *layers, uint32_t *input_ids)
{
    const struct scope *scope = builder->scope;
    uint32_t from = find_layer(layers, edge->from_layer), to = find_layer(layers, edge->to_layer);
    if (from == NO_ID)
        return fail_layer(builder, edge, layers, "from", edge->from_layer);
    if (to == NO_ID)
        return fail_layer(builder, edge, layers, "to", edge->to_layer);
    const struct op *source = &scope->ops[from], *target = &scope->ops[to];
    uint32_t output, input;
    if (!find_port(output_ports(scope, source), source->n_outputs, edge->from_port, &output))
        return fail_port(builder, edge, false, edge->from_port, source);
    if (!find_port(input_ports(scope, target), target->n_inputs, edge->to_port, &input))
        return fail_port(builder, edge, true, edge->to_port, target);
    uint32_t *input_id = &input_ids[target->first_input + input];
    if (*input_id != NO_ID)
        return fail_second_edge(builder, edge, target);
    *input_id = source->first_output + output;
    return true;
}

static bool fail_missing_edge(struct ir_builder *builder, const struct op *op, uint32_t ordinal,
                              uint32_t layer_id)
{
    const struct port_ref *ref = input_ports(builder->scope, op);
    while (ref->ordinal != ordinal)
        ref++;
    fail_at(builder->err, IRRUN_DATA, (struct place){builder->file, op->line, op->column},
            "%s \"%.200s\": no edge goes to input %u (port %u)", op_type(op), op->name, ordinal,
            ref->id);
    return fail_hint(builder->err,
                     "add <edge from-layer=... from-port=... to-layer=\"%u\" "
                     "to-port=\"%u\"/> to <edges>",
                     layer_id, ref->id);
}

static bool resolve_edges(struct ir_builder *builder, const struct layer_index *layers,
                          uint32_t *input_ids)
{
    const struct scope *scope = builder->scope;
    memset(input_ids, 0xff, scope->n_inputs * sizeof *input_ids);
    for (size_t i = 0; i < scope->n_edges; i++)
        if (!resolve_edge(builder, &scope->edges[i], layers, input_ids))
            return false;
    for (size_t i = 0; i < scope->n_ops; i++) {
        const struct op *op = &scope->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++)
            if (input_ids[op->first_input + k] == NO_ID)
                return fail_missing_edge(builder, op, k, scope->layer_ids[i]);
    }
    return true;
}

/* Lists the ids of the ops with role `role`, in document order. */
static bool list_role(struct ir_builder *builder, enum op_role role, uint32_t **ids, uint32_t *n)
{
    const struct scope *scope = builder->scope;
    uint32_t n_found = 0;
    for (size_t i = 0; i < scope->n_ops; i++)
        n_found += scope->ops[i].def && scope->ops[i].def->role == role;
    uint32_t *found =
        arena_alloc_array(&builder->model->arena, n_found, sizeof *found, builder->err);
    if (!found)
        return false;
    *ids = found;
    *n = n_found;
    for (size_t i = 0; i < scope->n_ops; i++)
        if (scope->ops[i].def && scope->ops[i].def->role == role)
            *found++ = (uint32_t)i;
    return true;
}

static bool fill_graph(struct ir_builder *builder, struct graph *graph,
                       const struct layer_index *layers)
{
    const struct scope *scope = builder->scope;
    struct ir_model *model = builder->model;
    struct arena *arena = &model->arena;
    graph->file = builder->file;
    graph->path = scope->path;
    graph->name = scope->parent ? "" : builder->net_name;
    graph->ir_version = builder->ir_version;
    graph->weights = &model->weights;
    graph->weights_file = model->weights_path;
    graph->n_ops = (uint32_t)scope->n_ops;
    graph->n_values = (uint32_t)scope->n_values;
    graph->n_input_ids = (uint32_t)scope->n_inputs;
    graph->ops = arena_copy(arena, scope->ops, scope->n_ops, sizeof *scope->ops, builder->err);
    graph->values =
        arena_copy(arena, scope->values, scope->n_values, sizeof *scope->values, builder->err);
    graph->input_ids =
        arena_alloc_array(arena, scope->n_inputs, sizeof *graph->input_ids, builder->err);
    return graph->ops && graph->values && graph->input_ids &&
           resolve_edges(builder, layers, graph->input_ids) &&
           list_role(builder, ROLE_PARAMETER, &graph->parameters, &graph->n_parameters) &&
           list_role(builder, ROLE_RESULT, &graph->results, &graph->n_results);
}

bool finish_graph(struct ir_builder *builder, struct graph **graph, struct layer_index *layers)
{
    if (builder->scope->n_ops == 0) {
        fail_at(builder->err, IRRUN_DATA, here(builder), "there are no layers here");
        return fail_hint(builder->err, "put them in <layers> inside this element");
    }
    *graph = arena_alloc(&builder->model->arena, sizeof **graph, builder->err);
    return *graph && index_layers(builder, layers) && fill_graph(builder, *graph, layers);
}
