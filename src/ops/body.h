/* What an op with a body (TensorIterator, Loop, If) may ask of the engine: to plan and run the body
 * as the engine does with the whole model. The functions are filled in by the runtime, so that nothing points rightwards.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_BODY_H
#define IRRUN_OPS_BODY_H

#include "graph/graph.h"

struct runner; /* one body (or the whole model) with the plans made for it so far */
struct session;

struct engine {
    struct session *session; /* NULL while folding constants: an op with a body then cannot be inferred */
    struct arena *arena;

    /* A runner that lives as long as the plan at hand. is_constant tells, per Parameter of the body, whether
     * its value never changes. NULL with *err filled on failure. */
    struct runner *(*runner_new)(struct engine *engine, const struct graph *body,
                                 const bool *is_constant, struct irrun_error *err);
};

/* Plans the body for inputs of these types and shapes (one tensor per Parameter, in document order; data
 * is read only where is_constant) and gives the shapes of its Results. *is_known is false if they
 * depend on data; then only running tells. */
bool runner_infer(struct runner *runner, const struct irrun_tensor *const *in,
                  struct irrun_tensor *out, bool *is_known, struct irrun_error *err);

/* Runs one pass over the body; plans first if the shapes are new. */
bool runner_run(struct runner *runner, const struct irrun_tensor *const *in,
                struct irrun_error *err);

/* The value of Result i after a pass; valid until the next pass. */
const struct irrun_tensor *runner_output(const struct runner *runner, uint32_t i);

#endif
