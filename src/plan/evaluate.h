/* Infers and runs a single op, for constant folding and planning. Implements the rules for f16 and
 * bf16: arithmetic is in f32; ops that only move elements keep 16 bits if all operands have them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_EVALUATE_H
#define IRRUN_PLAN_EVALUATE_H

#include "ops/op.h"
#include "plan/model.h"

/* Returns whether an op reads and writes its 16-bit operands as f32. has_widened_input: one of its
 * f16 or bf16 inputs is f32 in memory. */
bool op_widens(const struct op_def *def, bool has_widened_input);

static inline bool dtype_is_widened(enum irrun_dtype declared, enum irrun_dtype stored)
{
    return dtype_is_half(declared) && stored == IRRUN_F32;
}

/* Returns the type that a value of type `declared` has in memory. */
enum irrun_dtype stored_dtype(enum irrun_dtype declared, bool is_widened);

/* Checks the types of the inputs against def->inputs, then calls def->infer. The caller has filled
 * `infer`; the tensors of in[] have declared types. */
bool infer_op(struct infer *infer);

/* Returns the function that a step of the op runs, unless prepare replaces it. */
struct flat op_flat(const struct op_def *def);

/* Runs an op once. The tensors of in[] have data, in the types that the op reads. Those of out[]
 * have shapes and types in memory; their data is allocated in the arena. `state` was filled by
 * infer. */
bool evaluate_op(const struct kernels *kernels, const struct graph *graph, const struct op *op,
                 void *state, const struct irrun_tensor *const *in, struct irrun_tensor *out,
                 struct arena *arena, struct irrun_error *err);

#endif
