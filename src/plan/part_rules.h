/* Finds ops that can compute only the first or last position of an axis, for plan/early_slices.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_PART_RULES_H
#define IRRUN_PLAN_PART_RULES_H

#include "ops/op.h"

/* The part of a value that is read: nothing, all, or the first or last position of an axis. */
enum part_kind { PART_UNREAD, PART_WHOLE, PART_FIRST, PART_LAST };

struct part {
    enum part_kind kind;
    uint32_t axis; /* counted from the end, where operands are aligned; 1 is the last */
};

/* Returns whether an op is a slice that reads only the first or last position of an axis of input
 * 0, and gives the same result if its input has only this position. Sets *part to the position. The
 * axis is not the last one. */
bool part_of_slice(const struct graph *graph, const struct op *op, struct part *part);

/* To compute one position of `axis` of its output, an op may need some inputs at the same position
 * only. Returns these inputs as a set of 1 << i; the op reads its other inputs whole. Returns 0 if
 * the op needs more positions. The constants of the graph must be known. */
uint32_t part_inputs(const struct graph *graph, const struct op *op, uint32_t axis);

/* Returns whether part_inputs has a rule for an op, and its outputs have the highest rank of its
 * inputs. */
bool part_keeps_rank(const struct op *op);

#endif
