/* MVN-1 (opset2 to 5) and MVN-6: subtract the mean and, with normalize_variance, divide by the
 * standard deviation. Also defines the internal op_norm.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ops/internal_ops.h"
#include "ops/normalization.h"
#include "ops/op_state.h"

static const struct attr_def v1_attrs[] = {
    ATTR(struct mvn_attrs, across_channels, "true"),
    ATTR(struct mvn_attrs, normalize_variance, "true"),
    ATTR(struct mvn_attrs, eps, "1e-9"),
};
static const struct attr_def v6_attrs[] = {
    ATTR(struct mvn_attrs, normalize_variance, NULL),
    ATTR(struct mvn_attrs, eps, NULL),
    ATTR_CHOICE(struct mvn_attrs, eps_mode, NULL, "inside_sqrt|outside_sqrt"),
};

static const struct op_input_def v6_inputs[] = {
    {"data", .types = TYPES_FLOAT},
    {"axes", .types = TYPES_INTEGER},
};

static bool infer_v1(struct infer *infer)
{
    bool across_channels = ((const struct mvn_attrs *)infer->attrs)->across_channels;
    uint32_t first = across_channels ? 1 : 2;
    bool is_set[IRRUN_MAX_RANK] = {false};
    for (uint32_t i = first; i < infer->in[0]->shape.rank; i++)
        is_set[i] = true;
    return normalize_infer(infer, is_set);
}

static bool infer_norm(struct infer *infer)
{
    struct irrun_shape *out = &infer->out[0].shape;
    const struct mvn_attrs *attrs = infer->attrs;
    return normalize_infer_axes(infer) && shape_broadcast(out, &attrs->broadcast, out);
}

static void run_units(const struct step *step, size_t begin, size_t end)
{
    const struct normalize *normalize = step->state;
    const struct mvn_attrs *attrs = step->op->attrs;
    double n = (double)normalize->n_terms;
    struct slices slices = normalize_start(step, begin, end);
    if (attrs->keeps_mean)
        normalize_reduce(step, &slices, normalize->sum_of_squares, slices.sums);
    else
        normalize_reduce(step, &slices, normalize->sum, slices.means);
    for (size_t i = 0; i < slices.n; i++)
        slices.means[i] /= n;
    if (attrs->normalize_variance && !attrs->keeps_mean)
        normalize_reduce(step, &slices, normalize->sum_of_squared_deviations, slices.sums);
    for (size_t i = 0; i < slices.n; i++) {
        double variance = slices.sums[i] / n;
        double deviation = attrs->eps_mode == EPS_INSIDE_SQRT ? sqrt(variance + attrs->eps)
                                                              : sqrt(variance) + attrs->eps;
        slices.scales[i] = attrs->normalize_variance ? 1 / deviation : 1;
    }
    normalize_apply(step, &slices);
}

static bool prepare(struct prepare *prepare)
{
    return normalize_prepare(prepare, run_units);
}

#define MVN_OP(object, opset_, opset_last_, inputs_, attrs_, infer_)                               \
    const struct op_def object = {                                                                 \
        .type = "MVN",                                                                             \
        .opset = opset_,                                                                           \
        .opset_last = opset_last_,                                                                 \
        .flags = OP_IN_PLACE,                                                                      \
        inputs_,                                                                                   \
        OP_ATTRS(attrs_, struct mvn_attrs),                                                        \
        .state_size = sizeof(struct normalize),                                                    \
        .infer = infer_,                                                                           \
        .prepare = prepare,                                                                        \
    }

MVN_OP(op_mvn_v1, 2, 5, OP_ONE_INPUT("data", TYPES_FLOAT), v1_attrs, infer_v1);
MVN_OP(op_mvn_v6, 6, 0, OP_INPUTS(v6_inputs), v6_attrs, normalize_infer_axes);
MVN_OP(op_norm, 0, 0, OP_INPUTS(v6_inputs), v6_attrs, infer_norm);
