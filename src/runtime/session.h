/* A session: inputs, variables, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_SESSION_H
#define IRRUN_RUNTIME_SESSION_H

#include "runtime/ports.h"
#include "runtime/runner.h"

/* Creates a session; returns NULL with *err filled on failure. Borrows the inputs of the model. The
 * other functions of sessions are in irrun.h. */
struct irrun_session *session_new(struct model *model, const struct ports *inputs,
                                  struct irrun_error *err);

#endif
