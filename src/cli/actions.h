/* Runs the action that the options select, for example a run, --check, --inspect or --help.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_ACTIONS_H
#define IRRUN_CLI_ACTIONS_H

#include "cli/options.h"

/* The output may still be buffered: the caller closes standard output and checks for errors. */
bool do_action(const struct options *options, struct irrun_error *err);

#endif
