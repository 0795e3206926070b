/* --keep-going: counts the sequences that failed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_FAILURES_H
#define IRRUN_CLI_FAILURES_H

#include "cli/sequence.h"

struct failures {
    const struct options *options;
    uint64_t n, first_number;         /* number of the first sequence that failed … */
    enum irrun_error_code first_code; /* … and its error */
};

/* Reports the failure and clears *err if the other sequences can still be run. Called by one thread
 * at a time. */
bool failures_pass_over(struct failures *failures, const struct sequence *sequence,
                        struct irrun_error *err);

/* Fails at the end if one of n_sequences failed. */
bool failures_judge(const struct failures *failures, uint64_t n_sequences, struct irrun_error *err);

#endif
