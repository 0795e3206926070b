/* Replaces the separate ops of a normalization with one op. Matches them from the last one
 * backwards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include <string.h>

#include "ops/internal_ops.h"
#include "ops/op_state.h"
#include "plan/graph_edit.h"
#include "plan/graph_ints.h"

struct norm {
    const struct graph *graph;
    uint32_t x, axes;
    struct mvn_attrs attrs;
};

/* Matches an op with two inputs that are broadcast as in NumPy. */
static bool match_binary(const struct norm *norm, uint32_t value_id, const char *type,
                         uint32_t in[2])
{
    const struct op *op = value_producer(norm->graph, value_id);
    if (!op_is_type(op, type) || op->n_inputs != 2 ||
        ((const struct binary_attrs *)op->attrs)->auto_broadcast != AUTO_BROADCAST_NUMPY)
        return false;
    in[0] = op_input(norm->graph, op, 0);
    in[1] = op_input(norm->graph, op, 1);
    return true;
}

/* Matches an op with two inputs, of which input `place` is a constant of one element. */
static bool match_number(struct norm *norm, uint32_t value_id, const char *type, uint32_t place,
                         double *number, uint32_t *other)
{
    uint32_t in[2];
    struct irrun_shape shape;
    if (!match_binary(norm, value_id, type, in) ||
        !graph_number(norm->graph, in[place], number, &shape))
        return false;
    *other = in[!place];
    return shape_broadcast(&norm->attrs.broadcast, &shape, &norm->attrs.broadcast);
}

static bool match_sum_with_eps(struct norm *norm, uint32_t value_id, uint32_t *other)
{
    return match_number(norm, value_id, "Add", 1, &norm->attrs.eps, other) ||
           match_number(norm, value_id, "Add", 0, &norm->attrs.eps, other);
}

/* Matches base to the power of `power`; for 0.5 also Sqrt. */
static bool match_power(struct norm *norm, uint32_t value_id, double power, uint32_t *base)
{
    double exponent;
    const struct op *op = value_producer(norm->graph, value_id);
    if (power == 0.5 && op_is_type(op, "Sqrt")) {
        *base = op_input(norm->graph, op, 0);
        return true;
    }
    return match_number(norm, value_id, "Power", 1, &exponent, base) && exponent == power;
}

/* Matches sqrt(variance + eps) or sqrt(variance) + eps, and returns the variance. */
static bool match_deviation(struct norm *norm, uint32_t value_id, uint32_t *variance)
{
    uint32_t inner;
    if (match_power(norm, value_id, 0.5, &inner))
        return match_sum_with_eps(norm, inner, variance);
    norm->attrs.eps_mode = EPS_OUTSIDE_SQRT;
    return match_sum_with_eps(norm, value_id, &inner) && match_power(norm, inner, 0.5, variance);
}

static bool match_inverse_deviation(struct norm *norm, uint32_t value_id, uint32_t *variance)
{
    double one;
    uint32_t inner;
    if (match_power(norm, value_id, -0.5, &inner))
        return match_sum_with_eps(norm, inner, variance);
    bool is_inverse = match_power(norm, value_id, -1, &inner) ||
                      (match_number(norm, value_id, "Divide", 0, &one, &inner) && one == 1);
    return is_inverse && match_deviation(norm, inner, variance);
}

/* Matches a ReduceMean that keeps its axes as dimensions of 1. */
static bool match_mean(const struct norm *norm, uint32_t value_id, uint32_t *in, uint32_t *axes)
{
    const struct op *op = value_producer(norm->graph, value_id);
    if (!op_is_type(op, "ReduceMean") || op->n_inputs != 2 ||
        !((const struct reduce_attrs *)op->attrs)->keep_dims)
        return false;
    *in = op_input(norm->graph, op, 0);
    *axes = op_input(norm->graph, op, 1);
    return true;
}

static bool are_same_axes(const struct norm *norm, uint32_t axes)
{
    int64_t a[IRRUN_MAX_RANK], b[IRRUN_MAX_RANK];
    uint32_t n_a, n_b;
    return graph_ints(norm->graph, norm->axes, a, IRRUN_MAX_RANK, &n_a) &&
           graph_ints(norm->graph, axes, b, IRRUN_MAX_RANK, &n_b) && n_a == n_b &&
           memcmp(a, b, n_a * sizeof *a) == 0;
}

/* Matches x minus its mean (Subtract), or the square of this difference (SquaredDifference). */
static bool match_centered(const struct norm *norm, uint32_t value_id, const char *type,
                           uint32_t *x)
{
    uint32_t in[2], mean_in, axes;
    if (!match_binary(norm, value_id, type, in) || !match_mean(norm, in[1], &mean_in, &axes))
        return false;
    *x = in[0];
    return mean_in == in[0] && are_same_axes(norm, axes);
}

static bool are_axes_negative(const struct norm *norm)
{
    int64_t axes[IRRUN_MAX_RANK];
    uint32_t n;
    if (!graph_ints(norm->graph, norm->axes, axes, IRRUN_MAX_RANK, &n))
        return false;
    while (n > 0 && axes[n - 1] < 0)
        n--;
    return n == 0;
}

/* Matches a square. An exponent may have more dimensions than x. It then changes which dimensions
 * the axes of the mean select, unless the axes count from the end. */
static bool match_square(struct norm *norm, uint32_t value_id, uint32_t *base)
{
    uint32_t in[2];
    if (match_binary(norm, value_id, "Multiply", in)) {
        *base = in[0];
        return in[0] == in[1];
    }
    struct irrun_shape *all = &norm->attrs.broadcast, others = *all;
    *all = (struct irrun_shape){0};
    return match_power(norm, value_id, 2, base) && (all->rank <= 1 || are_axes_negative(norm)) &&
           shape_broadcast(all, &others, all);
}

/* Matches the mean of the squares of `divided`, the value that is divided by the deviation. Finds
 * whether `divided` is x, or x minus its mean. */
static bool match_variance(struct norm *norm, uint32_t value_id, uint32_t divided)
{
    uint32_t squares, base = NO_ID, x = NO_ID;
    if (!match_mean(norm, value_id, &squares, &norm->axes))
        return false;
    bool is_centered = match_centered(norm, squares, "SquaredDifference", &x);
    if (!is_centered && !match_square(norm, squares, &base))
        return false;
    if (match_centered(norm, divided, "Subtract", &norm->x))
        return base == divided ||
               ((is_centered || match_centered(norm, base, "Subtract", &x)) && x == norm->x);
    norm->x = divided;
    norm->attrs.keeps_mean = true;
    return base == divided;
}

static bool find_norm(const struct graph *graph, const struct op *op, struct norm *norm)
{
    static const char *const types[] = {"Divide", "Multiply", "Multiply"};
    uint32_t in[2], variance;
    for (uint32_t i = 0; i < 3 && op->n_outputs == 1; i++) {
        bool is_quotient = i == 0;
        *norm = (struct norm){.graph = graph, .attrs.normalize_variance = true};
        if (match_binary(norm, op->first_output, types[i], in) &&
            (is_quotient ? match_deviation : match_inverse_deviation)(norm, in[i < 2], &variance) &&
            match_variance(norm, variance, in[i == 2]))
            return true;
    }
    return false;
}

static bool replace(struct graph_edit *edit, uint32_t op_id, const struct norm *norm,
                    struct remarks *remarks, struct irrun_error *err)
{
    const struct op op = edit->graph->ops[op_id];
    const struct mvn_attrs *attrs = arena_copy(edit->arena, &norm->attrs, 1, sizeof *attrs, err);
    if (!attrs)
        return false;
    uint32_t inputs[] = {norm->x, norm->axes};
    uint32_t added = graph_edit_add(edit, &op_norm, attrs, &op, inputs, 2, 1);
    graph_edit_take_over(edit, added, op.first_output);
    return remarks_add(remarks, edit->arena, err,
                       "the normalization that ends in %s \"%s\" (line %u) is one op", op.def->type,
                       op.name, (unsigned)op.line);
}

bool norms_replace(struct graph *graph, struct arena *arena, struct remarks *remarks,
                   struct irrun_error *err)
{
    size_t n = 0;
    uint32_t n_order = graph->n_order;
    struct norm norm;
    for (uint32_t i = 0; i < n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        for (uint32_t b = 0; b < op->n_bodies; b++)
            if (!norms_replace(op->bodies[b].graph, arena, remarks, err))
                return false;
        n += find_norm(graph, op, &norm);
    }
    struct graph_edit edit;
    if (n == 0)
        return true;
    if (!graph_edit_begin(&edit, graph, arena, n, n, 2 * n, err))
        return false;
    for (uint32_t i = 0; i < n_order; i++)
        if (find_norm(graph, &graph->ops[graph->order[i]], &norm) &&
            !replace(&edit, graph->order[i], &norm, remarks, err))
            return false;
    return toposort(graph, arena, err);
}
