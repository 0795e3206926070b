/* What a run took: gathered while it runs, shown by --stats.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_STATS_H
#define IRRUN_CLI_STATS_H

#include <stdio.h>

#include "cli/latency.h"
#include "cli/options.h"

struct stats {
    bool is_timed; /* iterations are timed one by one, into `latency` */
    struct latency latency;
    double load_s, plan_s, first_iteration_s;
    double total_s, cpu_s; /* of the whole run, with reading and writing */
    double loop_s;         /* all iterations, with what lies between them */
    uint64_t n_iterations, n_records, n_sequences, n_resets;
};

/* Seconds, and nanoseconds, on a clock that only goes forward. */
double stats_now_s(void);
uint64_t stats_now_ns(void);
double stats_cpu_s(void); /* of this process so far */
uint64_t stats_peak_rss_bytes(void);

void stats_print(FILE *out, const struct stats *stats, const struct options *options,
                 const struct irrun_model *model, const struct irrun_session *session);

#endif
