/* Searches outputs for the first element that is no finite number.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/finite_check.h"

#include <math.h>

/* The index of the first element that is not finite, or n. */
static size_t find_odd(const struct irrun_tensor *tensor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(element_as_f64(tensor->dtype, tensor->data, i)))
            return i;
    return n;
}

/* The step, or for a conversion in front of an op the op whose value is converted, if it can only
 * be one. */
static struct step blamed(const struct step *step)
{
    struct step copy = *step;
    if (!step->state && step->op->n_inputs == 1)
        copy.op = value_producer(step->graph, op_input(step->graph, step->op, 0));
    return copy;
}

bool finite_check(const struct step *step, struct irrun_error *err)
{
    bool is_widening = !step->state && step->n_inputs == 1 && dtype_is_half(step->in[0]->dtype);
    if (is_widening) /* what is odd was so before */
        return true;
    for (uint32_t k = 0; k < step->n_outputs; k++) {
        const struct irrun_tensor *out = step->out[k];
        char text[SHAPE_TEXT_BYTES];
        if (!dtype_is_float(out->dtype) || !out->data)
            continue;
        size_t n = (size_t)shape_n_elements(&out->shape), rest = find_odd(out, n);
        if (rest == n)
            continue;
        double value = element_as_f64(out->dtype, out->data, rest);
        struct irrun_shape place = out->shape;
        for (uint32_t i = place.rank; i-- > 0;) {
            size_t length = (size_t)place.dims[i];
            place.dims[i] = (int64_t)(rest % length);
            rest /= length;
        }
        const struct step culprit = blamed(step);
        return step_fail(&culprit, err, IRRUN_MISMATCH, "output %u is %s at %s", k,
                         isnan(value) ? "nan"
                         : value > 0  ? "inf"
                                      : "-inf",
                         shape_format(&place, text));
    }
    return true;
}
