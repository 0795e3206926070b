/* Handles signals that end the process, so that no unfinished files remain.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SIGNALS_H
#define IRRUN_CLI_SIGNALS_H

/* Installs handlers for all signals that end a process and can be caught. They flush complete
 * records, remove temporary files, and end the process as the signal would have. Ignored signals
 * stay ignored (nohup, background jobs), except SIGTERM and SIGPIPE. A write beyond the file size
 * limit fails with EFBIG. A truncated mapped file is IRRUN_DATA, one that cannot be read
 * IRRUN_NO_INPUT. */
void signals_install(void);

/* Makes a timeout, and until signals_defer also SIGINT and SIGTERM, end the process with
 * IRRUN_TEMPORARY. For runs with a checkpoint, which the same command resumes. */
void signals_set_resumable(void);

/* From now on the first SIGINT, SIGTERM or timeout (SIGALRM) does not end the process:
 * signals_pending returns its number. The second one ends the process at once. */
void signals_defer(void);
int signals_pending(void); /* 0: none */

/* Sets a timeout. When it expires, the process prints a message, removes temporary files and ends
 * with exit status 124, whatever it is waiting for. */
void signals_set_timeout(double seconds);

#endif
