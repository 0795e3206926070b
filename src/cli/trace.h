/* --tap-all: every tensor of the last iteration in one npz.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_TRACE_H
#define IRRUN_CLI_TRACE_H

#include "base/error.h"

/* Writes all outputs of the session's last run, those that are traced included. A name that comes
 * again gets "~2", "~3" … */
bool trace_write(const char *path, const struct irrun_model *model,
                 const struct irrun_session *session, bool is_synced, struct irrun_error *err);

#endif
