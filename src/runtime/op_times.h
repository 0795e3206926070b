/* Measures the times of steps, and adds up the times of several sessions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_OP_TIMES_H
#define IRRUN_RUNTIME_OP_TIMES_H

#include "plan/plan.h"

/* Runs the steps, and adds the time of each to its step_cost.times. Each reading of the clock
 * ends one step and begins the next. */
bool op_times_run(const struct step *steps, uint32_t n_steps, struct irrun_error *err);

/* Calls the watch function of the session (the context) for the current step, if there is one. */
void op_times_watch(void *context, unsigned thread, uint64_t start_ns, uint64_t end_ns);

/* Adds the time to infer the first op of the continuation, which may include running its bodies. */
void op_times_add_infer(const struct plan *continuation, uint64_t time_ns);

/* Adds up the tables of sessions of one model. Returns NULL with *err filled on failure. */
struct irrun_profile *op_times_collect(const struct graph *graph,
                                       const struct step_times_table *const *tables,
                                       size_t n_tables, struct irrun_error *err);
void op_times_free(struct irrun_profile *profile);

#endif
