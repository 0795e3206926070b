/* Creates sessions. A session has the inputs, the variables and the plans of a model.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_SESSION_H
#define IRRUN_RUNTIME_SESSION_H

#include "runtime/ports.h"
#include "runtime/runner.h"

/* Creates a session; returns NULL with *err filled on failure. The session keeps the pointer
 * `inputs`. irrun.h declares the other functions for sessions. */
struct irrun_session *session_new(struct model *model, const struct ports *inputs,
                                  struct irrun_error *err);

#endif
