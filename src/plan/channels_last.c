/* Finds chains of convolutions and replaces them with ops with the channels last.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include "ops/grouped_convolution.h"
#include "ops/internal_ops.h"
#include "ops/op_state.h"
#include "ops/window.h"
#include "plan/graph_edit.h"
#include "plan/graph_ints.h"

#define MAX_RANK 5

enum kind {
    OTHER,
    CONVOLUTION,
    DEPTHWISE,
    SPATIAL,
    ELEMENTWISE,
    CONCAT,
    REDUCTION,
    TO_FIRST,
    TO_LAST
};

struct pass {
    struct model finder; /* finds constants, in memory that is freed after the pass */
    struct graph *graph;
    struct graph_edit edit;
    struct arena *arena;
    enum kind *kinds;   /* of each op */
    uint32_t *ranks;    /* of each value that can have the channels last; otherwise 0 */
    bool *are_wanted;   /* for each value: an op reads it with the channels last */
    bool *are_last;     /* for each value: it has the channels last, even if nothing wants it so */
    uint32_t *replaced; /* for each value: its replacement with the channels last, or NO_ID */
    size_t n_replaced;  /* number of convolutions that are replaced */
    uint32_t *n_uses;   /* of each value */
    bool has_groups;    /* the model has grouped convolutions */
    struct irrun_error *err;
};

static const struct constant *find_constant(const struct pass *pass, uint32_t value_id)
{
    return pass->graph->analysis->constants[value_id];
}

/* ---- which ops ---- */

/* Returns whether at most one lane in eight is without a channel. */
static bool fills_vectors(const struct pass *pass, int64_t n_channels)
{
    int64_t lanes = (int64_t)pass->finder.kernels.igemm_f32->lanes;
    return n_channels >= lanes && n_channels * 8 >= (n_channels + lanes - 1) / lanes * lanes * 7;
}

/* Returns the rank of the output of a convolution with constant f32 filters, or 0 if the op is not
 * one. */
static uint32_t find_filters(const struct pass *pass, const struct op *op, enum kind *kind)
{
    bool is_grouped = op_is_type(op, "GroupConvolution");
    if ((!is_grouped && !op_is_type(op, "Convolution")) || op->n_inputs != 2)
        return 0;
    const struct constant *filters = find_constant(pass, op_input(pass->graph, op, 1));
    if (!filters || filters->declared != IRRUN_F32)
        return 0;
    const struct irrun_shape *shape = &filters->tensor.shape;
    uint32_t rank = shape->rank - is_grouped;
    if (rank < 3 || rank > MAX_RANK)
        return 0;
    *kind = is_grouped ? DEPTHWISE : CONVOLUTION;
    bool is_depthwise = is_grouped && shape->dims[1] == 1 && shape->dims[2] == 1;
    if (is_grouped)
        return is_depthwise ? rank : 0;
    return pass->has_groups || fills_vectors(pass, shape->dims[0]) ? rank : 0;
}

/* Returns whether a constant has one element, or one for each channel: [1, C, 1, 1], [C, 1, 1], or
 * a slope of rank 1, for which op_prelu_last finds the dimension. */
static bool fits_channels(const struct op *op, const struct constant *constant, uint32_t rank)
{
    const struct irrun_shape *shape = &constant->tensor.shape;
    const int *broadcast = op_attr(op, "auto_broadcast");
    bool is_pdpd = broadcast && *broadcast == AUTO_BROADCAST_PDPD;
    int64_t n = shape_n_elements(shape);
    return shape->rank <= rank && (n == 1 || (shape->rank == rank && n == shape->dims[1]) ||
                                   (shape->rank + 1 == rank && n == shape->dims[0] && !is_pdpd) ||
                                   (shape->rank == 1 && op_is_type(op, "PReLU")));
}

/* Returns the rank of the output of an element-wise op that can have the channels last, or 0. */
static uint32_t find_elementwise(const struct pass *pass, const struct op *op)
{
    uint32_t rank = 0;
    bool is_elementwise = (op->def->flags & OP_ELEMENTWISE) || op_is_type(op, "PReLU");
    if (!is_elementwise || op->n_outputs != 1)
        return 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        uint32_t in = op_input(pass->graph, op, i);
        if (find_constant(pass, in))
            continue;
        if (pass->ranks[in] == 0 || (rank > 0 && pass->ranks[in] != rank))
            return 0;
        rank = pass->ranks[in];
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const struct constant *constant = find_constant(pass, op_input(pass->graph, op, i));
        if (constant && !fits_channels(op, constant, rank))
            return 0;
    }
    return rank;
}

/* Returns the rank of the output of a Pad, or of a MaxPool whose indices nothing reads, or 0. */
static uint32_t find_spatial(const struct pass *pass, const struct op *op)
{
    if (op_is_type(op, "Pad"))
        return pass->ranks[op_input(pass->graph, op, 0)];
    if (!op_is_type(op, "MaxPool") || (op->n_outputs > 1 && pass->n_uses[op->first_output + 1] > 0))
        return 0;
    return pass->ranks[op_input(pass->graph, op, 0)];
}

/* Returns the rank of the output of a reduction over all positions, which keeps them as dimensions
 * of 1, or 0. */
static uint32_t find_reduction(const struct pass *pass, const struct op *op)
{
    int64_t axes[MAX_RANK];
    uint32_t n, reduced = 0; /* a set of 1 << axis */
    uint32_t rank = op->n_inputs > 0 ? pass->ranks[op_input(pass->graph, op, 0)] : 0;
    bool is_reduction = op_is_type(op, "ReduceMean") || op_is_type(op, "ReduceMax");
    if (!is_reduction || rank == 0 || !((const struct reduce_attrs *)op->attrs)->keep_dims ||
        !graph_ints(pass->graph, op_input(pass->graph, op, 1), axes, MAX_RANK, &n))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        reduced |= axis >= 0 && axis < rank ? 1U << axis : 1;
    }
    return reduced == (1U << rank) - 4 ? rank : 0; /* all axes but 0 and 1 */
}

/* Returns the rank of the output of a Concat of channels of which some are last anyway, or 0. A
 * Concat with the channels first often costs nothing, because its inputs are computed in place. */
static uint32_t find_concat(const struct pass *pass, const struct op *op)
{
    if (!op_is_type(op, "Concat"))
        return 0;
    uint32_t rank = pass->ranks[op_input(pass->graph, op, 0)];
    int64_t axis = ((const struct concat_attrs *)op->attrs)->axis;
    bool is_last = false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        uint32_t in = op_input(pass->graph, op, i);
        if (pass->ranks[in] != rank)
            return 0;
        is_last |= pass->are_last[in];
    }
    return is_last && (axis < 0 ? axis + rank : axis) == 1 ? rank : 0;
}

/* Returns TO_LAST for a Transpose that moves the channels to the end, TO_FIRST for one that moves
 * them back, otherwise OTHER. */
static enum kind find_move(const struct pass *pass, const struct op *op, uint32_t *rank)
{
    int64_t order[MAX_RANK];
    if (!op_is_type(op, "Transpose") ||
        !graph_ints(pass->graph, op_input(pass->graph, op, 1), order, MAX_RANK, rank) || *rank < 3)
        return OTHER;
    bool to_first = order[0] == 0 && order[1] == *rank - 1, to_last = order[0] == 0;
    for (uint32_t i = 2; i < *rank; i++)
        to_first = to_first && order[i] == i - 1;
    for (uint32_t i = 1; i < *rank; i++)
        to_last = to_last && order[i] == (i + 1 < *rank ? i + 1 : 1);
    return to_first ? TO_FIRST : to_last ? TO_LAST : OTHER;
}

/* Finds the kind of an op, and the rank of its output if that can have the channels last. */
static void classify(struct pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    enum kind *kind = &pass->kinds[op_id];
    uint32_t rank = find_filters(pass, op, kind),
             in = op->n_inputs ? op_input(pass->graph, op, 0) : 0;
    if (*kind == DEPTHWISE && rank != pass->ranks[in])
        rank = 0;
    if (*kind == OTHER && (*kind = find_move(pass, op, &rank)) == TO_LAST) {
        if (rank != pass->ranks[in]) /* not a chain, or an error that Transpose reports */
            *kind = OTHER;
        rank = 0;
    }
    if (*kind == OTHER && (rank = find_elementwise(pass, op)) > 0)
        *kind = ELEMENTWISE;
    if (*kind == OTHER && (rank = find_spatial(pass, op)) > 0)
        *kind = SPATIAL;
    if (*kind == OTHER && (rank = find_concat(pass, op)) > 0)
        *kind = CONCAT;
    if (*kind == OTHER && (rank = find_reduction(pass, op)) > 0)
        *kind = REDUCTION;
    if (rank == 0 && *kind != TO_LAST)
        *kind = OTHER;
    if (op->n_outputs > 0) {
        pass->ranks[op->first_output] = rank;
        pass->are_last[op->first_output] =
            *kind == DEPTHWISE || *kind == CONCAT ||
            ((*kind == ELEMENTWISE || *kind == SPATIAL) && pass->are_last[in]);
    }
}

/* Marks the inputs that the op reads with the channels last. Its readers are visited before. */
static void want_inputs(struct pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    enum kind kind = pass->kinds[op_id];
    bool wants_inputs = kind == CONVOLUTION || kind == DEPTHWISE || kind == REDUCTION ||
                        kind == TO_LAST ||
                        ((kind == ELEMENTWISE || kind == SPATIAL || kind == CONCAT) &&
                         pass->are_wanted[op->first_output]);
    uint32_t n = kind == ELEMENTWISE || kind == CONCAT ? op->n_inputs : 1;
    for (uint32_t i = 0; i < n && wants_inputs; i++) {
        uint32_t in = op_input(pass->graph, op, i);
        pass->are_wanted[in] = pass->ranks[in] > 0;
    }
}

/* ---- their replacements ---- */

static uint32_t add_move(struct pass *pass, const struct op_def *def, const void *attrs,
                         const struct op *like, uint32_t in)
{
    const struct op copy = *like;
    return graph_edit_add(&pass->edit, def, attrs, &copy, &in, 1, 1);
}

/* Replaces the value `out` with the output of op `added`, which has the channels last. */
static void take_over(struct pass *pass, uint32_t added, uint32_t out)
{
    pass->replaced[out] = pass->graph->ops[added].first_output;
    uint32_t moved =
        add_move(pass, &op_channels_first, NULL, &pass->graph->ops[added], pass->replaced[out]);
    graph_edit_take_over(&pass->edit, moved, out);
}

static bool replace_convolution(struct pass *pass, const struct op *op)
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

/* Returns a constant with the channels last. */
static uint32_t move_constant(struct pass *pass, const struct op *op, uint32_t in)
{
    static const struct axis_attrs first = {.axis = 0};
    uint32_t rank = pass->ranks[op->first_output];
    const struct irrun_shape *shape = &find_constant(pass, in)->tensor.shape;
    if (shape->rank + 1 == rank)
        in = pass->graph->ops[add_move(pass, &op_insert_axis, &first, op, in)].first_output;
    else if (shape->rank < rank)
        return in;
    return pass->graph->ops[add_move(pass, &op_channels_last, NULL, op, in)].first_output;
}

static bool replace_elementwise(struct pass *pass, const struct op *op)
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

static bool replace_concat(struct pass *pass, const struct op *op)
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

static bool replace_pad(struct pass *pass, const struct op *op)
{
    uint32_t inputs[4] = {pass->replaced[op_input(pass->graph, op, 0)]};
    struct pad_attrs *attrs = arena_copy(pass->arena, op->attrs, 1, sizeof *attrs, pass->err);
    if (!attrs)
        return false;
    attrs->channels_last = true;
    for (uint32_t i = 1; i < op->n_inputs; i++)
        inputs[i] = op_input(pass->graph, op, i);
    take_over(pass, graph_edit_add(&pass->edit, op->def, attrs, op, inputs, op->n_inputs, 1),
              op->first_output);
    return true;
}

static bool replace_max_pool(struct pass *pass, const struct op *op)
{
    uint32_t in = pass->replaced[op_input(pass->graph, op, 0)];
    struct pool_attrs *attrs = arena_copy(pass->arena, op->attrs, 1, sizeof *attrs, pass->err);
    if (!attrs)
        return false;
    attrs->channels_last = true;
    take_over(pass, graph_edit_add(&pass->edit, op->def, attrs, op, &in, 1, 1), op->first_output);
    return true;
}

static bool replace_reduction(struct pass *pass, const struct op *op)
{
    uint32_t inputs[] = {pass->replaced[op_input(pass->graph, op, 0)],
                         op_input(pass->graph, op, 1)};
    struct reduce_attrs *attrs = arena_alloc(pass->arena, sizeof *attrs, pass->err);
    if (!attrs)
        return false;
    *attrs = (struct reduce_attrs){.keep_dims = true, .channels_last = true};
    take_over(pass, graph_edit_add(&pass->edit, op->def, attrs, op, inputs, 2, 1),
              op->first_output);
    return true;
}

static bool replace(struct pass *pass, uint32_t op_id)
{
    const struct op op = pass->graph->ops[op_id];
    uint32_t in = op.n_inputs > 0 ? op_input(pass->graph, &op, 0) : 0;
    switch (pass->kinds[op_id]) {
    case CONVOLUTION:
    case DEPTHWISE:
        return replace_convolution(pass, &op);
    case SPATIAL:
        return !pass->are_wanted[op.first_output] ||
               (op_is_type(&op, "Pad") ? replace_pad : replace_max_pool)(pass, &op);
    case ELEMENTWISE:
        return !pass->are_wanted[op.first_output] || replace_elementwise(pass, &op);
    case CONCAT:
        return !pass->are_wanted[op.first_output] || replace_concat(pass, &op);
    case REDUCTION:
        return pass->replaced[in] == NO_ID || replace_reduction(pass, &op);
    case TO_FIRST:
        pass->replaced[op.first_output] = pass->are_wanted[op.first_output] ? in : NO_ID;
        return true;
    case TO_LAST:
        if (pass->replaced[in] != NO_ID)
            graph_edit_take_over(&pass->edit,
                                 add_move(pass, &op_identity, NULL, &op, pass->replaced[in]),
                                 op.first_output);
        return true;
    case OTHER:
        break;
    }
    return true;
}

/* ---- the pass ---- */

static bool allocate(struct pass *pass)
{
    struct graph *graph = pass->graph;
    struct arena *memory = pass->finder.arena;
    size_t n = graph->n_values;
    pass->kinds = arena_alloc_array(memory, graph->n_ops, sizeof *pass->kinds, pass->err);
    pass->ranks = arena_alloc_array(memory, n, sizeof *pass->ranks, pass->err);
    pass->are_wanted = arena_alloc_array(memory, n, sizeof *pass->are_wanted, pass->err);
    pass->are_last = arena_alloc_array(memory, n, sizeof *pass->are_last, pass->err);
    pass->replaced = arena_alloc_array(memory, n, sizeof *pass->replaced, pass->err);
    pass->n_uses = arena_alloc_array(memory, n, sizeof *pass->n_uses, pass->err);
    if (!pass->kinds || !pass->ranks || !pass->are_wanted || !pass->are_last || !pass->replaced ||
        !pass->n_uses)
        return false;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        for (uint32_t k = 0; k < op->n_inputs; k++)
            pass->n_uses[op_input(graph, op, k)]++;
    }
    for (size_t i = 0; i < n; i++)
        pass->replaced[i] = NO_ID;
    return constants_find_early(&pass->finder, pass->err);
}

static bool run_pass(struct pass *pass)
{
    struct graph *graph = pass->graph;
    size_t n = 0, n_inputs = 0, n_depthwise = 0;
    uint32_t n_order = graph->n_order;
    if (!allocate(pass))
        return false;
    for (uint32_t i = 0; i < n_order; i++) {
        classify(pass, graph->order[i]);
        n_depthwise += pass->kinds[graph->order[i]] == DEPTHWISE;
    }
    for (uint32_t i = n_order; i-- > 0;) {
        const struct op *op = &graph->ops[graph->order[i]];
        want_inputs(pass, graph->order[i]);
        n += 2 + 2 * op->n_inputs;
        n_inputs += 2 + 3 * op->n_inputs;
    }
    if (pass->has_groups && n_depthwise == 0)
        return true;
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
    struct pass pass = {
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
