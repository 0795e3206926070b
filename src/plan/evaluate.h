/* Inference and execution of a single op: what folding and planning share. Knows the rules for f16
 * and bf16: arithmetic takes and gives f32, what only moves keeps 16 bits as long as all operands
 * have them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_EVALUATE_H
#define IRRUN_PLAN_EVALUATE_H

#include "ops/op.h"
#include "plan/model.h"

/* Whether the 16-bit operands of an op are taken, and given, in f32. `declared` and `stored` are
 * the types of its inputs, as the IR says and as they lie in memory. */
bool op_widens(const struct op_def *def, uint32_t n_inputs, const enum irrun_dtype *declared,
               const enum irrun_dtype *stored);

/* The in-memory type of something declared as `declared`. */
enum irrun_dtype stored_dtype(enum irrun_dtype declared, bool is_widened);

/* Checks number and types of the inputs against def->inputs, then calls def->infer. `infer` comes
 * filled but for err messages; in[] has declared types. */
bool infer_op(struct infer *infer);

/* Runs an op once. in[] has data and lies in memory as the op wants it; out[] comes with shapes and
 * in-memory dtypes and gets data from the arena. `state` is what infer left. */
bool evaluate_op(const struct kernels *kernels, const struct graph *graph, const struct op *op,
                 void *state, const struct irrun_tensor *const *in, struct irrun_tensor *out,
                 struct arena *arena, struct irrun_error *err);

#endif
