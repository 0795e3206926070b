/* What irrun does instead of running: --inspect, --supported-ops, --version; and the choice among
 * all.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_ACTIONS_H
#define IRRUN_CLI_ACTIONS_H

#include "cli/options.h"

/* Does what the options ask for. Standard output may still hold buffered text. */
bool do_action(const struct options *options, struct irrun_error *err);

#endif
