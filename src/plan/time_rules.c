/* Follows the time axis through ops that compute values; time_moves.c does so for ops that only
 * move elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/time_rules.h"

#include "ops/recurrent_op.h"
#include "plan/graph_ints.h"

/* ---- shared ---- */

bool time_set_axis(struct time_op *t, uint32_t axis)
{
    for (uint32_t i = 0; i < t->op->n_outputs; i++) {
        t->out[i] = t->in;
        t->out[i].axis = axis;
    }
    return true;
}

static bool mark_axes(struct time_op *t, const int64_t *axes, uint32_t n, uint32_t rank,
                      bool is_set[IRRUN_MAX_RANK])
{
    memset(is_set, 0, IRRUN_MAX_RANK * sizeof *is_set);
    for (uint32_t i = 0; i < n; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + (int64_t)rank : axes[i];
        if (axis < 0 || axis >= (int64_t)rank || axis >= IRRUN_MAX_RANK)
            return time_refuse(t, "has axis %lld, outside %u dimensions", (long long)axes[i], rank);
        is_set[axis] = true;
    }
    return true;
}

bool time_read_axes(struct time_op *t, uint32_t rank, bool is_set[IRRUN_MAX_RANK])
{
    int64_t axes[IRRUN_MAX_RANK];
    uint32_t n;
    if (t->op->n_inputs < 2 ||
        !graph_ints(t->graph, op_input(t->graph, t->op, 1), axes, IRRUN_MAX_RANK, &n))
        return time_refuse(t, "has axes that are not constant");
    return mark_axes(t, axes, n, rank, is_set);
}

static bool has_same_layout(const struct time_use *a, const struct time_use *b)
{
    return a->outer == b->outer && a->inner == b->inner;
}

/* ---- rules ---- */

bool time_rule_first(struct time_op *t)
{
    return t->first == 0 ? time_set_axis(t, t->in.axis)
                         : time_refuse(t, "depends on time in input %u", t->first);
}

/* Shapes are aligned at the last dimension, so axes are counted from the end. */
bool time_rule_elementwise(struct time_op *t)
{
    const int *broadcast = op_attr(t->op, "auto_broadcast");
    uint32_t from_end = time_input_rank(t, t->first) - t->in.axis, rank = 0;
    if (broadcast && *broadcast == AUTO_BROADCAST_PDPD)
        return time_refuse(t, "has auto_broadcast pdpd");
    for (uint32_t i = 0; i < t->op->n_inputs; i++) {
        const struct time_use *use = time_input(t, i);
        uint32_t in_rank = time_input_rank(t, i);
        rank = in_rank > rank ? in_rank : rank;
        if (use->kind == TIME_NONE) {
            if (in_rank >= from_end && !time_check_operand(t, i, in_rank - from_end))
                return false;
        } else if (use->kind != TIME_ALONG) {
            return time_refuse(t, "combines each frame with a value that depends on %s",
                               use->kind == TIME_LAST ? "the last frame" : "the number of frames");
        } else if (in_rank - use->axis != from_end ||
                   (i != t->first && !has_same_layout(use, &t->in))) {
            return time_refuse(t, "has time in two dimensions");
        }
    }
    return time_set_axis(t, rank - from_end);
}

/* The rule of PReLU. Slopes of rank 1 apply to dimension 1 if its size is equal to their number;
 * otherwise they are broadcast. If dimension 1 is time, a chunk may happen to have this size. */
bool time_rule_prelu(struct time_op *t)
{
    int64_t n = time_dim(t->graph, op_input(t->graph, t->op, 1), 0);
    int64_t n_channels = time_dim(t->graph, op_input(t->graph, t->op, 0), 1);
    if (!time_check_others(t, 0))
        return false;
    if (time_input_rank(t, 1) != 1 || n == 1 || (t->in.axis != 1 && (n < 0 || n != n_channels)))
        return time_rule_elementwise(t);
    return (t->in.axis != 1 || time_check_operand(t, 1, 0)) && time_set_axis(t, t->in.axis);
}

bool time_rule_matmul(struct time_op *t)
{
    const bool *transposes[] = {op_attr(t->op, "transpose_a"), op_attr(t->op, "transpose_b")};
    uint32_t ranks[] = {time_input_rank(t, 0), time_input_rank(t, 1)};
    uint32_t rank = ranks[0] > ranks[1] ? ranks[0] : ranks[1], other = 1 - t->first;
    if (ranks[0] < 2 || ranks[1] < 2)
        return time_refuse(t, "has an operand of one dimension");
    uint32_t from_end = ranks[t->first] - t->in.axis;
    if (from_end <= 2) {
        /* 1: columns, 2: rows of the result */
        uint32_t place = *transposes[t->first] ? 3 - from_end : from_end;
        if (place != (t->first == 0 ? 2 : 1))
            return time_refuse(t, "sums over frames");
        if (time_input(t, other)->kind != TIME_NONE)
            return time_refuse(t, "multiplies two inputs that both depend on time");
        return time_set_axis(t, rank - place);
    }
    const struct time_use *use = time_input(t, other);
    if (use->kind == TIME_NONE && ranks[other] >= from_end &&
        !time_check_operand(t, other, ranks[other] - from_end))
        return false;
    if (use->kind != TIME_NONE &&
        (use->kind != TIME_ALONG || ranks[other] - use->axis != from_end ||
         !has_same_layout(use, &t->in)))
        return time_refuse(t, "multiplies two inputs that both depend on time");
    return time_set_axis(t, rank - from_end);
}

/* Returns whether an attribute has the value `neutral` for spatial dimension i of n. A list with
 * fewer than n items applies to the last dimensions. */
static bool is_neutral(struct time_op *t, const char *name, uint32_t i, uint32_t n, int64_t neutral)
{
    const struct i64_list *list = op_attr(t->op, name);
    uint32_t missing = list ? n - list->n : n;
    return !list || i < missing || list->items[i - missing] == neutral;
}

/* The rule of convolutions. Time may be the batch, or a spatial dimension in which the kernel has
 * size 1. */
bool time_rule_convolution(struct time_op *t)
{
    uint32_t rank = time_input_rank(t, 0), filters = op_input(t->graph, t->op, 1);
    uint32_t n_before = time_rank(t->graph, filters) - (rank - 2);
    if (t->in.axis == 0)
        return time_set_axis(t, 0);
    if (t->in.axis == 1)
        return time_refuse(t, "sums over frames");
    uint32_t i = t->in.axis - 2;
    int64_t kernel = time_dim(t->graph, filters, n_before + i);
    if (kernel != 1)
        return time_refuse(t, "slides over frames: its kernel has size %lld along dimension %u",
                           (long long)kernel, t->in.axis);
    if (!is_neutral(t, "strides", i, rank - 2, 1) || !is_neutral(t, "pads_begin", i, rank - 2, 0) ||
        !is_neutral(t, "pads_end", i, rank - 2, 0))
        return time_refuse(t, "has strides or pads along dimension %u, which is time", t->in.axis);
    return time_set_axis(t, t->in.axis);
}

/* The rule for ops that compute each batch element independently. */
bool time_rule_batchwise(struct time_op *t)
{
    return t->in.axis == 0 ? time_set_axis(t, 0)
                           : time_refuse(t, "mixes frames, which are in dimension %u", t->in.axis);
}

bool time_rule_channels(struct time_op *t)
{
    if (!time_check_others(t, t->first))
        return false;
    return t->in.axis != 1 ? time_set_axis(t, t->in.axis)
                           : time_refuse(t, "has parameters for each frame: time is dimension 1");
}

static bool check_other_axes(struct time_op *t, const bool is_set[IRRUN_MAX_RANK])
{
    return !is_set[t->in.axis] ||
           time_refuse(t, "computes over frames: time is dimension %u", t->in.axis);
}

bool time_rule_axis_attribute(struct time_op *t)
{
    const int64_t *axis = op_attr(t->op, "axis");
    bool is_set[IRRUN_MAX_RANK];
    return mark_axes(t, axis, 1, time_input_rank(t, 0), is_set) && check_other_axes(t, is_set) &&
           time_set_axis(t, t->in.axis);
}

bool time_rule_axes(struct time_op *t)
{
    bool is_set[IRRUN_MAX_RANK];
    return time_read_axes(t, time_input_rank(t, 0), is_set) && check_other_axes(t, is_set) &&
           time_set_axis(t, t->in.axis);
}

bool time_rule_reduction(struct time_op *t)
{
    const bool *keeps = op_attr(t->op, "keep_dims");
    bool is_set[IRRUN_MAX_RANK];
    if (!time_read_axes(t, time_input_rank(t, 0), is_set) || !check_other_axes(t, is_set))
        return false;
    uint32_t axis = t->in.axis;
    for (uint32_t i = 0; i < t->in.axis && !*keeps; i++)
        axis -= is_set[i];
    return time_set_axis(t, axis);
}

/* The rule of MVN. Version 1 has no axes: it normalizes over all dimensions except the batch and
 * perhaps the channels. */
bool time_rule_mvn(struct time_op *t)
{
    const bool *across = op_attr(t->op, "across_channels");
    if (!across)
        return time_rule_axes(t);
    if (t->in.axis == 0 || (t->in.axis == 1 && !*across))
        return time_set_axis(t, t->in.axis);
    return time_refuse(t, "computes over frames: time is dimension %u", t->in.axis);
}

/* The rule of recurrent ops whose batch axis is time: each frame is a sequence with its own states
 * and length. */
static bool recurrent_over_batch(struct time_op *t, const struct recurrent_family *family)
{
    for (uint32_t i = 0; i < t->op->n_inputs; i++) {
        const struct time_use *use = time_input(t, i);
        if (use->kind == TIME_NONE) {
            if (i < family->w && !time_check_operand(t, i, 0))
                return false;
        } else if (i >= family->w || use->kind != TIME_ALONG || use->axis != 0 ||
                   !has_same_layout(use, &t->in)) {
            return time_refuse(t, "depends on time in input %u", i);
        }
    }
    return time_set_axis(t, 0);
}

bool time_rule_recurrent(struct time_op *t)
{
    const struct recurrent_family *family = recurrent_family_of(t->op);
    if (t->in.axis == 0)
        return recurrent_over_batch(t, family);
    if (t->first != family->x || t->in.axis != 1)
        return time_refuse(t, "sums over frames");
    if (t->in.outer != 1 || t->in.inner != 1)
        return time_refuse(t, "runs over a dimension that holds more than the frames");
    if (!t->walk->carries[t->op - t->graph->ops])
        return time_refuse(t, "does not keep its state from one chunk to the next");
    for (uint32_t i = family->w; i < t->op->n_inputs; i++)
        if (time_input(t, i)->kind != TIME_NONE)
            return time_refuse(t, "has weights that depend on time");
    for (uint32_t i = family->h0; i != NO_INPUT; i = i == family->c0 ? NO_INPUT : family->c0)
        if (time_input(t, i)->kind != TIME_NONE && time_input(t, i)->kind != TIME_LAST)
            return time_refuse(t, "starts from a state that depends on the number of frames");
    for (uint32_t i = 1; i < t->op->n_outputs; i++)
        t->out[i] = (struct time_use){.kind = TIME_LAST};
    t->out[0] = t->in;
    t->out[0].axis = 2;
    return true;
}
