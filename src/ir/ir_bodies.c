/* Reads the bodies and port maps of TensorIterator, Loop and If. A port map may come before or
 * after the body and the ports that it names, so ids are resolved at the end of the layer.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ir/ir_builder_internal.h"

#define PATH_NAME_BYTES 200

void parsed_body_free(struct parsed_body *parsed)
{
    free(parsed->layers.refs);
    free(parsed->inputs.items);
    free(parsed->outputs.items);
    free(parsed->back_edges);
    *parsed = (struct parsed_body){.graph = NULL};
}

static bool read_number(struct ir_builder *builder, xml_attrs attrs, const char *name,
                        bool counts_from_end, int64_t *number)
{
    const char *text = attrs_find(attrs, name);
    if (!text || text_to_i64(text, strlen(text), number))
        return true;
    fail_at(builder->err, IRRUN_DATA, here(builder), "%s is \"%.100s\", expected a whole number",
            name, text);
    return counts_from_end && fail_hint(builder->err, "negative numbers count from the end");
}

static bool read_purpose(struct ir_builder *builder, xml_attrs attrs, enum port_purpose *purpose)
{
    const char *text = attrs_find(attrs, "purpose");
    *purpose = PURPOSE_NONE;
    if (!text || *text == '\0')
        return true;
    if (strcmp(text, "current_iteration") == 0)
        *purpose = PURPOSE_CURRENT_ITERATION;
    else if (strcmp(text, "execution_condition") == 0)
        *purpose = PURPOSE_EXECUTION_CONDITION;
    if (*purpose != PURPOSE_NONE)
        return true;
    fail_at(builder->err, IRRUN_DATA, here(builder),
            "purpose is \"%.100s\", expected current_iteration or execution_condition", text);
    return fail_hint(builder->err, "leave it out for an ordinary input or output");
}

static bool read_port_map(struct ir_builder *builder, xml_attrs attrs, struct port_map *map)
{
    const char *external = attrs_find(attrs, "external_port_id");
    *map = (struct port_map){.external = -2, .end = -1, .stride = 1, .part_size = 1};
    map->line = here(builder).line;
    map->column = here(builder).column;
    map->has_axis = attrs_find(attrs, "axis") != NULL;
    if (!external || !text_to_i64(external, strlen(external), &map->external) ||
        map->external < -1 || map->external >= NO_ID) {
        fail_at(builder->err, IRRUN_DATA, here(builder),
                external ? "<%s>: external_port_id is \"%.100s\", expected a port id or -1"
                         : "<%s> has no external_port_id",
                builder->element->name, external);
        return fail_hint(builder->err, "it is the id of a port of the layer, or -1 for none");
    }
    return read_id(builder, attrs, "internal_layer_id", &map->internal_id) &&
           read_number(builder, attrs, "axis", true, &map->axis) &&
           read_number(builder, attrs, "start", true, &map->start) &&
           read_number(builder, attrs, "end", true, &map->end) &&
           read_number(builder, attrs, "stride", false, &map->stride) &&
           read_number(builder, attrs, "part_size", false, &map->part_size) &&
           read_purpose(builder, attrs, &map->purpose);
}

/* Returns the body that the current element belongs to. */
static struct parsed_body *body_at(struct ir_builder *builder, struct scope *scope)
{
    return &scope->layer.bodies[builder->element->body];
}

/* Handles an <input> or an <output> of a port_map. */
bool start_port_map(struct ir_builder *builder, xml_attrs attrs)
{
    struct parsed_body *parsed = body_at(builder, builder->scope);
    bool is_input = strcmp(builder->element->name, "input") == 0;
    struct parsed_maps *maps = is_input ? &parsed->inputs : &parsed->outputs;
    return GROW_ARRAY(maps->items, maps->n, maps->capacity, builder->err) &&
           read_port_map(builder, attrs, &maps->items[maps->n++]);
}

bool start_back_edge(struct ir_builder *builder, xml_attrs attrs)
{
    struct parsed_body *parsed = &current_layer(builder)->bodies[0];
    struct parsed_back_edge edge = {.line = here(builder).line, .column = here(builder).column};
    if (!read_id(builder, attrs, "from-layer", &edge.from_layer) ||
        !read_id(builder, attrs, "to-layer", &edge.to_layer) ||
        !GROW_ARRAY(parsed->back_edges, parsed->n_back_edges, parsed->back_edges_capacity,
                    builder->err))
        return false;
    parsed->back_edges[parsed->n_back_edges++] = edge;
    return true;
}

/* Returns the path of a body of the current layer. Truncates long names, since otherwise a path
 * could be much longer than the file. */
static const char *extend_path(struct ir_builder *builder, const char *name, const char *element)
{
    const char *outer = builder->scope->path;
    size_t n_name = strlen(name);
    if (n_name > PATH_NAME_BYTES)
        for (n_name = PATH_NAME_BYTES; n_name > 0 && ((unsigned char)name[n_name] & 0xc0) == 0x80;)
            n_name--;
    size_t n_bytes = strlen(outer) + n_name + strlen(element) + sizeof "//";
    char *path = arena_alloc(&builder->model->arena, n_bytes, builder->err);
    if (path)
        snprintf(path, n_bytes, "%s%.*s/%s/", outer, (int)n_name, name, element);
    return path;
}

bool start_body(struct ir_builder *builder, xml_attrs attrs)
{
    const struct op *op = current_op(builder);
    const char *element = builder->element->name;
    (void)attrs;
    if (body_at(builder, builder->scope)->graph) {
        fail_at(builder->err, IRRUN_DATA, here(builder), "%s \"%.200s\" has a second <%s>",
                op_type(op), op->name, element);
        return fail_hint(builder->err, "remove one of the two");
    }
    if (builder->scope->depth == MAX_BODY_DEPTH) {
        fail_at(builder->err, IRRUN_UNSUPPORTED, here(builder),
                "bodies are nested more than %d deep", MAX_BODY_DEPTH);
        return fail_hint(builder->err, "unroll the inner loops when the model is converted");
    }
    const char *path = extend_path(builder, op->name, element);
    return path && scope_new(builder, path);
}

bool end_body(struct ir_builder *builder)
{
    struct parsed_body *parsed = body_at(builder, builder->scope->parent);
    if (!finish_graph(builder, &parsed->graph, &parsed->layers))
        return false;
    scope_pop(builder);
    return true;
}

/* Replaces the id of a layer of the body with the id of its op, which must have role `role`. */
static bool resolve_inner(struct ir_builder *builder, const struct parsed_body *parsed,
                          enum op_role role, struct place place, uint32_t *id)
{
    const char *expected = role == ROLE_PARAMETER ? "Parameter" : "Result";
    uint32_t op_id = find_layer(&parsed->layers, *id);
    const struct op *op = op_id == NO_ID ? NULL : &parsed->graph->ops[op_id];
    if (op && op->def && op->def->role == role) {
        *id = op_id;
        return true;
    }
    if (op)
        fail_at(builder->err, IRRUN_DATA, place,
                "layer %u of the body is %s \"%.200s\" (line %u), expected a %s", *id, op_type(op),
                op->name, op->line, expected);
    else
        fail_at(builder->err, IRRUN_DATA, place, "the body has no layer %u, expected a %s", *id,
                expected);
    return fail_hint(builder->err,
                     "inputs go to Parameters of the body, outputs come from Results");
}

static bool resolve_map(struct ir_builder *builder, const struct parsed_body *parsed, bool is_input,
                        struct port_map *map)
{
    const struct scope *scope = builder->scope;
    const struct op *op = current_op(builder);
    struct place place = {builder->file, map->line, map->column};
    if (!resolve_inner(builder, parsed, is_input ? ROLE_PARAMETER : ROLE_RESULT, place,
                       &map->internal_id))
        return false;
    if (map->external == -1)
        return true;
    const struct port_ref *refs = is_input ? input_ports(scope, op) : output_ports(scope, op);
    uint32_t n = is_input ? op->n_inputs : op->n_outputs;
    uint32_t ordinal;
    if (!find_port(refs, n, (uint32_t)map->external, &ordinal)) {
        fail_at(builder->err, IRRUN_DATA, place,
                "external_port_id %lld is not an %s port of %s \"%.200s\" (line %u)",
                (long long)map->external, is_input ? "input" : "output", op_type(op), op->name,
                op->line);
        return fail_hint(builder->err, "it is the id of a <port> of that layer");
    }
    map->external = ordinal;
    return true;
}

/* Removes all but the first of several entries for one output, as other readers of IR do. Entries
 * without an output (-1) stay. */
static bool drop_repeated(struct ir_builder *builder, struct port_map *maps, uint32_t *n)
{
    uint32_t n_ports = current_op(builder)->n_outputs;
    bool *has_entry = new_array((size_t)n_ports + 1, sizeof *has_entry, builder->err);
    if (!has_entry)
        return false;
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < *n; i++) {
        size_t port = (size_t)(maps[i].external + 1);
        if (port == 0 || !has_entry[port])
            maps[n_kept++] = maps[i];
        has_entry[port] = true;
    }
    free(has_entry);
    *n = n_kept;
    return true;
}

/* Copies the entries of a port map to the arena, and resolves their ids. */
static bool finish_maps(struct ir_builder *builder, const struct parsed_body *parsed, bool is_input,
                        struct port_map **maps, uint32_t *n)
{
    const struct parsed_maps *from = is_input ? &parsed->inputs : &parsed->outputs;
    *n = (uint32_t)from->n;
    *maps = arena_alloc_array(&builder->model->arena, from->n, sizeof **maps, builder->err);
    for (uint32_t i = 0; *maps && i < *n; i++) {
        (*maps)[i] = from->items[i];
        if (!resolve_map(builder, parsed, is_input, &(*maps)[i]))
            return false;
    }
    return *maps != NULL;
}

static bool finish_body(struct ir_builder *builder, struct parsed_body *parsed, struct body *body)
{
    body->graph = parsed->graph;
    body->n_back_edges = (uint32_t)parsed->n_back_edges;
    body->back_edges = arena_alloc_array(&builder->model->arena, parsed->n_back_edges,
                                         sizeof *body->back_edges, builder->err);
    if (!body->back_edges || !finish_maps(builder, parsed, true, &body->inputs, &body->n_inputs) ||
        !finish_maps(builder, parsed, false, &body->outputs, &body->n_outputs))
        return false;
    for (uint32_t i = 0; i < body->n_back_edges; i++) {
        const struct parsed_back_edge *edge = &parsed->back_edges[i];
        struct place place = {builder->file, edge->line, edge->column};
        body->back_edges[i] = (struct back_edge){edge->from_layer, edge->to_layer};
        if (!resolve_inner(builder, parsed, ROLE_RESULT, place, &body->back_edges[i].from_id) ||
            !resolve_inner(builder, parsed, ROLE_PARAMETER, place, &body->back_edges[i].to_id))
            return false;
    }
    return drop_repeated(builder, body->outputs, &body->n_outputs);
}

static bool fail_no_body(struct ir_builder *builder, const struct op *op, uint32_t index)
{
    const char *element = op->n_bodies == 1 ? "body" : index == 0 ? "then_body" : "else_body";
    fail_at(builder->err, IRRUN_DATA, here(builder), "%s \"%.200s\" has no <%s>", op_type(op),
            op->name, element);
    return fail_hint(builder->err, "the layer needs <%s> with <layers> and <edges>", element);
}

bool finish_bodies(struct ir_builder *builder)
{
    struct parsed_layer *layer = current_layer(builder);
    struct op *op = current_op(builder);
    uint32_t n_bodies = (uint32_t)layer->body_form;
    if (n_bodies == 0)
        return true;
    op->bodies =
        arena_alloc_array(&builder->model->arena, n_bodies, sizeof *op->bodies, builder->err);
    if (!op->bodies)
        return false;
    op->n_bodies = n_bodies;
    for (uint32_t i = 0; i < n_bodies; i++) {
        if (!layer->bodies[i].graph)
            return fail_no_body(builder, op, i);
        if (!finish_body(builder, &layer->bodies[i], &op->bodies[i]))
            return false;
        parsed_body_free(&layer->bodies[i]);
    }
    return true;
}
