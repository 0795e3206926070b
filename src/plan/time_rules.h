/* Rules that follow the time axis through an op, for plan/time_*.c and recurrence_loop.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_TIME_RULES_H
#define IRRUN_PLAN_TIME_RULES_H

#include "ops/op_state.h"
#include "plan/time_axis.h"

/* An op with an input that has the time axis. */
struct time_op {
    struct time_walk *walk;
    const struct graph *graph;
    const struct op *op;
    struct time_use *out; /* uses of the outputs, from output 0 on */
    uint32_t first;       /* the first input with the time axis */
    struct time_use in;   /* the use of that input */
};

/* Sets the uses of the outputs. Returns false if the op is refused. Before a unary rule is called,
 * the inputs other than input 0 are checked: they do not depend on time. */
typedef bool time_rule_fn(struct time_op *t);

/* Reports that the op is refused; the reason follows its name. Returns false. */
bool time_refuse(struct time_op *t, const char *format, ...) PRINTF_LIKE(2, 3);

static inline const struct time_use *time_input(const struct time_op *t, uint32_t i)
{
    return &t->walk->uses[op_input(t->graph, t->op, i)];
}

static inline uint32_t time_input_rank(const struct time_op *t, uint32_t i)
{
    return time_rank(t->graph, op_input(t->graph, t->op, i));
}

/* Sets the use of each output to t->in, except for its axis. */
bool time_set_axis(struct time_op *t, uint32_t axis);

/* Refuses operand i, which does not depend on time, unless its dimension `axis`, which corresponds
 * to the time axis, has size 1. A trial accepts any operand. */
bool time_check_operand(struct time_op *t, uint32_t i, uint32_t axis);

/* Refuses inputs other than `data` that depend on time. */
bool time_check_others(struct time_op *t, uint32_t data);

/* Reads the constant axes in input 1, for a value of rank `rank`, and sets is_set[axis] for
 * each. */
bool time_read_axes(struct time_op *t, uint32_t rank, bool is_set[IRRUN_MAX_RANK]);

time_rule_fn time_rule_first, time_rule_elementwise, time_rule_prelu, time_rule_matmul,
    time_rule_convolution, time_rule_batchwise, time_rule_channels, time_rule_axis_attribute,
    time_rule_reduction, time_rule_mvn, time_rule_axes, time_rule_recurrent, time_rule_loop;
time_rule_fn time_rule_transpose, time_rule_reshape, time_rule_unsqueeze, time_rule_squeeze,
    time_rule_concat, time_rule_gather, time_rule_split, time_rule_slice, time_rule_strided_slice,
    time_rule_pad, time_rule_tile, time_rule_broadcast, time_rule_shape_of;

/* The rule for a Broadcast of a value that does not depend on time, to a shape that contains the
 * number of frames. */
bool time_broadcast_to_frames(struct time_op *t, const struct time_items *target);

#endif
