/* Makes a graph compute in f64: adds a Convert after each Parameter and Const of a narrower type,
 * and changes the attributes that name a type.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include "plan/graph_edit.h"

static bool is_narrow(enum irrun_dtype dtype)
{
    return dtype_is_half(dtype) || dtype == IRRUN_F32;
}

static enum irrun_dtype *find_dtype(const struct attr_def *def, const void *attrs)
{
    return (enum irrun_dtype *)((char *)(uintptr_t)attrs + def->offset);
}

/* Returns whether an attribute of the op is a type that becomes f64. */
static bool has_narrow_type(const struct op *op)
{
    const struct attr_def *defs = op->def->attrs;
    for (uint32_t i = 0; op->attrs && i < op->def->n_attrs; i++)
        if (defs[i].kind == ATTR_KIND_DTYPE && is_narrow(*find_dtype(&defs[i], op->attrs)))
            return true;
    return false;
}

/* Returns a copy of the attributes with f64 in place of the narrow types. */
static const void *widen_attrs(const struct op_def *op, const void *attrs, struct arena *arena,
                               struct irrun_error *err)
{
    void *copy = arena_copy(arena, attrs, 1, op->attrs_size, err);
    for (uint32_t i = 0; copy && i < op->n_attrs; i++)
        if (op->attrs[i].kind == ATTR_KIND_DTYPE && is_narrow(*find_dtype(&op->attrs[i], copy)))
            *find_dtype(&op->attrs[i], copy) = IRRUN_F64;
    return copy;
}

/* Returns whether an op keeps its type: Consts, and Parameters of the model but not of bodies. */
static bool keeps_type(const struct graph *graph, const struct op *op)
{
    return op->def->role == ROLE_CONST ||
           (op->def->role == ROLE_PARAMETER && graph->path[0] == '\0');
}

/* Returns the attributes of a Convert to f64. */
static const void *make_attrs(const struct op_def *convert, struct arena *arena,
                              struct irrun_error *err)
{
    void *attrs = arena_alloc(arena, convert->attrs_size, err);
    if (attrs)
        *find_dtype(convert->attrs, attrs) = IRRUN_F64;
    return attrs;
}

/* Adds a Convert after each op in op_ids, and makes its readers read the Convert instead. */
static bool add_converts(struct graph *graph, struct arena *arena, const uint32_t *op_ids, size_t n,
                         struct irrun_error *err)
{
    char why[OP_WHY_BYTES];
    const struct op_def *convert = op_find("Convert", "opset1", why);
    struct graph_edit edit;
    const void *attrs = make_attrs(convert, arena, err);
    uint32_t *replacement = arena_alloc_array(arena, graph->n_values, sizeof *replacement, err);
    if (!attrs || !replacement || !graph_edit_begin(&edit, graph, arena, n, n, n, err))
        return false;
    uint32_t n_old = graph->n_input_ids, n_values = graph->n_values;
    for (uint32_t i = 0; i < n_values; i++)
        replacement[i] = i;
    for (size_t i = 0; i < n; i++) {
        const struct op op = graph->ops[op_ids[i]];
        uint32_t added = graph_edit_add(&edit, convert, attrs, &op, &op.first_output, 1, 1);
        replacement[op.first_output] = graph->ops[added].first_output;
    }
    for (uint32_t i = 0; i < n_old; i++)
        if (graph->input_ids[i] != NO_ID)
            graph->input_ids[i] = replacement[graph->input_ids[i]];
    return true;
}

bool float64_widen(struct graph *graph, struct arena *arena, struct irrun_error *err)
{
    uint32_t *kept = arena_alloc_array(arena, graph->n_order + 1, sizeof *kept, err);
    size_t n_kept = 0;
    for (uint32_t i = 0; i < graph->n_order && kept; i++) {
        struct op *op = &graph->ops[graph->order[i]];
        for (uint32_t b = 0; b < op->n_bodies; b++)
            if (!float64_widen(op->bodies[b].graph, arena, err))
                return false;
        if (!has_narrow_type(op))
            continue;
        if (keeps_type(graph, op))
            kept[n_kept++] = graph->order[i];
        else if (!(op->attrs = widen_attrs(op->def, op->attrs, arena, err)))
            return false;
    }
    return kept && add_converts(graph, arena, kept, n_kept, err);
}
