/* Runs ops that only move elements as one strided copy from input 0 to output 0.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_MOVEMENT_H
#define IRRUN_OPS_MOVEMENT_H

#include "kernels/strided_copy.h"
#include "ops/op.h"

struct move_state {
    struct strided_copy copy;
    int64_t from_offset; /* offset of the first element in the input, in elements */
    struct runs runs;    /* Broadcast: the runs of the input that it repeats; count 0: none */
};

/* Computes row-major strides, in elements. The product of the dimensions must not overflow. */
void dense_strides(uint32_t rank, const int64_t *dims, int64_t *strides);

static inline void move_strides(const struct irrun_shape *shape, int64_t strides[IRRUN_MAX_RANK])
{
    dense_strides(shape->rank, shape->dims, strides);
}

/* Plans a copy: element [i, j, ...] of a dense output of these dims is input element from_offset +
 * i * from_strides[0] + j * from_strides[1] ... The rank may be up to STRIDED_COPY_MAX_RANK. */
void move_plan(struct move_state *state, uint32_t rank, const int64_t *dims,
               const int64_t *from_strides, int64_t from_offset);

/* Plans a copy that broadcasts input 0, of shape `in`, to `out`. Shapes are right-aligned, as in
 * NumPy. */
void move_plan_broadcast(struct move_state *state, const struct irrun_shape *in,
                         const struct irrun_shape *out);

/* Infers and plans a transpose: dimension i of the output is dimension order[i] of input 0. */
bool move_infer_transposed(struct infer *infer, const uint32_t order[IRRUN_MAX_RANK]);

/* Implements op_def.views: returns true if the copy is one contiguous part of its input. */
bool move_views(const struct infer *infer, int64_t *firsts);

/* Implements op_def.prepare for ops whose state is a struct move_state. */
bool move_prepare(struct prepare *prepare);

/* Computes the index of the first element and the number of elements of the slice begin:end:step.
 * Negative bounds count from the end. begin is then clamped to an element, and end to an element or
 * one position before or after all elements, as Slice-8 specifies (in Python, a begin before the
 * first element gives an empty slice if step is negative). step is not 0. */
void slice_bounds(int64_t dim, int64_t begin, int64_t end, int64_t step, int64_t *first,
                  int64_t *n);

#define MOVE_OP(object, type_, opset_, inputs_, infer_, ...)                                       \
    const struct op_def object = {.type = type_,                                                   \
                                  .opset = opset_,                                                 \
                                  .flags = OP_DATA_MOVEMENT,                                       \
                                  inputs_,                                                         \
                                  .state_size = sizeof(struct move_state),                         \
                                  .infer = infer_,                                                 \
                                  .views = move_views,                                             \
                                  .prepare = move_prepare,                                         \
                                  __VA_ARGS__}

/* An op whose output 0 is input 0 with a different shape. */
#define VIEW_OP(object, type_, opset_, inputs_, infer_, ...)                                       \
    const struct op_def object = {                                                                 \
        .type = type_, .opset = opset_, .flags = OP_VIEW, inputs_, .infer = infer_, __VA_ARGS__}

#endif
