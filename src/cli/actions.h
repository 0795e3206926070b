/* Actions other than a run (--inspect, --supported-ops, --version), and the dispatch of all
 * actions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_ACTIONS_H
#define IRRUN_CLI_ACTIONS_H

#include "cli/options.h"

/* Runs the action that the options select. Standard output may still hold buffered text. */
bool do_action(const struct options *options, struct irrun_error *err);

#endif
