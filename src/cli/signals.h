/* Signals that end the process: nothing unfinished stays behind.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SIGNALS_H
#define IRRUN_CLI_SIGNALS_H

#include <stdbool.h>

/* Installs handlers for all signals that end a process and can be caught. They send complete
 * records, remove temporary files, and end the process as if the signal had not been caught.
 * Ignored signals stay ignored (nohup, background jobs), except SIGTERM and SIGPIPE. A write beyond
 * the limit of the file size fails with EFBIG. A mapped file that is truncated is IRRUN_DATA, one
 * that cannot be read any more IRRUN_NO_INPUT. */
void signals_install(void);

/* Makes a timeout, and until signals_defer also SIGINT and SIGTERM, end the process with
 * IRRUN_TEMPORARY, because the run has a checkpoint from which the same command resumes it. */
void signals_can_go_on(void);

/* Defers the first SIGINT, SIGTERM or timeout: signals_pending returns its number. The second ends
 * the process at once. */
void signals_defer(void);
int signals_pending(void); /* 0: none */

/* Sets a timeout. After it the process prints a message, removes temporary files and ends with exit
 * status 124, whatever it waits for. */
void signals_set_timeout(double seconds);

#endif
