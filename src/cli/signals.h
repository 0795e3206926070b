/* Signals that end the process: nothing unfinished stays behind.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SIGNALS_H
#define IRRUN_CLI_SIGNALS_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE send whole records on their way, remove temporary
 * files, then end the process as if they had not been caught. SIGINT and SIGHUP that were ignored
 * stay ignored (nohup, background jobs). */
void signals_install(void);

/* From now on the first SIGINT, SIGTERM or timeout is only noted: signals_pending gives its number.
 * The second ends the process at once. */
void signals_defer(void);
int signals_pending(void); /* 0: none */

/* After so many seconds the process says so and ends with exit status 124, without temporary
 * files. */
void signals_set_timeout(double seconds);

#endif
