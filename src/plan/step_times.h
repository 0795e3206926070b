/* The times of the steps of a session, for profiling. They are stored apart from its plans, because
 * plans may be replaced.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_STEP_TIMES_H
#define IRRUN_PLAN_STEP_TIMES_H

#include "graph/graph.h"

/* The total times of the steps of one op, or of several fused ops, in all plans. */
struct step_times {
    const struct graph *graph;
    const struct op *const *members; /* in execution order */
    uint32_t n_members;
    bool is_conversion; /* the step converts an operand of the op */
    uint64_t n_calls, time_ns;
    double flops, bytes;
};

/* The work of a step of one plan, and the entry for its time. */
struct step_cost {
    struct step_times *times;
    double flops, bytes;
};

/* A zeroed table is empty. */
struct step_times_table {
    struct arena arena;
    struct step_times **items; /* in the order in which plans added them */
    size_t n, capacity;
    struct step_times **buckets; /* hash table; the keys are members */
    size_t n_buckets;            /* a power of two */
    uint64_t n_plans, plan_ns;   /* plans made or chosen for changed shapes, and the time used */
};

/* Finds the entry with the members of `key`, or adds one with a copy of them. Returns NULL with
 * *err filled on failure. */
struct step_times *step_times_find(struct step_times_table *table, const struct step_times *key,
                                   struct irrun_error *err);
/* Sets all times and counts to 0. */
void step_times_clear(struct step_times_table *table);
void step_times_free(struct step_times_table *table);

static inline void step_times_add(const struct step_cost *cost, uint64_t time_ns)
{
    struct step_times *times = cost->times;
    times->n_calls++;
    times->time_ns += time_ns;
    times->flops += cost->flops;
    times->bytes += cost->bytes;
}

#endif
