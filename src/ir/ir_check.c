/* Finds the live ops that cannot run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ops/op_state.h"

/* A type and version of live layers that irrun does not support. */
struct unsupported_op {
    const char *type, *version; /* as written */
    const char *why;
    uint32_t n_layers;
    uint32_t line, column; /* place of the first of these layers */
};

/* The unsupported types and versions so far; grows on the heap. */
struct unsupported_list {
    struct unsupported_op *items;
    size_t n, capacity;
    struct irrun_error *err;
};

static bool is_same_kind(const struct unsupported_op *item, const struct op_fault *fault)
{
    return text_equals_ignore_case(item->type, fault->type) &&
           strcmp(item->version, fault->version) == 0;
}

static bool is_before(const struct op *op, uint32_t line, uint32_t column)
{
    return op->line < line || (op->line == line && op->column < column);
}

/* Real models have few kinds. Beyond this number, kinds are not merged, which limits the search. */
#define MAX_KINDS 200

#define MAX_SHOWN_KINDS 20 /* more may not fit in an error message */

static bool add_op(struct unsupported_list *list, const struct op *op)
{
    for (size_t i = 0; i < list->n && i < MAX_KINDS; i++) {
        struct unsupported_op *item = &list->items[i];
        if (!is_same_kind(item, op->fault))
            continue;
        item->n_layers++;
        if (is_before(op, item->line, item->column)) {
            item->line = op->line;
            item->column = op->column;
        }
        return true;
    }
    if (!GROW_ARRAY(list->items, list->n, list->capacity, list->err))
        return false;
    list->items[list->n++] = (struct unsupported_op){
        op->fault->type, op->fault->version, op->fault->message, 1, op->line, op->column};
    return true;
}

static bool collect(struct unsupported_list *list, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        if (op->fault && op->fault->code == IRRUN_UNSUPPORTED && !add_op(list, op))
            return false;
        for (uint32_t k = 0; k < op->n_bodies; k++)
            if (!collect(list, op->bodies[k].graph))
                return false;
    }
    return true;
}

static int compare_places(const void *a, const void *b)
{
    const struct unsupported_op *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static bool fail_unsupported(const struct graph *graph, const struct unsupported_list *list)
{
    qsort(list->items, list->n, sizeof *list->items, compare_places);
    const struct unsupported_op *first = &list->items[0];
    struct irrun_error *err = list->err;
    size_t n_layers = 0;
    for (size_t i = 0; i < list->n; i++)
        n_layers += list->items[i].n_layers;
    fail_at(err, IRRUN_UNSUPPORTED, (struct place){graph->file, first->line, first->column},
            "irrun does not support %zu op%s of this model (%zu layer%s):", list->n,
            list->n == 1 ? "" : "s", n_layers, n_layers == 1 ? "" : "s");
    for (size_t i = 0; i < list->n && i < MAX_SHOWN_KINDS; i++) {
        const struct unsupported_op *item = &list->items[i];
        fail_append(err, "\n  %u x %.40s %.20s, line %u: %.120s", item->n_layers, item->type,
                    *item->version ? item->version : "without a version", item->line, item->why);
    }
    if (list->n > MAX_SHOWN_KINDS)
        fail_append(err, "\n  and %zu more", list->n - MAX_SHOWN_KINDS);
    return fail_hint(err, "--supported-ops lists what irrun supports");
}

/* Computes the minimum and maximum number of inputs of the op. */
static void count_inputs(const struct op_def *def, uint32_t *n_min, uint32_t *n_max)
{
    *n_min = *n_max = 0;
    for (uint32_t i = 0; i < def->n_inputs; i++) {
        *n_max = def->inputs[i].is_repeated ? UINT32_MAX : *n_max + 1;
        *n_min += !def->inputs[i].is_optional;
    }
}

bool ir_has_bad_inputs(const struct op *op)
{
    uint32_t n_min, n_max;
    if (!op->def)
        return false;
    count_inputs(op->def, &n_min, &n_max);
    return op->n_inputs < n_min || op->n_inputs > n_max;
}

static bool hint_inputs(const struct op_def *def, struct irrun_error *err)
{
    struct text list = {0};
    for (uint32_t i = 0; i < def->n_inputs; i++) {
        const struct op_input_def *input = &def->inputs[i];
        text_add(&list, "%s%s%s%s", i == 0 ? "" : ", ", input->name,
                 input->is_repeated ? " ..." : "", input->is_optional ? " (optional)" : "");
    }
    if (!list.is_failed)
        fail_hint(err, "the inputs of %s: %s", def->type, list.length ? list.data : "none");
    text_free(&list);
    return false;
}

static bool fail_n_inputs(const struct graph *graph, const struct op *op, struct irrun_error *err)
{
    uint32_t n_min, n_max;
    count_inputs(op->def, &n_min, &n_max);
    fail_at(err, IRRUN_DATA, op_place(graph, op), "%s \"%.200s\": has %u input%s, expected ",
            op->def->type, op->name, op->n_inputs, op->n_inputs == 1 ? "" : "s");
    if (n_min == n_max)
        fail_append(err, "%u", n_min);
    else if (n_max == UINT32_MAX)
        fail_append(err, "at least %u", n_min);
    else
        fail_append(err, "%u to %u", n_min, n_max);
    return hint_inputs(op->def, err);
}

/* Finds the first layer with bad attributes or a wrong number of inputs, in document order. */
static void find_bad(const struct graph *graph, const struct op **bad)
{
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        bool is_bad = (op->fault && op->fault->code != IRRUN_UNSUPPORTED) || ir_has_bad_inputs(op);
        if (is_bad && (!*bad || is_before(op, (*bad)->line, (*bad)->column)))
            *bad = op;
        for (uint32_t k = 0; k < op->n_bodies; k++)
            find_bad(op->bodies[k].graph, bad);
    }
}

const char *ir_type_problem(const struct op *op)
{
    const struct parameter_attrs *parameter = op->attrs;
    const struct const_attrs *constant = op->attrs;
    bool is_string = false;
    if (op_role_of(op) == ROLE_PARAMETER)
        is_string = parameter->element_type == IRRUN_STRING;
    else if (op_role_of(op) == ROLE_CONST)
        is_string = constant->element_type == IRRUN_STRING;
    return is_string ? "element type string, which irrun does not support" : NULL;
}

static bool check_parameters(const struct graph *graph, struct irrun_error *err)
{
    for (uint32_t i = 0; i < graph->n_parameters; i++) {
        const struct op *op = &graph->ops[graph->parameters[i]];
        const char *problem = ir_type_problem(op);
        if (problem)
            fail_at(err, IRRUN_UNSUPPORTED, op_place(graph, op), "Parameter \"%.200s\" has %s",
                    op->name, problem);
    }
    return err->code == IRRUN_OK ||
           fail_hint(err, "remove the text processing when you convert the model");
}

bool ir_check_ops(const struct graph *graph, struct irrun_error *err)
{
    struct unsupported_list list = {.err = err};
    bool is_supported = collect(&list, graph) && (list.n == 0 || fail_unsupported(graph, &list));
    free(list.items);
    if (!is_supported)
        return false;
    const struct op *bad = NULL;
    find_bad(graph, &bad);
    if (!bad)
        return check_parameters(graph, err);
    if (!bad->fault)
        return fail_n_inputs(graph, bad, err);
    fail_at(err, bad->fault->code, op_place(graph, bad), "%s", bad->fault->message);
    return *bad->fault->hint ? fail_hint(err, "%s", bad->fault->hint) : false;
}
