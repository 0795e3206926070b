/* Recognizes TensorIterators whose body is a single LSTM, GRU or RNN cell.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_CELL_LOOP_H
#define IRRUN_PLAN_CELL_LOOP_H

#include "graph/graph.h"

/* A TensorIterator that was recognized. Ids refer to the graph of its body unless noted. */
struct cell_loop {
    uint32_t op_id; /* the TensorIterator, in the outer graph */
    uint32_t cell_id;
    bool is_time_first; /* X is [time, batch, input size] */
    bool is_reverse;
    uint32_t x, h0, c0;  /* values of the outer graph; c0 is NO_ID if the cell has no cell state */
    uint32_t weights[3]; /* W, R, B: values of the body; B is NO_ID if absent */
    uint32_t y, ho, co;  /* values of the outer graph; NO_ID if unused */
};

/* Returns whether a sequence op computes exactly what the op computes; if so, fills *found. */
bool cell_loop_match(const struct graph *graph, uint32_t op_id, struct cell_loop *found);

#endif
