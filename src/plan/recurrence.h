/* Recurrent ops and their states. For plan/low_latency*.c and recurrence.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_RECURRENCE_H
#define IRRUN_PLAN_RECURRENCE_H

#include "plan/time_axis.h"

enum recurrence_kind {
    RECURRENCE_NONE,    /* not a recurrent sequence op */
    RECURRENCE_CARRIED, /* its states are variables already */
    RECURRENCE_OPEN,    /* it can get variables */
    RECURRENCE_REFUSED  /* it cannot */
};

struct recurrent_state_port {
    uint32_t input, output; /* input and output number; the output is after the last frame */
    bool is_open;           /* it gets a variable */
};

struct recurrence {
    enum recurrence_kind kind;
    uint32_t op_id;
    uint32_t x, axis; /* the input with the frames, and its time axis */
    uint32_t lengths; /* the input with the number of frames; NO_ID: none */
    uint32_t n_states;
    struct recurrent_state_port states[2];
    char why[256]; /* RECURRENCE_REFUSED: the reason, after the name of the op */
};

/* Describes an op. Returns false if there is no memory. */
bool recurrence_find(const struct graph *graph, uint32_t op_id, struct recurrence *found,
                     struct irrun_error *err);

/* Returns false for constant sequence_lengths below the number of frames. Sets *is_fixed if they
 * are constant and equal to it. */
bool recurrence_check_lengths(const struct time_walk *walk, const struct recurrence *recurrence,
                              bool *is_fixed);

#endif
