/* Finds recurrent ops and their states, for plan/low_latency*.c, recurrence*.c and time_axis.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_RECURRENCE_H
#define IRRUN_PLAN_RECURRENCE_H

#include "plan/time_axis.h"

enum recurrence_kind {
    RECURRENCE_NONE,      /* not a recurrent sequence op */
    RECURRENCE_CARRIED,   /* its states are variables already */
    RECURRENCE_ADAPTABLE, /* its states can become variables */
    RECURRENCE_REFUSED    /* its states cannot become variables */
};

struct recurrent_state_port {
    uint32_t input, output; /* output: the state after the last frame; NO_ID: none */
    uint32_t result;        /* id of the Result in the body */
    bool gets_variable;
};

struct recurrence {
    enum recurrence_kind kind;
    uint32_t op_id;
    uint32_t x, axis; /* the input with the frames, and its time axis */
    uint32_t lengths; /* the input with the number of frames; NO_ID: none */
    uint32_t n_states;
    struct recurrent_state_port *states;
    char why[256]; /* for RECURRENCE_REFUSED: the rest of the message after the name of the op */
};

/* Fills *found for an op. Its states are in the arena. Returns false with *err filled on
 * failure. */
bool recurrence_find(const struct graph *graph, uint32_t op_id, struct recurrence *found,
                     struct arena *arena, struct irrun_error *err);

/* Fills *found for a TensorIterator or Loop; sets the kind only if it is RECURRENCE_REFUSED. */
bool recurrence_describe_loop(const struct graph *graph, const struct op *op,
                              struct recurrence *found, struct arena *arena,
                              struct irrun_error *err);

/* Follows Reshapes and similar ops backwards from a value. Returns the value that the first
 * of these ops reads. */
uint32_t recurrence_skip_reshapes(const struct graph *graph, uint32_t value_id);

/* Sets the kind to RECURRENCE_REFUSED, and `why`, unless the op is refused already. */
void recurrence_refuse(struct recurrence *found, const char *format, ...) PRINTF_LIKE(2, 3);

/* Returns whether the input `lengths` is the number of frames, or an input of the model that counts
 * them. Sets *is_fixed if the input is a constant equal to the number of frames in the XML. */
bool recurrence_check_lengths(const struct time_walk *walk, const struct recurrence *recurrence,
                              bool *is_fixed);

#endif
