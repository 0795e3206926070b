/* --report: writes one JSON object about the run, schema "irrun.report/1".
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_REPORT_H
#define IRRUN_CLI_REPORT_H

#include "cli/collect.h"
#include "cli/profile.h"
#include "cli/stats.h"

struct report {
    const struct irrun_model *model;
    const struct options *options;
    const struct stats *stats;
    const struct irrun_session_info *info;
    const struct collector *collector;
    const struct profile *profile; /* NULL: none */
    int exit_code;
};

/* Writes the report to options->report_path. */
bool report_write(const struct report *report, struct irrun_error *err);

#endif
