/* Finds intermediate values by name and adds Results for them, so that toposort keeps them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/graph_edit.h"

#define MAX_CHANGES 3 /* maximum number of letters in which a suggested name differs */
#define MAX_HINTS 10

static bool has_tensor_name(const struct value *value, const char *name)
{
    for (uint32_t i = 0; i < value->n_names; i++)
        if (strcmp(value->names[i], name) == 0)
            return true;
    return false;
}

/* Returns whether `name` is a layer and a port: "LAYER:1". */
static bool is_layer_port(const struct op *op, uint32_t port, const char *name)
{
    size_t length = strlen(op->name);
    int64_t number;
    return strncmp(op->name, name, length) == 0 && name[length] == ':' &&
           text_is_digit(name[length + 1]) &&
           text_to_i64(name + length + 1, strlen(name + length + 1), &number) && number == port;
}

/* Returns the value with this name. An exact name takes precedence over LAYER:PORT. */
static uint32_t find_value(const struct graph *graph, const char *name)
{
    for (uint32_t i = 0; i < graph->n_values; i++)
        if (has_tensor_name(&graph->values[i], name))
            return i;
    for (uint32_t i = 0; i < graph->n_ops; i++)
        if (graph->ops[i].n_outputs == 1 && strcmp(graph->ops[i].name, name) == 0)
            return graph->ops[i].first_output;
    for (uint32_t i = 0; i < graph->n_values; i++)
        if (is_layer_port(value_producer(graph, i), graph->values[i].port, name))
            return i;
    return NO_ID;
}

/* Returns the name of a layer of this graph whose bodies, at any depth, contain a value with this
 * name; NULL if there is none. */
static const char *find_in_bodies(const struct graph *graph, const char *name)
{
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        const struct op *op = &graph->ops[i];
        for (uint32_t k = 0; k < op->n_bodies; k++) {
            const struct graph *body = op->bodies[k].graph;
            if (body && (find_value(body, name) != NO_ID || find_in_bodies(body, name)))
                return op->name;
        }
    }
    return NULL;
}

static bool is_similar(const char *name, const char *wanted)
{
    size_t length = strlen(wanted);
    unsigned limit = length < 2 * MAX_CHANGES ? (unsigned)length / 2 : MAX_CHANGES;
    return *name && *wanted &&
           (strstr(name, wanted) || text_distance(wanted, name, limit) <= limit);
}

/* Returns a name of the value that is similar to the requested one, or NULL. */
static const char *find_similar_name(const struct graph *graph, const struct value *value,
                                     const char *wanted)
{
    const struct op *op = &graph->ops[value->op_id];
    for (uint32_t i = 0; i < value->n_names; i++)
        if (is_similar(value->names[i], wanted))
            return value->names[i];
    return op->n_outputs == 1 && is_similar(op->name, wanted) ? op->name : NULL;
}

/* Fails for the name of a layer with several outputs. */
static bool fail_several(const struct op *op, struct irrun_error *err)
{
    fail(err, IRRUN_USAGE, "layer \"%s\" has %" PRIu32 " outputs", op->name, op->n_outputs);
    return fail_hint(err, "--tap=%s:0 is the first, --tap=%s:%" PRIu32 " the last", op->name,
                     op->name, op->n_outputs - 1);
}

static bool fail_unknown(const struct graph *graph, const char *name, struct irrun_error *err)
{
    for (uint32_t i = 0; i < graph->n_ops; i++)
        if (graph->ops[i].n_outputs > 1 && strcmp(graph->ops[i].name, name) == 0)
            return fail_several(&graph->ops[i], err);
    const char *layer = find_in_bodies(graph, name);
    fail(err, IRRUN_USAGE, "no tensor and no layer with one output is called \"%s\"", name);
    if (layer)
        return fail_hint(err, "it is in a body of \"%s\", of which only the outputs can be shown",
                         layer);
    unsigned n_near = 0;
    for (uint32_t i = 0; i < graph->n_values && n_near < MAX_HINTS; i++) {
        const char *near = find_similar_name(graph, &graph->values[i], name);
        if (near)
            fail_append(err, "%s%s", n_near++ == 0 ? "; similar names:\n  " : "\n  ", near);
    }
    const char *comma = strchr(name, ',');
    if (comma)
        fail_hint(err, "use an option for each: --tap=%.*s --tap=%s", (int)(comma - name), name,
                  comma + 1);
    return fail_hint(err, "irrun --list-ops lists all names");
}

/* Returns, for each value, whether a Result reads it. */
static bool *mark_outputs(const struct graph *graph, struct irrun_error *err)
{
    bool *is_output = new_array(graph->n_values, sizeof *is_output, err);
    for (uint32_t i = 0; is_output && i < graph->n_results; i++) {
        const struct op *result = &graph->ops[graph->results[i]];
        if (result->n_inputs > 0)
            is_output[op_input(graph, result, 0)] = true;
    }
    return is_output;
}

/* Adds a Result for every value in the list. names: NULL, or a name for each. */
static bool add_results(struct graph *graph, struct arena *arena, const uint32_t *value_ids,
                        const char *const *names, size_t n, struct irrun_error *err)
{
    char why[OP_WHY_BYTES];
    const struct op_def *def = op_find("Result", "opset1", why);
    struct graph_edit edit;
    uint32_t *results = arena_alloc_array(arena, graph->n_results + n, sizeof *results, err);
    if (!results || !graph_edit_begin(&edit, graph, arena, n, 0, n, err))
        return false;
    if (graph->n_results > 0)
        memcpy(results, graph->results, graph->n_results * sizeof *results);
    graph->results = results;
    for (size_t i = 0; i < n; i++) {
        uint32_t op_id = graph_edit_add(&edit, def, NULL, value_producer(graph, value_ids[i]),
                                        &value_ids[i], 1, 0);
        if (names)
            graph->ops[op_id].name = names[i];
        graph->results[graph->n_results++] = op_id;
    }
    return true;
}

bool taps_add(struct graph *graph, struct arena *arena, const char *const *names, size_t n_names,
              struct irrun_error *err)
{
    if (n_names == 0)
        return true;
    bool *is_output = mark_outputs(graph, err);
    uint32_t *value_ids = arena_alloc_array(arena, n_names, sizeof *value_ids, err);
    const char **kept = arena_alloc_array(arena, n_names, sizeof *kept, err);
    bool is_found = is_output && value_ids && kept;
    size_t n = 0;
    for (size_t i = 0; i < n_names && is_found; i++) {
        uint32_t value_id = find_value(graph, names[i]);
        if (value_id == NO_ID)
            is_found = fail_unknown(graph, names[i], err);
        if (!is_found || is_output[value_id])
            continue;
        is_output[value_id] = true;
        value_ids[n] = value_id;
        kept[n] = arena_strdup(arena, names[i], err);
        is_found = kept[n++] != NULL;
    }
    free(is_output);
    return is_found && add_results(graph, arena, value_ids, kept, n, err);
}

bool taps_add_all(struct graph *graph, struct arena *arena, struct irrun_error *err)
{
    bool *is_output = mark_outputs(graph, err);
    uint32_t *value_ids = arena_alloc_array(arena, graph->n_values, sizeof *value_ids, err);
    bool is_ready = is_output && value_ids;
    size_t n = 0;
    for (uint32_t i = 0; i < graph->n_order && is_ready; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        enum op_role role = op->def ? op->def->role : ROLE_ORDINARY;
        bool is_skipped = role == ROLE_CONST || role == ROLE_ASSIGN;
        for (uint32_t k = 0; k < op->n_outputs && !is_skipped; k++)
            if (!is_output[op->first_output + k])
                value_ids[n++] = op->first_output + k;
    }
    free(is_output);
    return is_ready && add_results(graph, arena, value_ids, NULL, n, err);
}
