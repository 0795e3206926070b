/* A team of threads: one at work for the caller, the others waiting for a job that is cut into
 * parts. What a part computes depends on its number alone, never on who does it: so results do not
 * depend on the number of threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_TEAM_H
#define IRRUN_KERNELS_TEAM_H

#include "base/error.h"

#define TEAM_MAX_THREADS 256

struct team; /* NULL is a team of one: the caller */

/* Part `part` of n_parts, from 0. Does not use the team but for team_meet. */
typedef void team_fn(void *context, size_t part, size_t n_parts);

/* n_threads counts the caller, 1 to TEAM_MAX_THREADS. NULL with *err filled on failure. */
struct team *team_new(unsigned n_threads, struct irrun_error *err);
void team_free(struct team *team);

unsigned team_n_threads(const struct team *team);

/* Does all parts and returns when they are done. Neighbouring parts go to one thread, and the same
 * ones to the same thread every time as long as all keep up; who has done its own does those that
 * others have not begun. Giving a job away costs about 0.2 us, and tens of microseconds pass before
 * a thread that sleeps takes part: the caller of the job decides from its size. One job at a
 * time. */
void team_run(struct team *team, team_fn *function, void *context, size_t n_parts);

/* Within a job of at most team_n_threads parts: waits until all parts have come here as often as
 * this one. What they wrote before, this one then sees. About 0.2 us. */
void team_meet(struct team *team, size_t part);

#endif
