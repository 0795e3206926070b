/* CumSum-3: cumulative sums along an axis.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cum_sum.h"
#include "ops/indexing.h"

enum { DATA, AXIS };

struct cum_sum_attrs {
    bool exclusive, reverse;
};

static const struct attr_def attr_table[] = {
    ATTR(struct cum_sum_attrs, exclusive, "false"),
    ATTR(struct cum_sum_attrs, reverse, "false"),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_NUMBER},
    {"axis", .types = TYPES_INTEGER, .is_optional = true},
};

static bool infer(struct infer *infer)
{
    struct axis_view *view = infer->state;
    const struct irrun_shape *shape = &infer->in[DATA]->shape;
    int64_t given = 0;
    uint32_t axis = 0;
    if (infer->n_inputs > AXIS && !infer_int(infer, AXIS, &given))
        return false;
    if (!infer_axis(infer, given, shape->rank, &axis))
        return false;
    *view = axis_view_of(shape, axis);
    return infer_output(infer, 0, infer->in[DATA]->dtype, shape);
}

static void run(const struct step *step)
{
    const struct axis_view *view = step->state;
    const struct cum_sum_attrs *attrs = step->op->attrs;
    cum_sum_fn *sum = cum_sum_scalar(step->in[DATA]->dtype);
    size_t n = (size_t)(view->n * view->n_inner);
    for (size_t outer = 0; n > 0 && outer < (size_t)view->n_outer; outer++)
        sum(tensor_at(step->in[DATA], outer * n), tensor_at(step->out[0], outer * n),
            (size_t)view->n, (size_t)view->n_inner, attrs->exclusive, attrs->reverse);
}

const struct op_def op_cum_sum = {
    .type = "CumSum",
    .opset = 3,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct cum_sum_attrs),
    .state_size = sizeof(struct axis_view),
    .infer = infer,
    .compute = run,
};
