/* Folds the Transpose of the second operand of a product into the product.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include "ops/internal_ops.h"
#include "ops/op_state.h"
#include "plan/graph_edit.h"
#include "plan/graph_ints.h"

/* Returns whether `order` is 0, 1, ... with the last two items swapped. */
static bool swaps_last_two(const int64_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        int64_t expected = i + 2 < n ? i : i + 2 == n ? n - 1 : n - 2;
        if (order[i] != expected && order[i] != expected - (int64_t)n)
            return false;
    }
    return n >= 2;
}

/* Returns the Transpose of the second operand that can be folded, or NULL. */
static const struct op *find_transpose(const struct graph *graph, const struct op *op)
{
    int64_t order[IRRUN_MAX_RANK];
    uint32_t n;
    if (!op_is_type(op, "MatMul") || op->n_inputs != 2)
        return NULL;
    const struct op *transpose = value_producer(graph, op_input(graph, op, 1));
    bool is_swap = op_is_type(transpose, "Transpose") && transpose->n_inputs == 2 &&
                   graph_ints(graph, op_input(graph, transpose, 1), order, IRRUN_MAX_RANK, &n) &&
                   swaps_last_two(order, n);
    return is_swap ? transpose : NULL;
}

/* Folds the Transpose into the product. The order of the Transpose remains an input, because its
 * length must be checked against the rank of the value, which is not known yet. */
static bool fold(struct graph_edit *edit, uint32_t op_id, struct remarks *remarks,
                 struct irrun_error *err)
{
    struct graph *graph = edit->graph;
    const struct op op = graph->ops[op_id], *transpose = find_transpose(graph, &op);
    struct matmul_attrs *attrs = arena_copy(edit->arena, op.attrs, 1, sizeof *attrs, err);
    if (!attrs)
        return false;
    attrs->transpose_b = !attrs->transpose_b;
    uint32_t inputs[] = {op_input(graph, &op, 0), op_input(graph, transpose, 0),
                         op_input(graph, transpose, 1)};
    uint32_t added = graph_edit_add(edit, &op_matmul_transposed, attrs, &op, inputs, 3, 1);
    graph_edit_take_over(edit, added, op.first_output);
    return remarks_add(remarks, edit->arena, err,
                       "MatMul \"%s\" (line %u) takes input 1 as it is before Transpose \"%s\"",
                       op.name, (unsigned)op.line, transpose->name);
}

bool transposed_factors_fold(struct graph *graph, struct arena *arena, struct remarks *remarks,
                             struct irrun_error *err)
{
    size_t n = 0;
    uint32_t n_order = graph->n_order;
    for (uint32_t i = 0; i < n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        for (uint32_t b = 0; b < op->n_bodies; b++)
            if (!transposed_factors_fold(op->bodies[b].graph, arena, remarks, err))
                return false;
        n += find_transpose(graph, op) != NULL;
    }
    struct graph_edit edit;
    if (n == 0)
        return true;
    if (!graph_edit_begin(&edit, graph, arena, n, n, 3 * n, err))
        return false;
    for (uint32_t i = 0; i < n_order; i++)
        if (find_transpose(graph, &graph->ops[graph->order[i]]) &&
            !fold(&edit, graph->order[i], remarks, err))
            return false;
    return toposort(graph, arena, err);
}
