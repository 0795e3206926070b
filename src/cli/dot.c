/* Prints the graph in DOT, the language of Graphviz.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/dot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/dot_internal.h"
#include "tensor/tensor.h"

#define MAX_TYPES 8 /* the label of a chain shows this many op types */

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void print_escaped(const char *name)
{
    char out[TEXT_CHARACTER_BYTES];
    while (*name) {
        name = text_printable(name, out);
        printf(*out == '"' || *out == '\\' ? "\\%s" : "%s", out);
    }
}

/* Prints the types of the ops of a chain, in order. */
static void print_types(const struct dot *dot, size_t group)
{
    size_t n = 0;
    for (size_t i = 0; i <= group; i++) {
        if (dot->nodes[i].group != group || dot->nodes[i].is_hidden)
            continue;
        if (n < MAX_TYPES) {
            printf("%s", n > 0 ? ", " : "");
            print_escaped(dot->layers[i].type);
        }
        n++;
    }
    if (n > MAX_TYPES)
        printf(" and %zu more", n - MAX_TYPES);
}

static void print_node(const struct dot *dot, size_t group)
{
    const struct irrun_layer *layer = &dot->layers[group];
    bool is_ellipse = strcmp(layer->type, "Parameter") == 0 || strcmp(layer->type, "Result") == 0;
    double share = dot->shares ? dot->shares[group] : 0;
    printf("  n%zu [label=\"", group);
    print_escaped(layer->name);
    printf("\\n");
    print_types(dot, group);
    if (share > 0)
        printf("\\n%.*f %%", share < 0.1 ? 2 : 1, share * 100);
    printf("\"%s", is_ellipse ? ", shape=ellipse" : layer->variable ? ", shape=cylinder" : "");
    if (share > 0) /* from white to orange; the square root makes small shares visible */
        printf(", fillcolor=\"0.08 %.3f 1.000\"", sqrt(share) * 0.9);
    printf("];\n");
}

/* ---- Clusters -------------------------------------------------------------------------------- */

/* Prints nodes and clusters. The layers of a body follow their op in the list: a path that extends
 * the path of the open cluster opens a cluster inside it, and any other path first closes
 * clusters. */
static void print_nodes(const struct dot *dot)
{
    const char *open[64] = {""};
    size_t depth = 0, n_clusters = 0;
    for (size_t i = 0; i < dot->n; i++) {
        const char *path = dot->layers[i].path;
        if (dot->nodes[i].is_hidden)
            continue;
        while (depth > 0 && strncmp(path, open[depth], strlen(open[depth])) != 0) {
            printf("  }\n");
            depth--;
        }
        if (strcmp(path, open[depth]) != 0 && depth + 1 < sizeof open / sizeof open[0]) {
            open[++depth] = path;
            printf("  subgraph cluster_b%zu {\n  style=rounded; label=\"", n_clusters++);
            print_escaped(path);
            printf("\";\n");
        }
        if (dot->nodes[i].group == i && dot->nodes[i].shown == i)
            print_node(dot, i);
    }
    for (; depth > 0; depth--)
        printf("  }\n");
}

static void print_repetitions(const struct dot *dot)
{
    for (size_t r = 0; r < dot->n_repetitions; r++) {
        const struct dot_repetition *found = &dot->repetitions[r];
        printf("  subgraph cluster_r%zu {\n  style=filled; color=gray92; label=\"%zu times\";\n ",
               r, found->count);
        for (size_t i = 0; i < found->period; i++)
            printf(" n%zu;", dot->order[found->start + i]);
        printf("\n  }\n");
    }
}

/* ---- Edges ----------------------------------------------------------------------------------- */

enum edge_kind { EDGE_DATA, EDGE_NEXT_BLOCK, EDGE_STATE, EDGE_BODY };

struct edge {
    size_t from, to;
    enum edge_kind kind;
    const struct irrun_port *port; /* of EDGE_DATA, EDGE_NEXT_BLOCK */
    const char *variable;          /* of EDGE_STATE */
};

struct edge_list {
    struct edge *items;
    size_t n, capacity;
};

static bool add_edge(struct edge_list *list, struct edge edge, struct irrun_error *err)
{
    if (!GROW_ARRAY(list->items, list->n, list->capacity, err))
        return false;
    list->items[list->n++] = edge;
    return true;
}

static bool add_input_edges(const struct dot *dot, struct edge_list *list, size_t index,
                            struct irrun_error *err)
{
    const struct irrun_layer *layer = &dot->layers[index];
    const struct dot_node *nodes = dot->nodes, *to = &nodes[nodes[index].group];
    for (size_t i = 0; i < layer->n_inputs; i++) {
        size_t source = layer->inputs[i].layer;
        const struct dot_node *from = &nodes[nodes[source].group];
        if (nodes[source].is_hidden || from == to)
            continue;
        bool is_next = from->block > 0 && to->block > 0 && from->repetition == to->repetition &&
                       from->block != to->block;
        const struct edge edge = {from->shown, to->shown, is_next ? EDGE_NEXT_BLOCK : EDGE_DATA,
                                  &dot->layers[source].outputs[layer->inputs[i].port], NULL};
        if (!add_edge(list, edge, err))
            return false;
    }
    return true;
}

/* Adds edges from an Assign to the ReadValues of its variable. */
static bool add_state_edges(const struct dot *dot, struct edge_list *list, size_t assign,
                            struct irrun_error *err)
{
    const struct irrun_layer *layers = dot->layers;
    const struct dot_node *nodes = dot->nodes;
    for (size_t i = 0; i < dot->n; i++) {
        if (nodes[i].is_hidden || strcmp(layers[i].type, "ReadValue") != 0 || !layers[i].variable ||
            strcmp(layers[i].variable, layers[assign].variable) != 0)
            continue;
        const struct edge edge = {nodes[assign].shown, nodes[i].shown, EDGE_STATE, NULL,
                                  layers[i].variable};
        if (!add_edge(list, edge, err))
            return false;
    }
    return true;
}

static bool list_edges(const struct dot *dot, struct edge_list *list, struct irrun_error *err)
{
    for (size_t i = 0; i < dot->n; i++) {
        const struct irrun_layer *layer = &dot->layers[i];
        if (dot->nodes[i].is_hidden)
            continue;
        if (!add_input_edges(dot, list, i, err) ||
            (strcmp(layer->type, "Assign") == 0 && layer->variable &&
             !add_state_edges(dot, list, i, err)))
            return false;
        size_t end = dot_body_end(dot, i), body = i + 1;
        while (body < end && dot->nodes[body].is_hidden)
            body++;
        if (body < end &&
            !add_edge(list, (struct edge){i, dot->nodes[body].group, EDGE_BODY, NULL, NULL}, err))
            return false;
    }
    return true;
}

static int by_ends(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

static void print_edge(const struct edge *edge)
{
    char shape[SHAPE_TEXT_BYTES];
    printf("  n%zu -> n%zu [", edge->from, edge->to);
    if (edge->port)
        printf("label=\"%s %s\"", irrun_dtype_name(edge->port->dtype),
               partial_shape_format(&edge->port->shape, shape));
    if (edge->kind == EDGE_NEXT_BLOCK)
        printf(", style=dotted, constraint=false");
    if (edge->kind == EDGE_BODY)
        printf("style=dotted, arrowhead=none");
    if (edge->kind == EDGE_STATE) {
        printf("style=dashed, constraint=false, label=\"");
        print_escaped(edge->variable);
        printf("\"");
    }
    printf("];\n");
}

/* Prints the edges. If two nodes have several edges of the same kind, prints only one of them. */
static bool print_edges(const struct dot *dot, struct irrun_error *err)
{
    struct edge_list list = {.items = NULL};
    bool is_listed = list_edges(dot, &list, err);
    if (is_listed && list.n > 0)
        qsort(list.items, list.n, sizeof *list.items, by_ends);
    for (size_t i = 0; i < list.n && is_listed; i++)
        if (i == 0 || by_ends(&list.items[i - 1], &list.items[i]) != 0)
            print_edge(&list.items[i]);
    free(list.items);
    return is_listed;
}

/* ---- The graph ------------------------------------------------------------------------------- */

/* Adds the time of a step to the node that shows its first op. */
static void add_share(struct dot *dot, const struct irrun_op_time *op, double total_s)
{
    const struct irrun_op_name *first = &op->members[0];
    for (size_t i = 0; i < dot->n; i++) {
        const struct irrun_layer *layer = &dot->layers[i];
        if (layer->line != first->line || strcmp(layer->name, first->name) != 0)
            continue;
        dot->shares[dot->nodes[dot->nodes[i].group].shown] +=
            (op->time_s - op->in_bodies_s) / total_s;
        return;
    }
}

static bool find_shares(struct dot *dot, const struct profile *profile, struct irrun_error *err)
{
    dot->shares = arena_alloc_array(&dot->arena, dot->n + 1, sizeof *dot->shares, err);
    for (size_t i = 0; i < profile->times->n_ops && dot->shares; i++)
        add_share(dot, &profile->times->ops[i], profile->total_s);
    return dot->shares != NULL;
}

/* Prints the graph. profile: gives each node its share of the time; NULL: no shares. */
static bool print_graph(struct irrun_model *model, const struct profile *profile,
                        struct irrun_error *err)
{
    struct irrun_model_info info;
    struct dot dot = {.n = 0};
    irrun_model_describe(model, &info);
    bool is_printed = irrun_model_list_layers(model, &dot.layers, &dot.n, err) &&
                      dot_fold(&dot, err) && (!profile || find_shares(&dot, profile, err));
    if (is_printed) {
        printf("digraph \"");
        print_escaped(info.name);
        printf("\" {\n  node [shape=box, style=\"rounded,filled\", fillcolor=white, "
               "fontname=\"sans-serif\", fontsize=11];\n"
               "  edge [fontname=\"sans-serif\", fontsize=9];\n");
        print_nodes(&dot);
        print_repetitions(&dot);
        is_printed = print_edges(&dot, err);
        printf("}\n");
    }
    arena_free(&dot.arena);
    return is_printed;
}

bool dot_print(struct irrun_model *model, struct irrun_error *err)
{
    return print_graph(model, NULL, err);
}

bool dot_print_profile(const struct options *options, const struct profile *profile,
                       struct irrun_error *err)
{
    const struct irrun_options model_options = {.weights_path = options->weights_path,
                                                .is_dry = true};
    struct irrun_model *model; /* loaded again, because passes changed the first one */
    if (!irrun_model_load(options->model_path, &model_options, &model, err))
        return false;
    bool is_printed = print_graph(model, profile, err);
    irrun_model_free(model);
    return is_printed;
}
