/* Finds which ops of a chain of convolutions can have the channels last.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/channels_last.h"

#include "ops/op_state.h"
#include "plan/graph_ints.h"

#define MAX_RANK 5

/* Returns whether vectors that hold all channels have at most one unused lane in eight. */
static bool fills_vectors(const struct channels_last_pass *pass, int64_t n_channels)
{
    int64_t lanes = (int64_t)pass->finder.kernels.igemm_f32->lanes;
    return n_channels >= lanes && n_channels * 8 >= (n_channels + lanes - 1) / lanes * lanes * 7;
}

/* Returns the output rank of a convolution with constant f32 filters that can have the channels
 * last, or 0. */
static uint32_t find_convolution(const struct channels_last_pass *pass, const struct op *op,
                                 enum channels_last_kind *kind)
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
    bool is_worthwhile = is_grouped ? shape->dims[1] == 1 && shape->dims[2] == 1
                                    : pass->has_groups || fills_vectors(pass, shape->dims[0]);
    return is_worthwhile ? rank : 0;
}

/* Returns whether a constant has one element, or one per channel: [1, C, 1, 1] or [C, 1, 1]. Also
 * accepts slopes of rank 1, for which op_prelu_last finds the dimension. */
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

/* Returns the output rank of an element-wise op that can have the channels last, or 0. */
static uint32_t find_elementwise(const struct channels_last_pass *pass, const struct op *op)
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

/* Returns the output rank of a Pad, or of a MaxPool whose indices no op reads; otherwise 0. */
static uint32_t find_spatial(const struct channels_last_pass *pass, const struct op *op)
{
    bool is_max = op_is_type(op, "MaxPool") &&
                  (op->n_outputs == 1 || pass->n_uses[op->first_output + 1] == 0);
    return is_max || op_is_type(op, "Pad") ? pass->ranks[op_input(pass->graph, op, 0)] : 0;
}

/* Returns the output rank of a reduction over all spatial dimensions that keeps them with length 1;
 * otherwise 0. */
static uint32_t find_reduction(const struct channels_last_pass *pass, const struct op *op)
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

/* Returns the output rank of a Concat along the channels if are_last is true for an input;
 * otherwise 0. With the channels first, a Concat often costs nothing, because its inputs are
 * computed in place. */
static uint32_t find_concat(const struct channels_last_pass *pass, const struct op *op)
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
static enum channels_last_kind find_move(const struct channels_last_pass *pass, const struct op *op,
                                         uint32_t *rank)
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

/* Finds the kind of an op, and the rank of its output if the output can have the channels last. */
static void classify(struct channels_last_pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    enum channels_last_kind *kind = &pass->kinds[op_id];
    uint32_t rank = find_convolution(pass, op, kind),
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

/* Marks the inputs that the op reads with the channels last. The readers of its outputs have been
 * visited. */
static void mark_wanted_inputs(struct channels_last_pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    enum channels_last_kind kind = pass->kinds[op_id];
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

size_t channels_last_classify(struct channels_last_pass *pass)
{
    const struct graph *graph = pass->graph;
    size_t n_depthwise = 0;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        classify(pass, graph->order[i]);
        n_depthwise += pass->kinds[graph->order[i]] == DEPTHWISE;
    }
    for (uint32_t i = graph->n_order; i-- > 0;)
        mark_wanted_inputs(pass, graph->order[i]);
    return n_depthwise;
}
