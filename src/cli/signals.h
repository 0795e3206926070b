/* Handles signals that end the process, so that no unfinished files remain.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SIGNALS_H
#define IRRUN_CLI_SIGNALS_H

/* Installs handlers for all signals that end a process and can be caught. They flush complete
 * records, remove temporary files, and end the process as the signal would have. Ignored signals
 * stay ignored (nohup, background jobs), except SIGTERM and SIGPIPE. A write beyond the file size
 * limit fails with EFBIG. If a mapped file is truncated, the exit status is IRRUN_DATA; if
 * it cannot be read, IRRUN_NO_INPUT. */
void signals_install(void);

/* From now on, a timeout ends the process with IRRUN_TEMPORARY, and so do SIGINT and SIGTERM until
 * signals_defer. Used for runs with a checkpoint, which the same command can resume. */
void signals_set_resumable(void);

/* From now on, the first SIGINT, SIGTERM or timeout (SIGALRM) does not end the process:
 * signals_pending returns its number. A second signal ends the process at once. */
void signals_defer(void);
int signals_pending(void); /* 0: none */

/* Sets a timeout. When it expires, the process prints a message, removes temporary files and ends
 * with exit status 124, even while it waits for input. */
void signals_set_timeout(double seconds);

#endif
