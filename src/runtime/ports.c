/* Finds the names of inputs and outputs, by the rules in irrun(1), "Names".
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ops/op.h"
#include "ops/op_state.h"

/* Adds an alias. The list is searched linearly, because a layer has few names. */
static void add_alias(struct irrun_port *port, const char **names, const char *name)
{
    bool is_known = strcmp(port->name, name) == 0;
    for (size_t i = 0; i < port->n_names && !is_known && i < 64; i++)
        is_known = strcmp(names[i], name) == 0;
    if (!is_known)
        names[port->n_names++] = name;
}

bool ports_of_inputs(const struct graph *graph, struct arena *arena, struct ports *ports,
                     struct irrun_error *err)
{
    ports->is_output = false;
    ports->port_aliases = NULL;
    ports->n = graph->n_parameters;
    ports->items = arena_alloc_array(arena, ports->n, sizeof *ports->items, err);
    if (!ports->items)
        return false;
    for (size_t i = 0; i < ports->n; i++) {
        const struct op *op = &graph->ops[graph->parameters[i]];
        const struct parameter_attrs *attrs = op->attrs; /* NULL: invalid (inspection only) */
        const struct value *value = &graph->values[op->first_output];
        const char **names =
            arena_alloc_array(arena, (size_t)value->n_names + 1, sizeof *names, err);
        if (!names)
            return false;
        ports->items[i] = (struct irrun_port){.name = op->name,
                                              .names = names,
                                              .dtype = attrs ? attrs->element_type : IRRUN_DYNAMIC,
                                              .shape = attrs ? attrs->shape : partial_shape_any(),
                                              .line = op->line,
                                              .column = op->column};
        for (uint32_t j = 0; j < value->n_names; j++)
            add_alias(&ports->items[i], names, value->names[j]);
    }
    return true;
}

static char *layer_port_name(const struct op *op, uint32_t port, struct arena *arena,
                             struct irrun_error *err)
{
    if (op->n_outputs <= 1)
        return arena_strdup(arena, op->name, err);
    size_t size = strlen(op->name) + 16;
    char *name = arena_alloc(arena, size, err);
    if (name)
        snprintf(name, size, "%s:%u", op->name, port);
    return name;
}

/* Sets the type and shape that the port declares. A port without dimensions may be 0-D or of any
 * rank. */
static void copy_hints(const struct value *value, struct irrun_port *port)
{
    port->dtype = (enum irrun_dtype)value->dtype_hint;
    port->shape = partial_shape_any();
    if (value->rank_hint == 0)
        return;
    port->shape.is_rank_dynamic = false;
    port->shape.rank = value->rank_hint;
    for (uint32_t i = 0; i < value->rank_hint; i++) {
        int64_t dim = value->dims_hint[i];
        port->shape.min[i] = dim < 0 ? 0 : dim;
        port->shape.max[i] = dim < 0 ? INT64_MAX : dim;
    }
}

bool ports_of_op(const struct graph *graph, const struct op *op, struct arena *arena,
                 const struct irrun_port **ports, struct irrun_error *err)
{
    struct irrun_port *items = arena_alloc_array(arena, op->n_outputs, sizeof *items, err);
    for (uint32_t k = 0; k < op->n_outputs && items; k++) {
        const struct value *value = &graph->values[op->first_output + k];
        const char *layer_name = layer_port_name(op, k, arena, err);
        const char **names =
            arena_alloc_array(arena, (size_t)value->n_names + 1, sizeof *names, err);
        if (!layer_name || !names)
            return false;
        items[k] = (struct irrun_port){.name = value->n_names > 0 ? value->names[0] : layer_name,
                                       .names = names,
                                       .line = op->line,
                                       .column = op->column};
        copy_hints(value, &items[k]);
        for (uint32_t i = 0; i < value->n_names; i++)
            add_alias(&items[k], names, value->names[i]);
        add_alias(&items[k], names, layer_name);
    }
    *ports = items;
    return items != NULL;
}

/* Sets the names of an output. is_named: for each value, whether an earlier Result already has its
 * name. */
static bool name_output(const struct graph *graph, size_t index, bool *is_named,
                        struct arena *arena, struct ports *ports, struct irrun_error *err)
{
    const struct op *result = &graph->ops[graph->results[index]];
    struct irrun_port *port = &ports->items[index];
    *port = (struct irrun_port){.name = result->name,
                                .dtype = IRRUN_DYNAMIC,
                                .shape = partial_shape_any(),
                                .line = result->line,
                                .column = result->column};
    if (result->n_inputs == 0)
        return true;
    uint32_t value_id = op_input(graph, result, 0);
    const struct value *value = &graph->values[value_id];
    const struct op *layer = value_producer(graph, value_id);
    const char *layer_name = layer_port_name(layer, value->port, arena, err);
    const char **names = arena_alloc_array(
        arena, (size_t)value->n_names + result->n_output_names + 2, sizeof *names, err);
    if (!layer_name || !names)
        return false;
    copy_hints(value, port);
    if (layer->n_outputs > 1)
        ports->port_aliases[index] = layer_name;
    if (!is_named[value_id])
        port->name = value->n_names > 0 ? value->names[0] : layer_name;
    is_named[value_id] = true;
    port->names = names;
    for (uint32_t i = 0; i < value->n_names; i++)
        add_alias(port, names, value->names[i]);
    for (uint32_t i = 0; i < result->n_output_names; i++)
        add_alias(port, names, result->output_names[i]);
    add_alias(port, names, result->name);
    add_alias(port, names, layer_name);
    return true;
}

bool ports_of_outputs(const struct graph *graph, struct arena *arena, struct ports *ports,
                      struct irrun_error *err)
{
    ports->is_output = true;
    ports->n = graph->n_results;
    ports->items = arena_alloc_array(arena, ports->n, sizeof *ports->items, err);
    ports->port_aliases = arena_alloc_array(arena, ports->n, sizeof(char *), err);
    bool *is_named = new_array(graph->n_values, sizeof *is_named, err);
    bool is_done = ports->items && ports->port_aliases && is_named;
    for (size_t i = 0; is_done && i < ports->n; i++)
        is_done = name_output(graph, i, is_named, arena, ports, err);
    free(is_named);
    return is_done;
}

/* How well a name matches. */
enum match { MATCH_NONE, MATCH_PORT_ALIAS, MATCH_ALIAS, MATCH_PRIMARY };

static enum match match_name(const struct ports *ports, size_t index, const char *name)
{
    const struct irrun_port *port = &ports->items[index];
    const char *port_alias = ports->port_aliases ? ports->port_aliases[index] : NULL;
    if (strcmp(port->name, name) == 0)
        return port->name == port_alias ? MATCH_PORT_ALIAS : MATCH_PRIMARY;
    for (size_t i = 0; i < port->n_names; i++)
        if (strcmp(port->names[i], name) == 0)
            return port->names[i] == port_alias ? MATCH_PORT_ALIAS : MATCH_ALIAS;
    return MATCH_NONE;
}

static bool parse_ordinal(const char *name, size_t n, size_t *index)
{
    int64_t number;
    if (name[0] != '@' || !text_to_i64(name + 1, strlen(name + 1), &number) || number < 0 ||
        (uint64_t)number >= n)
        return false;
    *index = (size_t)number;
    return true;
}

/* Returns the number of outputs that have names. Outputs that exist only because of --tap-all have
 * none. */
static size_t count_named(const struct ports *ports)
{
    size_t n = ports->n;
    while (n > 0 && ports->items[n - 1].is_traced)
        n--;
    return n;
}

static bool is_prefix(const char *prefix, const char *name)
{
    size_t length = strlen(prefix);
    return length > 2 && strncmp(prefix, name, length) == 0;
}

/* Returns a primary name or an alias that differs from `name` in one or two letters; otherwise the
 * first that is a prefix of `name`, or that begins with `name`; otherwise NULL. */
static const char *nearest_name(const struct ports *ports, const char *name)
{
    unsigned limit = strlen(name) < 4 ? 1 : 2;
    const char *nearest = NULL, *longer = NULL;
    for (size_t i = 0; i < count_named(ports); i++) {
        const struct irrun_port *port = &ports->items[i];
        for (size_t j = 0; j <= port->n_names && limit > 0; j++) {
            const char *other = j == 0 ? port->name : port->names[j - 1];
            unsigned distance =
                text_equals_ignore_case(name, other) ? 0 : text_distance(name, other, limit);
            if (!longer && (is_prefix(name, other) || is_prefix(other, name)))
                longer = other;
            if (distance > limit)
                continue;
            nearest = other;
            limit = distance - (distance > 0);
        }
    }
    return nearest ? nearest : longer;
}

static bool fail_unknown(const struct ports *ports, const char *name, struct irrun_error *err)
{
    const char *what = ports->is_output ? "output" : "input";
    size_t n = count_named(ports);
    if (n == 0)
        return fail(err, IRRUN_USAGE, "no %s \"%s\": the model has no %ss", what, name, what);
    fail(err, IRRUN_USAGE, "no %s \"%s\"; the model has:", what, name);
    for (size_t i = 0; i < n && i < 20; i++)
        fail_append(err, "\n  @%zu %s", i, ports->items[i].name);
    if (n > 20)
        fail_append(err, "\n  and %zu more", n - 20);
    const char *nearest = nearest_name(ports, name);
    if (nearest && strlen(name) == 1 && !text_equals_ignore_case(name, nearest))
        return false;
    return nearest ? fail_hint(err, "did you mean %s?", nearest) : false;
}

bool ports_find(const struct ports *ports, const char *name, size_t *index, struct irrun_error *err)
{
    size_t n = count_named(ports), n_found = 0;
    enum match best = MATCH_NONE;
    for (size_t i = 0; i < n; i++) {
        enum match match = match_name(ports, i, name);
        if (match == MATCH_NONE || match < best)
            continue;
        if (match > best) {
            best = match;
            n_found = 0;
        }
        if (n_found++ == 0)
            *index = i;
    }
    if (n_found == 1 || (n_found == 0 && parse_ordinal(name, n, index)))
        return true;
    if (n_found == 0)
        return fail_unknown(ports, name, err);
    fail(err, IRRUN_USAGE, "\"%s\" is the name of %zu %ss:", name, n_found,
         ports->is_output ? "output" : "input");
    for (size_t i = 0; i < n; i++)
        if (match_name(ports, i, name) == best)
            fail_append(err, "\n  @%zu %s", i, ports->items[i].name);
    return fail_hint(err, "name one by its index, such as @%zu", *index);
}
