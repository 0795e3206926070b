/* Removes a Slice that drops the last positions of a convolution's output, and makes the pads of
 * the convolution smaller instead. Causal convolutions are often written with pads at both ends and
 * a Slice.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include "ops/op_state.h"
#include "ops/window.h"
#include "plan/graph_edit.h"
#include "plan/graph_ints.h"

struct pass {
    struct graph *graph;
    struct graph_edit edit;
    struct remarks *remarks;
    struct irrun_error *err;
    uint32_t *n_uses; /* for each value: number of inputs that read it */
};

/* A Slice that drops the last positions of a convolution's output, or of its sum with a
 * constant. */
struct crop {
    uint32_t convolution, last; /* ids of ops; last: the op whose output the Slice reads */
    uint32_t d;                 /* index of the spatial dimension */
    int64_t n;                  /* number of output positions that are dropped */
    int64_t pad;                /* number of positions that the pads lose */
};

/* Returns whether a value is a constant that is broadcast along dimension d of n. */
static bool is_broadcast_along(const struct graph *graph, uint32_t value_id, uint32_t d, uint32_t n)
{
    const struct op *op = value_producer(graph, value_id);
    if (op_is_type(op, "Convert"))
        op = value_producer(graph, op_input(graph, op, 0));
    if (!op_is_type(op, "Const"))
        return false;
    const struct irrun_shape *shape = &((const struct const_attrs *)op->attrs)->shape;
    uint32_t from_end = n - d;
    return shape->rank <= n && (shape->rank < from_end || shape->dims[shape->rank - from_end] == 1);
}

static bool is_convolution(const struct op *op)
{
    return op_is_type(op, "Convolution") || op_is_type(op, "GroupConvolution");
}

/* Finds the convolution that computes a value, directly or through an Add of a constant. Only the
 * next op may read the value and the input of the Add. */
static bool find_convolution(const struct pass *pass, uint32_t value_id, struct crop *crop)
{
    const struct graph *graph = pass->graph;
    const struct op *op = value_producer(graph, value_id);
    bool has_one_reader = pass->n_uses[value_id] == 1;
    uint32_t constant = NO_ID;
    crop->last = (uint32_t)(op - graph->ops);
    if (op_is_type(op, "Add") &&
        ((const struct binary_attrs *)op->attrs)->auto_broadcast == AUTO_BROADCAST_NUMPY) {
        uint32_t in = is_convolution(value_producer(graph, op_input(graph, op, 0))) ? 0 : 1;
        constant = op_input(graph, op, 1 - in);
        has_one_reader = has_one_reader && pass->n_uses[op_input(graph, op, in)] == 1;
        op = value_producer(graph, op_input(graph, op, in));
    }
    const struct window_attrs *window = op->attrs;
    if (!has_one_reader || !is_convolution(op))
        return false;
    crop->convolution = (uint32_t)(op - graph->ops);
    return crop->d < window->pads_end.n && window->pads_begin.n == window->pads_end.n &&
           window->auto_pad <= AUTO_PAD_NOTSET &&
           (constant == NO_ID ||
            is_broadcast_along(graph, constant, 2 + crop->d, 2 + window->pads_end.n));
}

/* Finds how many positions the pads must lose. The remaining pads must give any non-empty input at
 * least one whole window, because a convolution without a window is an error. */
static bool find_pad(const struct graph *graph, struct crop *crop)
{
    const struct op *op = &graph->ops[crop->convolution];
    const struct window_attrs *window = op->attrs;
    const struct value *filters = &graph->values[op_input(graph, op, 1)];
    uint32_t d = crop->d, n_spatial = window->pads_end.n;
    int64_t stride = window->strides.n > d ? window->strides.items[d] : 1;
    int64_t dilation = window->dilations.n > d ? window->dilations.items[d] : 1;
    int64_t begin = window->pads_begin.items[d], end = window->pads_end.items[d];
    if (!filters->dims_hint || filters->rank_hint < n_spatial + 2 || stride < 1 || dilation < 1 ||
        begin < 0 || end / stride < crop->n)
        return false;
    int64_t taps = filters->dims_hint[filters->rank_hint - n_spatial + d];
    crop->pad = crop->n * stride;
    return taps > 0 && taps - 1 <= (begin + end - crop->pad) / dilation;
}

static bool find_crop(const struct pass *pass, const struct op *op, struct crop *crop)
{
    const struct graph *graph = pass->graph;
    enum { START, STOP, STEP, AXIS, N_ITEMS };
    int64_t items[N_ITEMS];
    uint32_t n;
    if (!op_is_type(op, "Slice") || op->n_inputs != 5)
        return false;
    for (uint32_t i = 0; i < N_ITEMS; i++)
        if (!graph_ints(graph, op_input(graph, op, 1 + i), &items[i], 1, &n))
            return false;
    if (items[START] != 0 || items[STOP] >= 0 || items[STOP] <= -INT32_MAX || items[STEP] != 1 ||
        items[AXIS] < 2 || items[AXIS] >= IRRUN_MAX_RANK)
        return false;
    *crop = (struct crop){.d = (uint32_t)items[AXIS] - 2, .n = -items[STOP]};
    return find_convolution(pass, op_input(graph, op, 0), crop) && find_pad(graph, crop);
}

/* Makes the pads smaller. The last op before the Slice then computes the output of the Slice. */
static bool replace(struct pass *pass, const struct op *slice, const struct crop *crop)
{
    struct graph *graph = pass->graph;
    struct arena *arena = pass->edit.arena;
    struct op *op = &graph->ops[crop->convolution];
    struct window_attrs *window = arena_copy(arena, op->attrs, 1, op->def->attrs_size, pass->err);
    if (!window)
        return false;
    struct i64_list *pads = &window->pads_end;
    int64_t *items = arena_copy(arena, pads->items, pads->n, sizeof *items, pass->err);
    if (!items)
        return false;
    items[crop->d] -= crop->pad;
    pads->items = items;
    op->attrs = window;
    if (!remarks_add(pass->remarks, arena, pass->err,
                     "%s \"%s\" (line %u) computes only what Slice \"%s\" selects", op->def->type,
                     op->name, (unsigned)op->line, slice->name))
        return false;
    graph->ops[crop->last].name = slice->name; /* an output may have this name */
    graph_edit_take_over(&pass->edit, crop->last, slice->first_output);
    return true;
}

bool cropped_convolutions_replace(struct graph *graph, struct arena *arena, struct remarks *remarks,
                                  struct irrun_error *err)
{
    struct arena memory = {0};
    struct pass pass = {.graph = graph, .edit = {graph, arena}, .remarks = remarks, .err = err};
    size_t n = 0;
    bool is_ok = true;
    pass.n_uses = graph_count_uses(graph, &memory, err);
    for (uint32_t i = 0; i < graph->n_order && pass.n_uses && is_ok; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        struct crop crop;
        if (find_crop(&pass, op, &crop)) {
            is_ok = replace(&pass, op, &crop);
            n++;
        }
    }
    is_ok = is_ok && pass.n_uses;
    arena_free(&memory);
    return is_ok && (n == 0 || toposort(graph, arena, err));
}
