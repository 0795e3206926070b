/* Collects the statistics of a run, and prints them for --stats.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_STATS_H
#define IRRUN_CLI_STATS_H

#include "cli/key_states.h"
#include "cli/latency.h"
#include "cli/lateness.h"
#include "cli/options.h"
#include "cli/slowest.h"

struct stats {
    bool is_timed; /* each iteration is timed, into `latency` */
    struct latency latency;
    struct slowest slowest; /* if is_timed */
    struct lateness lateness;
    double busy_s; /* the time of all iterations, without waiting for records */
    double load_s, plan_s, first_iteration_s;
    double total_s, cpu_s; /* of the whole run, including reading and writing */
    uint64_t peak_rss_bytes;
    double loop_s; /* all iterations, including the time between them */
    uint64_t n_iterations, n_records, n_sequences, n_resets;
    uint64_t n_batches;    /* of --batch */
    struct key_stats keys; /* of --key */
    uint64_t n_frames;     /* frames that were read, along --axis or of sound, for --rate */
};

/* Adds the statistics of another worker, except the members for the whole run. */
void stats_merge(struct stats *stats, const struct stats *other);

/* Returns the processing time divided by the length of the signal: below 1 is faster than real
 * time. NaN without --rate. */
double stats_real_time_factor(const struct stats *stats, const struct options *options);
double stats_iterations_per_s(const struct stats *stats); /* NaN if no time has passed */

/* Format a time with three digits, or a size: "1.23 ms", "4.5 MB". */
const char *stats_format_time(double seconds, char text[32]);
const char *stats_format_bytes(double n_bytes, char text[32]);

/* Returns the seconds of a monotonic clock. */
double stats_now_s(void);

/* Wall time, and CPU time of this process. */
struct stats_clocks {
    double wall_s, cpu_s;
};
struct stats_clocks stats_read_clocks(void);
uint64_t stats_peak_rss_bytes(void);

/* Warns if the iterations had a CPU for less than 90 % of their time. */
void stats_check(const struct stats *stats, const struct options *options);

/* Prints the table of --stats. info: describes the first session, with the memory of all
 * sessions. */
void stats_print(const struct stats *stats, const struct options *options,
                 const struct irrun_model *model, const struct irrun_session_info *info);

#endif
