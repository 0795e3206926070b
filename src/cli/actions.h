/* Runs the action that the options select: a run, --check, --inspect, --help and the like.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_ACTIONS_H
#define IRRUN_CLI_ACTIONS_H

#include "cli/options.h"

/* The caller closes standard output, which may have buffered text, and checks it. */
bool do_action(const struct options *options, struct irrun_error *err);

#endif
