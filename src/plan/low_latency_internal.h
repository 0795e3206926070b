/* Types and functions shared by low_latency.c and low_latency_edit.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_LOW_LATENCY_INTERNAL_H
#define IRRUN_PLAN_LOW_LATENCY_INTERNAL_H

#include "plan/passes.h"
#include "plan/recurrence.h"

/* The state of the pass. */
struct low_latency {
    struct graph *graph;
    struct arena *arena;
    struct recurrence *items; /* on the heap; those of kind RECURRENCE_ADAPTABLE get variables */
    size_t n;
    bool *carries; /* for each op; see struct time_walk */
    struct time_walk walk;
    unsigned n_refused;
    struct irrun_error *err;
};

/* Adds the variables to the graph, and makes the time axis dynamic in the inputs and in the
 * constant shapes that the walk has found. */
bool low_latency_edit(struct low_latency *pass, struct remarks *remarks);

#endif
