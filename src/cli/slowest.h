/* Records what happened during the slowest iteration, for --stats and the report.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SLOWEST_H
#define IRRUN_CLI_SLOWEST_H

#include "cli/json.h"

enum slow_event { PAGE_FAULTS, DISK_READS, PREEMPTIONS, WAITS, NEW_PLANS, N_SLOW_EVENTS };

/* Counts since the start of the thread or, if the session has several threads, of the process. */
struct slow_counts {
    uint64_t events[N_SLOW_EVENTS], cpu_ns, wall_ns;
};

/* All zeros: no iteration yet. */
struct slowest {
    uint64_t sequence, iteration, duration_ns;
    struct slow_counts during; /* from the last reading before the iteration to its end */
    bool had_denormals;

    struct slow_counts before; /* the last reading */
};

/* Call it before an iteration. Returns the current time in nanoseconds. Reads the counts unless
 * they were read less than 0.1 ms ago. */
uint64_t slowest_begin(struct slowest *slowest, const struct irrun_session *session);

/* Call it after the iteration. Reads the counts if the iteration was the slowest so far. */
void slowest_end(struct slowest *slowest, const struct irrun_session *session, uint64_t duration_ns,
                 uint64_t sequence, uint64_t iteration);

void slowest_merge(struct slowest *slowest, const struct slowest *other);

/* Add a description such as "3 page faults, 1 new plan" to a text, or the counts to the report
 * (null without iterations). */
void slowest_describe(const struct slowest *slowest, struct text *text);
void slowest_report(const struct slowest *slowest, struct json *json);

#endif
