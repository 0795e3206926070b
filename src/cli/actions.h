/* Runs the action that the options select: a run, --check, --inspect, --list-ops, --dot,
 * --supported-ops, --list-kernels, --version or --help.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_ACTIONS_H
#define IRRUN_CLI_ACTIONS_H

#include "cli/options.h"

/* Runs the action. Standard output may still have buffered text when it returns. */
bool do_action(const struct options *options, struct irrun_error *err);

#endif
