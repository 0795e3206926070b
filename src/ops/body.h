/* Plans and runs the bodies of TensorIterator, Loop and If like whole models. The runner_ functions
 * are defined in runtime/runner.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_BODY_H
#define IRRUN_OPS_BODY_H

#include "ops/op.h"

struct runner; /* a body or the whole model, with its plans */

/* Returns the runner of a body, which belongs to the plan and is freed with it. is_constant: for
 * each Parameter of the body, whether its value never changes. NULL with *err filled on failure. */
struct runner *plan_body_runner(struct plan *plan, const struct graph *body,
                                const bool *is_constant, struct irrun_error *err);

/* Plans the body for inputs of these types and shapes (one tensor per Parameter, in document order;
 * data is read only where is_constant) and sets the types and shapes of its Results. Sets *is_known
 * to false if they depend on data, so that only a run of the body can determine them. */
bool runner_infer(struct runner *runner, const struct irrun_tensor *const *in,
                  struct irrun_tensor *out, bool *is_known, struct irrun_error *err);

/* Runs one iteration. If the shapes are new, plans the body first. Reads the inputs in place. */
bool runner_run(struct runner *runner, const struct irrun_tensor *const *in,
                struct irrun_error *err);

/* Returns the value of Result i of the last iteration; it is valid until the next iteration. f16
 * and bf16 values are returned as f32. */
const struct irrun_tensor *runner_output(const struct runner *runner, uint32_t i);
/* Returns the declared type of Result i. */
enum irrun_dtype runner_output_dtype(const struct runner *runner, uint32_t i);

void runner_free(struct runner *runner);

/* Returns the index of an op among the Parameters (ROLE_PARAMETER) or Results (ROLE_RESULT) of its
 * body; NO_ID if the op has a different role. Defined in plan/model.c. */
uint32_t body_ordinal(const struct graph *body, uint32_t op_id, enum op_role role);

/* Returns whether a body can use input i of the current op as a constant. The plan of the body
 * reads constants in place, so f16 and bf16 constants are excluded: a body sees them as f32. */
bool body_has_constant(const struct infer *infer, uint32_t i);

/* Returns the type in which a body stores values of `dtype`: f32 for f16 and bf16. */
static inline enum irrun_dtype body_dtype(enum irrun_dtype dtype)
{
    return dtype_is_half(dtype) ? IRRUN_F32 : dtype;
}

/* Describes input i of the current op for the plan of a body: type, shape and, if is_constant, the
 * data. */
bool body_describe_input(struct infer *infer, uint32_t i, bool is_constant,
                         struct irrun_tensor *tensor);

/* Returns the values of all inputs of the current op as a body sees them: f16 and bf16 as f32. NULL
 * if a value is not known yet (see infer_value), or memory runs out. */
struct irrun_tensor **body_get_values(struct infer *infer);

#endif
