/* Sorts the ops of a graph topologically, by depth-first search with an explicit stack, so that a
 * chain of a million ops does not overflow the call stack.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ops/op_state.h"

enum mark { MARK_NEW, MARK_ON_STACK, MARK_DONE };

/* An op whose inputs are being visited. */
struct visit {
    uint32_t op_id;
    uint32_t n_visited; /* number of visited inputs, and of visited ReadValues after them */
};

/* A ReadValue. */
struct reader {
    const char *variable_id;
    uint32_t op_id;
};

struct sorting {
    const struct graph *graph;
    struct irrun_error *err;
    unsigned char *marks;   /* [n_ops] enum mark */
    struct visit *stack;    /* [n_ops] */
    struct reader *readers; /* sorted by variable, then by op id */
    uint32_t n_readers;
    uint32_t n_stack;
    uint32_t *order;
    uint32_t n_order;
};

/* Returns the role of an op. The role of an unsupported layer follows from its type. */
static enum op_role role_of(const struct op *op)
{
    if (op->def)
        return op->def->role;
    if (text_equals_ignore_case(op->fault->type, "Result"))
        return ROLE_RESULT;
    return text_equals_ignore_case(op->fault->type, "Assign") ? ROLE_ASSIGN : ROLE_ORDINARY;
}

static int compare_readers(const void *a, const void *b)
{
    const struct reader *x = a, *y = b;
    int order = strcmp(x->variable_id, y->variable_id);
    return order ? order : (x->op_id > y->op_id) - (x->op_id < y->op_id);
}

static bool list_readers(struct sorting *sorting)
{
    const struct graph *graph = sorting->graph;
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph->n_ops; i++)
        n += graph->ops[i].attrs && role_of(&graph->ops[i]) == ROLE_READ_VALUE;
    if (n == 0)
        return true;
    sorting->readers = new_array(n, sizeof *sorting->readers, sorting->err);
    if (!sorting->readers)
        return false;
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        const struct op *op = &graph->ops[i];
        if (!op->attrs || role_of(op) != ROLE_READ_VALUE)
            continue;
        const struct read_value_attrs *attrs = op->attrs;
        sorting->readers[sorting->n_readers++] = (struct reader){attrs->variable_id, i};
    }
    qsort(sorting->readers, n, sizeof *sorting->readers, compare_readers);
    return true;
}

/* Returns ReadValue number i of the variable that an Assign writes, or NO_ID. */
static uint32_t find_reader(const struct sorting *sorting, const struct op *op, uint32_t i)
{
    if (!op->def || op->def->role != ROLE_ASSIGN || !op->attrs)
        return NO_ID;
    const char *variable_id = ((const struct assign_attrs *)op->attrs)->variable_id;
    uint32_t from = 0, to = sorting->n_readers;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (strcmp(sorting->readers[middle].variable_id, variable_id) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    if (from + i >= sorting->n_readers ||
        strcmp(sorting->readers[from + i].variable_id, variable_id) != 0)
        return NO_ID;
    return sorting->readers[from + i].op_id;
}

/* Returns the next op that must run before this one, or NO_ID. */
static uint32_t next_needed(const struct sorting *sorting, struct visit *visit)
{
    const struct graph *graph = sorting->graph;
    const struct op *op = &graph->ops[visit->op_id];
    uint32_t i = visit->n_visited++;
    if (i < op->n_inputs)
        return graph->values[op_input(graph, op, i)].op_id;
    return find_reader(sorting, op, i - op->n_inputs);
}

static bool fail_cycle(const struct sorting *sorting, uint32_t op_id, uint32_t needed_id)
{
    const struct graph *graph = sorting->graph;
    const struct op *op = &graph->ops[op_id], *needed = &graph->ops[needed_id];
    if (op_id == needed_id) {
        fail_at(sorting->err, IRRUN_DATA, op_place(graph, op),
                "cycle: %s \"%.200s\" needs its own output", op_type(op), op->name);
    } else {
        fail_at(sorting->err, IRRUN_DATA, op_place(graph, op),
                "cycle: %s \"%.200s\" needs %s \"%.200s\" (line %u, column %u), which needs it in "
                "turn",
                op_type(op), op->name, op_type(needed), needed->name, needed->line, needed->column);
    }
    return fail_hint(sorting->err, op->def && op->def->role == ROLE_ASSIGN
                                       ? "an Assign comes after the ReadValues of its variable"
                                       : "a value is carried from one iteration to the next by "
                                         "ReadValue and Assign, not by an edge");
}

static void push_op(struct sorting *sorting, uint32_t op_id)
{
    sorting->marks[op_id] = MARK_ON_STACK;
    sorting->stack[sorting->n_stack++] = (struct visit){op_id, 0};
}

static bool visit_from(struct sorting *sorting, uint32_t root_id)
{
    if (sorting->marks[root_id] == MARK_DONE)
        return true;
    push_op(sorting, root_id);
    while (sorting->n_stack != 0) {
        struct visit *visit = &sorting->stack[sorting->n_stack - 1];
        uint32_t needed_id = next_needed(sorting, visit);
        if (needed_id == NO_ID) {
            sorting->marks[visit->op_id] = MARK_DONE;
            sorting->order[sorting->n_order++] = visit->op_id;
            sorting->n_stack--;
        } else if (sorting->marks[needed_id] == MARK_ON_STACK) {
            return fail_cycle(sorting, visit->op_id, needed_id);
        } else if (sorting->marks[needed_id] == MARK_NEW) {
            push_op(sorting, needed_id);
        }
    }
    return true;
}

static bool visit_all(struct sorting *sorting)
{
    const struct graph *graph = sorting->graph;
    for (uint32_t i = 0; i < graph->n_parameters; i++)
        if (!visit_from(sorting, graph->parameters[i]))
            return false;
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        enum op_role role = role_of(&graph->ops[i]);
        if ((role == ROLE_RESULT || role == ROLE_ASSIGN) && !visit_from(sorting, i))
            return false;
    }
    return true;
}

static bool sort_graph(struct graph *graph, struct arena *arena, struct irrun_error *err)
{
    struct sorting sorting = {.graph = graph, .err = err};
    sorting.marks = new_array(graph->n_ops, 1, err);
    sorting.stack = new_array(graph->n_ops, sizeof *sorting.stack, err);
    sorting.order = new_array(graph->n_ops, sizeof *sorting.order, err);
    bool is_sorted = sorting.marks && sorting.stack && sorting.order && list_readers(&sorting) &&
                     visit_all(&sorting);
    if (is_sorted) {
        graph->order = arena_copy(arena, sorting.order, sorting.n_order, sizeof *graph->order, err);
        graph->n_order = sorting.n_order;
        is_sorted = graph->order != NULL;
    }
    free(sorting.marks);
    free(sorting.stack);
    free(sorting.order);
    free(sorting.readers);
    return is_sorted;
}

/* Sorts the graph and its bodies. The recursion is limited, because the XML reader limits the
 * nesting of bodies. */
bool toposort(struct graph *graph, struct arena *arena, struct irrun_error *err)
{
    if (!sort_graph(graph, arena, err))
        return false;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        for (uint32_t k = 0; k < op->n_bodies; k++)
            if (!toposort(op->bodies[k].graph, arena, err))
                return false;
    }
    return true;
}
