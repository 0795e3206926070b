/* --profile: prints and reports the time of every op, or of every type of op.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_PROFILE_H
#define IRRUN_CLI_PROFILE_H

#include "cli/json.h"
#include "cli/options.h"

struct profile {
    struct irrun_profile *times;
    struct irrun_peak peak;
    double total_s; /* wall time of all sessions' loops, including the time between iterations */
    const struct irrun_session_info *info;
};

/* Collects the times that the sessions measured, and measures the peak performance of this machine.
 * Call profile_free even after a failure. */
bool profile_new(struct profile *profile, const struct irrun_session *const *sessions,
                 size_t n_sessions, double total_s, const struct irrun_session_info *info,
                 struct irrun_error *err);
void profile_free(struct profile *profile);

/* Prints a row for each op or, if by_type, for each type. */
bool profile_print(const struct profile *profile, bool by_type, struct irrun_error *err);

/* Adds the keys "profile" and "ops". */
void profile_report(const struct profile *profile, struct json *json);

#endif
