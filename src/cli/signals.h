/* Signals that end the process: nothing unfinished stays behind.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SIGNALS_H
#define IRRUN_CLI_SIGNALS_H

#include <stdbool.h>

/* From now on every signal that ends a process and can be caught sends whole records on their way,
 * removes temporary files, then ends the process as if it had not been caught. A signal that was
 * ignored stays ignored (nohup, background jobs), but for SIGTERM and SIGPIPE. A write beyond the
 * limit on a file's size fails with EFBIG. A mapped file that is cut short is IRRUN_DATA, one that
 * cannot be read any more IRRUN_NO_INPUT. */
void signals_install(void);

/* The run has a checkpoint, so the same command resumes: a timeout ends the process with
 * IRRUN_TEMPORARY, and so do SIGINT and SIGTERM until signals_defer. */
void signals_can_go_on(void);

/* From now on the first SIGINT, SIGTERM or timeout is only noted: signals_pending gives its number.
 * The second ends the process at once. */
void signals_defer(void);
int signals_pending(void); /* 0: none */

/* After so many seconds, whatever it waits for, the process says so and ends with exit status 124,
 * without temporary files. */
void signals_set_timeout(double seconds);

#endif
