/* The positions of an axis that an op reads. Used only by plan/early_slices.c.
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

/* Returns whether an op is a slice that reads one position of input 0, and would have the same
 * result if its input had only this position. The axis is not the last. */
bool part_of_slice(const struct graph *graph, const struct op *op, struct part *part);

/* Returns the inputs of which an op needs only one position to compute this position of its output,
 * as a set of 1 << i; it reads the other inputs whole. 0: the op needs more. The constants of the
 * graph must be known. */
uint32_t part_inputs(const struct graph *graph, const struct op *op, uint32_t axis);

/* Returns whether part_inputs has a rule for an op, and the rank of its outputs is the highest rank
 * of its inputs. */
bool part_keeps_rank(const struct op *op);

#endif
