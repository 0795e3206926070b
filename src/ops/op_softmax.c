/* SoftMax-1, SoftMax-8 and LogSoftmax-5, along one axis.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/softmax.h"
#include "ops/op.h"

#define ELEMENT_WORK 40 /* work per element, in the unit of thread_pool_n_parts */

struct softmax_attrs {
    int64_t axis;
};

struct softmax_state {
    struct softmax softmax;
    softmax_f32_fn *f32;
};

static const struct attr_def attr_table[] = {ATTR(struct softmax_attrs, axis, "1")};

/* Sets the output and the state. family points to a bool: whether to compute the logarithm. */
static bool infer(struct infer *infer)
{
    const struct irrun_shape *shape = &infer->in[0]->shape;
    uint32_t axis = 0;
    if (!infer_axis(infer, ((const struct softmax_attrs *)infer->attrs)->axis, shape->rank, &axis))
        return false;
    ((struct softmax_state *)infer->state)->softmax = (struct softmax){
        .n_outer = (size_t)shape_product(shape, 0, axis),
        .n = (size_t)shape->dims[axis],
        .n_inner = (size_t)shape_product(shape, axis + 1, shape->rank),
        .is_log = *(const bool *)infer->op->def->family,
        .scale = 1,
    };
    return infer_output(infer, 0, infer->in[0]->dtype, shape);
}

static void run_outer(const struct step *step, size_t begin, size_t end)
{
    const struct softmax_state *state = step->state;
    struct softmax softmax = state->softmax;
    size_t first = begin * softmax.n * softmax.n_inner;
    softmax.n_outer = end - begin;
    if (step->in[0]->dtype == IRRUN_F64)
        softmax_f64(&softmax, tensor_at(step->in[0], first), tensor_at(step->out[0], first));
    else
        state->f32(&softmax, tensor_at(step->in[0], first), tensor_at(step->out[0], first));
}

static bool prepare(struct prepare *prepare)
{
    struct softmax_state *state = prepare->state;
    const struct softmax *softmax = &state->softmax;
    double work =
        ELEMENT_WORK * (double)softmax->n_outer * (double)softmax->n * (double)softmax->n_inner;
    state->f32 = prepare->kernels->softmax_f32;
    return prepare_sharing(prepare, run_outer, softmax->n_outer, work);
}

#define SOFTMAX_OP(object, type_, opset_, is_log, ...)                                             \
    const struct op_def object = {.type = type_,                                                   \
                                  .opset = opset_,                                                 \
                                  .flags = OP_IN_PLACE,                                            \
                                  OP_ONE_INPUT("data", TYPES_FLOAT),                               \
                                  OP_ATTRS(attr_table, struct softmax_attrs),                      \
                                  .state_size = sizeof(struct softmax_state),                      \
                                  .family = &(const bool){is_log},                                 \
                                  .infer = infer,                                                  \
                                  .prepare = prepare,                                              \
                                  __VA_ARGS__}

SOFTMAX_OP(op_softmax_v1, "SoftMax", 1, false, .opset_last = 7);
SOFTMAX_OP(op_softmax_v8, "SoftMax", 8, false, );
SOFTMAX_OP(op_log_softmax, "LogSoftmax", 5, true, );
