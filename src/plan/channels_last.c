/* Finds chains of convolutions, and replaces their ops with ops whose channels are last (NHWC).
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/channels_last.h"

#include "ops/grouped_convolution.h"
#include "ops/internal_ops.h"
#include "ops/op_state.h"
#include "ops/window.h"

/* Adds an op with one input and one output, and returns its id. The op gets the place of `like` in
 * the XML. */
static uint32_t add_unary(struct channels_last_pass *pass, const struct op_def *def,
                          const void *attrs, const struct op *like, uint32_t in)
{
    const struct op copy = *like;
    return graph_edit_add(&pass->edit, def, attrs, &copy, &in, 1, 1);
}

/* Replaces the value `out` with the output of op `added`, which has the channels last. An added
 * transposition computes `out` for the ops that need the channels first. */
static void take_over(struct channels_last_pass *pass, uint32_t added, uint32_t out)
{
    pass->replaced[out] = pass->graph->ops[added].first_output;
    uint32_t first =
        add_unary(pass, &op_channels_first, NULL, &pass->graph->ops[added], pass->replaced[out]);
    graph_edit_take_over(&pass->edit, first, out);
}

static bool replace_convolution(struct channels_last_pass *pass, const struct op *op)
{
    uint32_t in = op_input(pass->graph, op, 0), out = op->first_output;
    struct convolution_attrs *attrs =
        arena_copy(pass->arena, op->attrs, 1, sizeof *attrs, pass->err);
    if (!attrs)
        return false;
    attrs->in_channels_last = pass->replaced[in] != NO_ID;
    attrs->out_channels_last = pass->are_wanted[out] || op_is_type(op, "GroupConvolution");
    if (!attrs->in_channels_last && !attrs->out_channels_last)
        return true;
    uint32_t inputs[] = {attrs->in_channels_last ? pass->replaced[in] : in,
                         op_input(pass->graph, op, 1)};
    uint32_t added = graph_edit_add(&pass->edit, op->def, attrs, op, inputs, 2, 1);
    if (attrs->out_channels_last)
        take_over(pass, added, out);
    else
        graph_edit_take_over(&pass->edit, added, out);
    pass->n_replaced++;
    return true;
}

/* Returns a value that holds a constant with its channels moved to the end. */
static uint32_t move_constant(struct channels_last_pass *pass, const struct op *op, uint32_t in)
{
    static const struct axis_attrs first = {.axis = 0};
    uint32_t rank = pass->ranks[op->first_output];
    const struct irrun_shape *shape = &find_constant(pass, in)->tensor.shape;
    if (shape->rank + 1 == rank)
        in = pass->graph->ops[add_unary(pass, &op_insert_axis, &first, op, in)].first_output;
    else if (shape->rank < rank)
        return in;
    return pass->graph->ops[add_unary(pass, &op_channels_last, NULL, op, in)].first_output;
}

static bool replace_elementwise(struct channels_last_pass *pass, const struct op *op)
{
    uint32_t *inputs =
        arena_alloc_array(pass->finder.arena, op->n_inputs, sizeof *inputs, pass->err);
    if (!inputs)
        return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        uint32_t in = op_input(pass->graph, op, i);
        inputs[i] = find_constant(pass, in) ? move_constant(pass, op, in) : pass->replaced[in];
    }
    const struct op_def *def = op_is_type(op, "PReLU") ? &op_prelu_last : op->def;
    uint32_t added = graph_edit_add(&pass->edit, def, op->attrs, op, inputs, op->n_inputs, 1);
    take_over(pass, added, op->first_output);
    return true;
}

static bool replace_concat(struct channels_last_pass *pass, const struct op *op)
{
    uint32_t *inputs =
        arena_alloc_array(pass->finder.arena, op->n_inputs, sizeof *inputs, pass->err);
    struct concat_attrs *attrs = arena_alloc(pass->arena, sizeof *attrs, pass->err);
    if (!inputs || !attrs)
        return false;
    *attrs = (struct concat_attrs){.axis = -1};
    for (uint32_t i = 0; i < op->n_inputs; i++)
        inputs[i] = pass->replaced[op_input(pass->graph, op, i)];
    take_over(pass, graph_edit_add(&pass->edit, op->def, attrs, op, inputs, op->n_inputs, 1),
              op->first_output);
    return true;
}

/* Replaces a Pad, a MaxPool or a reduction with a copy that has the channels last. */
static bool replace_same(struct channels_last_pass *pass, const struct op *op)
{
    uint32_t inputs[4] = {pass->replaced[op_input(pass->graph, op, 0)]};
    void *attrs = arena_copy(pass->arena, op->attrs, 1, op->def->attrs_size, pass->err);
    if (!attrs)
        return false;
    *(op_is_type(op, "Pad")       ? &((struct pad_attrs *)attrs)->channels_last
      : op_is_type(op, "MaxPool") ? &((struct pool_attrs *)attrs)->channels_last
                                  : &((struct reduce_attrs *)attrs)->channels_last) = true;
    for (uint32_t i = 1; i < op->n_inputs; i++)
        inputs[i] = op_input(pass->graph, op, i);
    take_over(pass, graph_edit_add(&pass->edit, op->def, attrs, op, inputs, op->n_inputs, 1),
              op->first_output);
    return true;
}

static bool replace(struct channels_last_pass *pass, uint32_t op_id)
{
    const struct op op = pass->graph->ops[op_id];
    uint32_t in = op.n_inputs > 0 ? op_input(pass->graph, &op, 0) : 0;
    switch (pass->kinds[op_id]) {
    case CONVOLUTION:
    case DEPTHWISE:
        return replace_convolution(pass, &op);
    case SPATIAL:
        return !pass->are_wanted[op.first_output] || replace_same(pass, &op);
    case ELEMENTWISE:
        return !pass->are_wanted[op.first_output] || replace_elementwise(pass, &op);
    case CONCAT:
        return !pass->are_wanted[op.first_output] || replace_concat(pass, &op);
    case REDUCTION:
        return pass->replaced[in] == NO_ID || replace_same(pass, &op);
    case TO_FIRST:
        pass->replaced[op.first_output] = pass->are_wanted[op.first_output] ? in : NO_ID;
        return true;
    case TO_LAST:
        if (pass->replaced[in] != NO_ID)
            graph_edit_take_over(&pass->edit,
                                 add_unary(pass, &op_identity, NULL, &op, pass->replaced[in]),
                                 op.first_output);
        return true;
    case OTHER:
        break;
    }
    return true;
}

/* ---- the pass ---- */

static bool allocate(struct channels_last_pass *pass)
{
    struct graph *graph = pass->graph;
    struct arena *memory = pass->finder.arena;
    size_t n = graph->n_values;
    pass->kinds = arena_alloc_array(memory, graph->n_ops, sizeof *pass->kinds, pass->err);
    pass->ranks = arena_alloc_array(memory, n, sizeof *pass->ranks, pass->err);
    pass->are_wanted = arena_alloc_array(memory, n, sizeof *pass->are_wanted, pass->err);
    pass->are_last = arena_alloc_array(memory, n, sizeof *pass->are_last, pass->err);
    pass->replaced = arena_alloc_array(memory, n, sizeof *pass->replaced, pass->err);
    pass->n_uses = graph_count_uses(graph, memory, pass->err);
    if (!pass->kinds || !pass->ranks || !pass->are_wanted || !pass->are_last || !pass->replaced ||
        !pass->n_uses)
        return false;
    for (size_t i = 0; i < n; i++)
        pass->replaced[i] = NO_ID;
    return constants_find_early(&pass->finder, pass->err);
}

static bool run_pass(struct channels_last_pass *pass)
{
    struct graph *graph = pass->graph;
    size_t n = 0, n_inputs = 0;
    uint32_t n_order = graph->n_order;
    if (!allocate(pass))
        return false;
    if (channels_last_classify(pass) == 0 && pass->has_groups)
        return true;
    for (uint32_t i = 0; i < n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        n += 2 + 2 * op->n_inputs;
        n_inputs += 2 + 3 * op->n_inputs;
    }
    if (!graph_edit_begin(&pass->edit, graph, pass->arena, n, n, n_inputs, pass->err))
        return false;
    for (uint32_t i = 0; i < n_order; i++)
        if (!replace(pass, graph->order[i]))
            return false;
    return true;
}

bool channels_last_place(const struct model *model, struct remarks *remarks,
                         struct irrun_error *err)
{
    struct arena memory = {0};
    struct channels_last_pass pass = {
        .finder = {.graph = model->graph, .arena = &memory, .kernels = model->kernels},
        .graph = model->graph,
        .arena = model->arena,
        .err = err};
    size_t n = 0;
    for (uint32_t i = 0; i < model->graph->n_order; i++) {
        const struct op *op = &model->graph->ops[model->graph->order[i]];
        pass.has_groups |= op_is_type(op, "GroupConvolution");
        n += op_is_type(op, "Convolution");
    }
    if ((n < 2 && !pass.has_groups) || model->stops_at_nan || !kernels_may_pack(&model->kernels))
        return true;
    bool is_done = run_pass(&pass);
    model->graph->analysis = NULL;
    arena_free(&memory);
    return is_done && toposort(model->graph, model->arena, err) &&
           (pass.n_replaced == 0 ||
            remarks_add(remarks, model->arena, err, "convolutions with channels last (NHWC): %zu",
                        pass.n_replaced));
}
