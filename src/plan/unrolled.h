/* A TensorIterator whose body is one LSTM, GRU or RNN cell is an unrolled sequence op: older
 * converters wrote every recurrent layer like this.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_UNROLLED_H
#define IRRUN_PLAN_UNROLLED_H

#include "graph/graph.h"
#include "plan/remarks.h"

/* A recognized body. Ids are of the body's graph unless noted otherwise. */
struct unrolled {
    uint32_t op_id; /* of the TensorIterator in its graph */
    uint32_t cell_id;
    bool is_time_first; /* X is [time, batch, input size] */
    bool is_reverse;
    uint32_t x, h0, c0;  /* outer value ids; c0 NO_ID without a cell state */
    uint32_t weights[3]; /* W, R, B: values of the body; B NO_ID if absent */
    uint32_t y, ho, co;  /* outer value ids; NO_ID if unused */
};

/* Whether the op is such a TensorIterator, with no difference at all. */
bool unrolled_match(const struct graph *graph, uint32_t op_id, struct unrolled *found);

/* Replaces all of them, in the graph and in every body. Changed graphs are sorted again. *remarks
 * gets a line for each. */
bool unrolled_replace(struct graph *graph, struct arena *arena, struct remarks *remarks,
                      struct irrun_error *err);

#endif
