/* Times steps, and puts the times of sessions together.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_OP_TIMES_H
#define IRRUN_RUNTIME_OP_TIMES_H

#include "plan/plan.h"

/* Runs the steps, and adds the time of each where its cost says. One reading of the clock ends a
 * step and begins the next. */
bool op_times_run(const struct step *steps, uint32_t n_steps, struct irrun_error *err);

/* Tells the watcher of the session, which is the context, of the step that runs now,
 * if one does. */
void op_times_watch(void *context, unsigned thread, uint64_t start_ns, uint64_t end_ns);

/* Adds the time of finding the shapes of the op that the continuation begins with, or of running
 * its bodies for that. */
void op_times_add_infer(const struct plan *continuation, uint64_t time_ns);

struct irrun_profile *op_times_collect(const struct graph *graph,
                                       const struct step_times_table *const *tables,
                                       size_t n_tables, struct irrun_error *err);
void op_times_free(struct irrun_profile *profile);

#endif
