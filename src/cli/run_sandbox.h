/* --sandbox: before anything is read, gives up the rights that a run does not need.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RUN_SANDBOX_H
#define IRRUN_CLI_RUN_SANDBOX_H

#include "cli/options.h"

/* Leaves the process the files that the options name, and libraries of the system. A manifest names
 * others: with it all files stay allowed, and --sandbox=always fails with IRRUN_USAGE. Fails with
 * IRRUN_SYSTEM if --sandbox=always and the kernel offers too little. Threads that exist already
 * keep their rights. */
bool run_sandbox_enter(const struct options *options, struct irrun_error *err);

#endif
