/* Implements --pace, which makes records available at a given rate, and --deadline, which counts
 * late results.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_LATENESS_H
#define IRRUN_CLI_LATENESS_H

#include "cli/json.h"
#include "formats/format.h"

/* Zeros except for deadline_ns: no results yet. */
struct lateness {
    uint64_t deadline_ns; /* longest time from a record to its result; 0: none */
    uint64_t n, n_late;
    uint64_t streak, longest_streak; /* late results in a row, within one sequence */
    uint64_t max_ns;                 /* the longest time by which a result was late */
    double sum_ns;                   /* sum of the times by which results were late */
};

/* Counts a result that came latency_ns after its record was available. */
void lateness_add(struct lateness *lateness, uint64_t latency_ns);
void lateness_begin_sequence(struct lateness *lateness);
void lateness_merge(struct lateness *lateness, const struct lateness *other);

/* Print the lines of --stats, or add an object to the report (null without a deadline). */
void lateness_print(const struct lateness *lateness);
void lateness_report(const struct lateness *lateness, struct json *json);

/* Fails with IRRUN_MISMATCH if a result was late. */
bool lateness_check(const struct lateness *lateness, struct irrun_error *err);

/* Record i of a sequence becomes available at start_ns + (i + 1) * period_ns. */
struct pace {
    double period_ns;
    uint64_t start_ns; /* 0: not started */
};

/* Waits until record `index` of the sequence is available, and returns the time when it became
 * available. Stops waiting at end_ns or after a signal that ends the run. Calls `before` before it
 * waits; returns 0 if `before` fails. */
uint64_t pace_wait(struct pace *pace, uint64_t index, uint64_t end_ns,
                   const struct reader_wait *before, struct irrun_error *err);

#endif
