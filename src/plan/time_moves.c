/* Follows the time axis through ops that move elements, except for Reshape (time_reshape.c).
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/graph_ints.h"
#include "plan/time_rules.h"

static bool read_ints(const struct time_op *t, uint32_t input, int64_t ints[IRRUN_MAX_RANK],
                      uint32_t *n)
{
    return input < t->op->n_inputs &&
           graph_ints(t->graph, op_input(t->graph, t->op, input), ints, IRRUN_MAX_RANK, n);
}

/* The lists in inputs 1 to 4 of a Slice or StridedSlice. */
enum slice_list { BEGINS, ENDS, STEPS, AXES, N_LISTS };

/* Reads `count` lists of equal length, from input 1 on. */
static bool read_lists(struct time_op *t, uint32_t count, int64_t (*lists)[IRRUN_MAX_RANK],
                       uint32_t *n)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length;
        if (!read_ints(t, 1 + i, lists[i], &length))
            return time_refuse(t, "has an input %u that is not constant", 1 + i);
        if (i > 0 && length != *n)
            return time_refuse(t, "has inputs 1 and %u of different length", 1 + i);
        *n = length;
    }
    return true;
}

bool time_rule_transpose(struct time_op *t)
{
    uint32_t n, rank = time_input_rank(t, 0);
    int64_t order[IRRUN_MAX_RANK];
    if (time_dim(t->graph, op_input(t->graph, t->op, 1), 0) == 0)
        return time_set_axis(t, rank - 1 - t->in.axis);
    if (!read_ints(t, 1, order, &n))
        return time_refuse(t, "has an order that is not constant");
    for (uint32_t i = 0; i < n; i++)
        if (order[i] == t->in.axis)
            return time_set_axis(t, i);
    return time_refuse(t, "drops dimension %u, which is time", t->in.axis);
}

bool time_rule_unsqueeze(struct time_op *t)
{
    int64_t axes[IRRUN_MAX_RANK];
    bool is_new[IRRUN_MAX_RANK];
    uint32_t n, axis = 0;
    if (!read_ints(t, 1, axes, &n))
        return time_refuse(t, "has axes that are not constant");
    if (!time_read_axes(t, time_input_rank(t, 0) + n, is_new))
        return false;
    for (uint32_t old = 0;; axis++) {
        if (axis < IRRUN_MAX_RANK && is_new[axis])
            continue;
        if (old++ == t->in.axis)
            return time_set_axis(t, axis);
    }
}

/* The rule of Squeeze. Without axes, it would remove the time axis of a chunk of one frame. */
bool time_rule_squeeze(struct time_op *t)
{
    bool is_dropped[IRRUN_MAX_RANK];
    if (t->op->n_inputs < 2)
        return time_refuse(t, "has no axes: it would drop the time axis of a chunk of one frame");
    if (!time_read_axes(t, time_input_rank(t, 0), is_dropped))
        return false;
    if (is_dropped[t->in.axis])
        return time_refuse(t, "drops dimension %u, which is time", t->in.axis);
    uint32_t axis = t->in.axis;
    for (uint32_t i = 0; i < t->in.axis; i++)
        axis -= is_dropped[i];
    return time_set_axis(t, axis);
}

bool time_rule_concat(struct time_op *t)
{
    uint32_t rank = time_input_rank(t, t->first);
    int64_t axis = *(const int64_t *)op_attr(t->op, "axis");
    axis = axis < 0 ? axis + (int64_t)rank : axis;
    if (axis == (int64_t)t->in.axis)
        return time_refuse(t, "joins along dimension %u, which is time", t->in.axis);
    for (uint32_t i = 0; i < t->op->n_inputs; i++) {
        const struct time_use *use = time_input(t, i);
        if (use->kind == TIME_NONE) {
            /* inputs are not broadcast: even a size of 1 does not fit */
            if (!time_check_operand(t, i, t->in.axis))
                return false;
            if (!t->walk->is_trial)
                return time_refuse(t, "joins frames with input %u, which has no time axis", i);
        } else if (use->kind != TIME_ALONG || use->axis != t->in.axis ||
                   use->outer != t->in.outer || use->inner != t->in.inner) {
            return time_refuse(t, "has input %u, which depends on time in a different way", i);
        }
    }
    return time_set_axis(t, t->in.axis);
}

/* The rule for an op that selects frames. It may select only the last one. The result is treated
 * like a state, because the last chunk ends with the same frame. */
static bool select_last(struct time_op *t, const int64_t *index, uint32_t n)
{
    if (n != 1 || *index != -1 || t->in.outer != 1 || t->in.inner != 1)
        return time_refuse(
            t, "takes some of the frames: in a chunk only all or the last (-1) can be taken");
    for (uint32_t i = 0; i < t->op->n_outputs; i++)
        t->out[i] = (struct time_use){.kind = TIME_LAST};
    return true;
}

bool time_rule_gather(struct time_op *t)
{
    const int64_t *batch_dims = op_attr(t->op, "batch_dims");
    uint32_t rank = time_input_rank(t, 0), n_indices = time_input_rank(t, 1), n;
    int64_t axes[IRRUN_MAX_RANK], index[IRRUN_MAX_RANK];
    if (!time_check_others(t, t->first))
        return false;
    if (!read_ints(t, 2, axes, &n) || n != 1 || t->first > 1 || (batch_dims && *batch_dims != 0))
        return time_refuse(t, "has batch_dims, or an axis that is not constant");
    uint32_t axis = (uint32_t)(axes[0] < 0 ? axes[0] + (int64_t)rank : axes[0]);
    if (t->first == 1)
        return time_set_axis(t, axis + t->in.axis);
    if (axis == t->in.axis)
        return read_ints(t, 1, index, &n) ? select_last(t, index, n) : select_last(t, NULL, 0);
    return time_set_axis(t, t->in.axis < axis ? t->in.axis : t->in.axis + n_indices - 1);
}

bool time_rule_split(struct time_op *t)
{
    bool is_split[IRRUN_MAX_RANK];
    if (!time_read_axes(t, time_input_rank(t, 0), is_split))
        return false;
    return is_split[t->in.axis] ? time_refuse(t, "splits dimension %u, which is time", t->in.axis)
                                : time_set_axis(t, t->in.axis);
}

/* The rule for a slice along time. It must select all frames, or the last one. */
static bool slice_time(struct time_op *t, int64_t start, int64_t stop, int64_t step)
{
    if (start == 0 && stop >= INT32_MAX && step == 1)
        return time_set_axis(t, t->in.axis);
    return select_last(t, &start, step == 1 && stop >= INT32_MAX ? 1 : 0);
}

bool time_rule_slice(struct time_op *t)
{
    int64_t lists[N_LISTS][IRRUN_MAX_RANK];
    uint32_t rank = time_input_rank(t, 0), n;
    if (!read_lists(t, t->op->n_inputs - 1, lists, &n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        int64_t axis = t->op->n_inputs == 5 ? lists[AXES][i] : i;
        if ((axis < 0 ? axis + (int64_t)rank : axis) == (int64_t)t->in.axis)
            return slice_time(t, lists[BEGINS][i], lists[ENDS][i], lists[STEPS][i]);
    }
    return time_set_axis(t, t->in.axis);
}

/* The rule of StridedSlice. Item i of a list applies to dimension i, not counting new axes. An
 * ellipsis is refused. */
bool time_rule_strided_slice(struct time_op *t)
{
    int64_t lists[N_LISTS][IRRUN_MAX_RANK]; /* no AXES */
    uint32_t n, in = 0, out = 0;
    if (!read_lists(t, t->op->n_inputs - 1, lists, &n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (i64_list_is_set(op_attr(t->op, "ellipsis_mask"), i))
            return time_refuse(t, "has an ellipsis_mask");
        if (i64_list_is_set(op_attr(t->op, "new_axis_mask"), i)) {
            out++;
            continue;
        }
        bool is_shrunk = i64_list_is_set(op_attr(t->op, "shrink_axis_mask"), i);
        if (in++ == t->in.axis) {
            const int64_t begin =
                i64_list_is_set(op_attr(t->op, "begin_mask"), i) ? 0 : lists[BEGINS][i];
            const int64_t end =
                i64_list_is_set(op_attr(t->op, "end_mask"), i) ? INT64_MAX : lists[ENDS][i];
            if (is_shrunk)
                return select_last(t, &begin, 1);
            t->in.axis = out;
            return slice_time(t, begin, end, t->op->n_inputs > 3 ? lists[STEPS][i] : 1);
        }
        out += !is_shrunk;
    }
    return time_set_axis(t, t->in.axis - in + out);
}

bool time_rule_pad(struct time_op *t)
{
    int64_t pads[2][IRRUN_MAX_RANK]; /* pads_begin, pads_end */
    uint32_t n;
    if (!read_lists(t, 2, pads, &n))
        return false;
    if (n <= t->in.axis)
        return time_refuse(t, "has %u pads for %u dimensions", n, time_input_rank(t, 0));
    return pads[0][t->in.axis] == 0 && pads[1][t->in.axis] == 0
               ? time_set_axis(t, t->in.axis)
               : time_refuse(t, "pads dimension %u, which is time", t->in.axis);
}

bool time_rule_tile(struct time_op *t)
{
    int64_t repeats[IRRUN_MAX_RANK];
    uint32_t n, rank = time_input_rank(t, 0);
    if (!read_ints(t, 1, repeats, &n))
        return time_refuse(t, "has repeats that are not constant");
    uint32_t from_end = rank - t->in.axis;
    if (n >= from_end && repeats[n - from_end] != 1)
        return time_refuse(t, "repeats dimension %u, which is time", t->in.axis);
    return time_set_axis(t, (n > rank ? n : rank) - from_end);
}

bool time_rule_broadcast(struct time_op *t)
{
    struct time_items target;
    uint32_t rank = time_input_rank(t, 0), from_end = rank - t->in.axis;
    const int *mode = op_attr(t->op, "mode");
    if (t->first != 0)
        return time_refuse(t, "depends on time in input %u", t->first);
    if (*mode != BROADCAST_NUMPY && *mode != BROADCAST_BIDIRECTIONAL)
        return time_refuse(t, "has a mode other than numpy and bidirectional");
    if (!time_items_find(t->walk, op_input(t->graph, t->op, 1), &target))
        return time_refuse(t, "has a shape that is not known");
    if (target.n >= from_end) {
        const struct time_item *item = &target.items[target.n - from_end];
        if (item->kind != TIME_ITEM_FRAMES && (item->kind != TIME_ITEM_NUMBER || item->number != 1))
            return time_refuse(t, "has a shape with a fixed number of frames");
    }
    return time_set_axis(t, (target.n > rank ? target.n : rank) - from_end);
}

bool time_broadcast_to_frames(struct time_op *t, const struct time_items *target)
{
    uint32_t found = NO_ID, rank = time_input_rank(t, 0);
    for (uint32_t i = 0; i < target->n; i++) {
        if (target->items[i].kind != TIME_ITEM_FRAMES)
            continue;
        if (found != NO_ID)
            return time_refuse(t, "has the number of frames in two dimensions");
        found = i;
    }
    *t->out = (struct time_use){.kind = TIME_NONE};
    if (found == NO_ID)
        return true;
    if (target->n - found <= rank && !time_check_operand(t, 0, rank - (target->n - found)))
        return false;
    if (target->items[found].number != 1)
        return time_refuse(t, "has a multiple of the number of frames in its shape");
    *t->out = (struct time_use){.kind = TIME_ALONG, .axis = found, .outer = 1, .inner = 1};
    return true;
}

bool time_rule_shape_of(struct time_op *t)
{
    t->out[0] = (struct time_use){.kind = TIME_LENGTH};
    return true;
}
