/* Signals that end the process: nothing unfinished stays behind.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SIGNALS_H
#define IRRUN_CLI_SIGNALS_H

/* From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE remove temporary files, then end the process as if
 * they had not been caught. SIGINT and SIGHUP that were ignored stay ignored (nohup, background jobs). */
void signals_install(void);

#endif
