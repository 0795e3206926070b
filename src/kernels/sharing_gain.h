/* Decides whether the caller of a thread pool shares its next job with the workers, based on the
 * time that sharing has saved so far.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_SHARING_GAIN_H
#define IRRUN_KERNELS_SHARING_GAIN_H

#include <stdbool.h>
#include <stdint.h>

/* The pause between jobs after which workers sleep. */
#define SHARING_IDLE_NS 100000

struct sharing_gain {
    uint64_t end_ns;               /* end of the last job */
    uint64_t work_ns, before_ns;   /* work since the last pause; between the last two pauses */
    int64_t saved_ns;              /* time saved by sharing jobs, less its cost, up to a limit */
    uint64_t rest_ns, rest_end_ns; /* the last rest, in which no job was shared: length, end */
};

struct sharing_gain sharing_gain_start(void);

/* Returns whether to share a job that begins now. are_sleeping: workers must be woken, which pays
 * only if there was enough work recently, since the next iteration will have as much. */
bool sharing_gain_may_share(struct sharing_gain *gain, uint64_t now_ns, bool are_sleeping);

/* Adds a job that has ended. waited_ns: the time that the caller waited for workers. all_to_own:
 * the number of parts of the job, divided by the number of parts that the caller ran. */
void sharing_gain_add(struct sharing_gain *gain, uint64_t start_ns, uint64_t end_ns,
                      uint64_t waited_ns, double all_to_own);

#endif
