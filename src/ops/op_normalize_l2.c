/* NormalizeL2-1: x / sqrt(sum of x^2 over the axes, plus or at least eps). Without axes every
 * element is divided by itself.
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
    ATTR_END,
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_FLOAT},
    {"axes", .types = TYPES_INTEGER},
    {.name = NULL},
};

static bool infer(struct infer *infer)
{
    return normalize_infer_axes(infer, infer->state);
}

static void run_units(const struct step *step, size_t begin, size_t end)
{
    const struct normalize *normalize = step->state;
    const struct l2_attrs *attrs = step->op->attrs;
    struct slices slices = normalize_start(step, normalize, begin, end);
    bool has_axes = shape_n_elements(&step->in[1]->shape) > 0;
    normalize_squares(step, normalize, &slices);
    for (size_t i = 0; i < slices.n; i++) {
        double sum = slices.sums[i];
        if (!has_axes)
            sum = sum == 0 ? 1 : sum; /* 0 stays 0 */
        else if (attrs->eps_mode == EPS_ADD)
            sum += attrs->eps;
        else
            sum = sum < attrs->eps ? attrs->eps : sum;
        slices.scales[i] = 1 / sqrt(sum);
        if (!has_axes) /* without axes the result is x / x: the sign */
            slices.scales[i] =
                element_as_f64(step->in[0]->dtype, step->in[0]->data, slices.first + i) < 0
                    ? -slices.scales[i]
                    : slices.scales[i];
    }
    normalize_apply(step, normalize, &slices);
}

static bool prepare(struct prepare *prepare)
{
    return normalize_prepare(prepare, prepare->state, run_units);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    run_units(step, 0, normalize_units(step->state));
    return true;
}

const struct op_def op_normalize_l2 = {
    .type = "NormalizeL2",
    .opset = 1,
    .flags = OP_IN_PLACE,
    .inputs = inputs,
    .n_outputs = 1,
    .attrs = attr_table,
    .attrs_size = sizeof(struct l2_attrs),
    .state_size = sizeof(struct normalize),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};
