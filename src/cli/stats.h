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
    uint64_t peak_rss_bytes;
    double loop_s; /* all iterations, with what is between them */
    uint64_t n_iterations, n_records, n_sequences, n_resets;
    uint64_t n_frames; /* steps along the cut axis that went in, for --rate */
};

/* Adds what another worker measured; whole-run figures stay. */
void stats_merge(struct stats *stats, const struct stats *other);

/* Returns the time spent on the signal divided by its length: below 1 is faster than real time. NaN
 * without --rate. */
double stats_real_time_factor(const struct stats *stats, const struct options *options);
double stats_iterations_per_s(const struct stats *stats); /* NaN if no time passed */

/* Format a time or a size: "1.23 ms", "4.5 MB". */
const char *stats_format_time(double seconds, char text[32]);
const char *stats_format_bytes(double n_bytes, char text[32]);

/* Seconds on a clock that only goes forward. */
double stats_now_s(void);

/* The time that has passed, and the CPU time of this process. */
struct stats_clocks {
    double wall_s, cpu_s;
};
struct stats_clocks stats_read_clocks(void);
uint64_t stats_peak_rss_bytes(void);

/* Prints the table of --stats. info is of one session; with several, memory is counted once for
 * each. */
void stats_print(FILE *out, const struct stats *stats, const struct options *options,
                 const struct irrun_model *model, const struct irrun_session_info *info);

#endif
