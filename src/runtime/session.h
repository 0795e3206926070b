/* One run of iterations: inputs, variables, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_SESSION_H
#define IRRUN_RUNTIME_SESSION_H

#include "runtime/ports.h"
#include "runtime/runner.h"

struct session *session_new(struct model *model, struct irrun_error *err);
void session_free(struct session *session);

/* `port` is the input's declaration, for the check and the message. */
bool session_set_input(struct session *session, const struct irrun_port *port, size_t index,
                       const struct irrun_tensor *tensor, struct irrun_error *err);
bool session_plan(struct session *session, const struct ports *inputs, struct irrun_error *err);
bool session_run(struct session *session, const struct ports *inputs, struct irrun_error *err);
bool session_set_variable(struct session *session, size_t index, const struct irrun_tensor *tensor,
                          struct irrun_error *err);

/* Bytes of values and scratch over all plans kept, and of the variables. */
size_t session_arena_bytes(const struct session *session);
size_t session_state_bytes(const struct session *session);

#endif
