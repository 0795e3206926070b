/* NormalizeL2-1: x / sqrt(s). Depending on eps_mode, s is the sum of x^2 over the axes plus eps, or
 * the larger of this sum and eps. Without axes, every element is divided by itself, and 0 stays 0.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ops/normalization.h"

enum eps_mode { EPS_ADD, EPS_MAX };

struct l2_attrs {
    double eps;
    int eps_mode;
};

static const struct attr_def attr_table[] = {
    ATTR(struct l2_attrs, eps, NULL),
    ATTR_CHOICE(struct l2_attrs, eps_mode, NULL, "add|max"),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_FLOAT},
    {"axes", .types = TYPES_INTEGER},
};

/* Divides each element of the slices by itself, without squares, which could overflow. */
static void divide_by_themselves(const struct step *step, const struct slices *slices)
{
    enum irrun_dtype dtype = step->in[0]->dtype;
    for (size_t i = slices->first; i < slices->first + slices->n; i++) {
        double x = element_as_f64(dtype, step->in[0]->data, i);
        double y = x == 0 ? x : x / x;
        convert_elements(IRRUN_F64, &y, dtype, tensor_at(step->out[0], i), 1);
    }
}

static void run_units(const struct step *step, size_t begin, size_t end)
{
    const struct normalize *normalize = step->state;
    const struct l2_attrs *attrs = step->op->attrs;
    struct slices slices = normalize_start(step, begin, end);
    if (shape_n_elements(&step->in[1]->shape) == 0) {
        divide_by_themselves(step, &slices);
        return;
    }
    normalize_reduce(step, &slices, normalize->sum_of_squares, slices.sums);
    for (size_t i = 0; i < slices.n; i++) {
        double sum = slices.sums[i];
        if (attrs->eps_mode == EPS_ADD)
            sum += attrs->eps;
        else
            sum = sum < attrs->eps ? attrs->eps : sum;
        slices.scales[i] = 1 / sqrt(sum);
    }
    normalize_apply(step, &slices);
}

static bool prepare(struct prepare *prepare)
{
    return normalize_prepare(prepare, run_units);
}

const struct op_def op_normalize_l2 = {
    .type = "NormalizeL2",
    .opset = 1,
    .flags = OP_IN_PLACE,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct l2_attrs),
    .state_size = sizeof(struct normalize),
    .infer = normalize_infer_axes,
    .prepare = prepare,
};
