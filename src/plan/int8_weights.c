/* Recovers the integers from which constant filters are computed. The ops that compute the filters
 * give the possible scales. All elements of a channel must be integer multiples of the same scale.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/int8_weights.h"

#include <math.h>
#include <string.h>

#include "ops/interpolation.h"
#include "ops/op_state.h"

/* The maximum rounding error of FakeQuantize in f32, in steps, for values of up to 128 steps. */
#define ROUNDING 0x1p-14

/* The possible scales: an input of a Multiply, or the steps of a FakeQuantize. */
struct scales {
    const struct irrun_tensor *multipliers; /* NULL: a FakeQuantize */
    const struct irrun_tensor *low, *high;  /* output bounds of the FakeQuantize */
    double n_steps;                         /* steps from low to high */
};

static size_t count_elements(const struct irrun_tensor *tensor)
{
    return (size_t)shape_n_elements(&tensor->shape);
}

static double element(const struct irrun_tensor *tensor, size_t i)
{
    return (double)((const float *)tensor->data)[count_elements(tensor) == 1 ? 0 : i];
}

static size_t count_scales(const struct scales *scales)
{
    if (scales->multipliers)
        return count_elements(scales->multipliers);
    size_t n = count_elements(scales->low), m = count_elements(scales->high);
    return n == 1 || n == m ? m : m == 1 ? n : 0;
}

static double scale_at(const struct scales *scales, size_t i)
{
    if (scales->multipliers)
        return element(scales->multipliers, i);
    return (element(scales->high, i) - element(scales->low, i)) / scales->n_steps;
}

bool int8_moves_elements(const struct op *op)
{
    static const char *const types[] = {"Split",        "VariadicSplit", "Slice",   "StridedSlice",
                                        "Broadcast",    "Reshape",       "Squeeze", "Unsqueeze",
                                        "DepthToSpace", "Transpose",     "Tile"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (op_is_type(op, types[i]))
            return true;
    if (op_is_type(op, "Pad"))
        return ((const struct pad_attrs *)op->attrs)->pad_mode != PAD_CONSTANT;
    return op_is_type(op, "Interpolate") &&
           *(const int *)op_attr(op, "mode") == INTERPOLATION_NEAREST &&
           i64_list_is_all(op_attr(op, "pads_begin"), 0) &&
           i64_list_is_all(op_attr(op, "pads_end"), 0);
}

const struct irrun_tensor *int8_floats(struct model *model, const struct graph *graph,
                                       uint32_t value_id, struct irrun_error *err)
{
    const struct constant *constant = graph->analysis->constants[value_id];
    if (!constant || constant->declared != IRRUN_F32 || constant->tensor.dtype != IRRUN_F32)
        return NULL;
    return constant_get(model, graph, value_id, err);
}

static bool find_scales(struct model *model, const struct graph *graph, uint32_t value_id,
                        struct scales *scales, struct irrun_error *err)
{
    const struct op *op = value_producer(graph, value_id);
    while (int8_moves_elements(op))
        op = value_producer(graph, op_input(graph, op, 0));
    *scales = (struct scales){0};
    if (op_is_type(op, "Multiply")) {
        const struct irrun_tensor *a = int8_floats(model, graph, op_input(graph, op, 0), err);
        const struct irrun_tensor *b = int8_floats(model, graph, op_input(graph, op, 1), err);
        if (a && b)
            scales->multipliers = count_elements(a) < count_elements(b) ? a : b;
        return scales->multipliers != NULL;
    }
    if (!op_is_type(op, "FakeQuantize"))
        return false;
    scales->low = int8_floats(model, graph, op_input(graph, op, 3), err);
    scales->high = int8_floats(model, graph, op_input(graph, op, 4), err);
    scales->n_steps = (double)(((const struct fake_quantize_attrs *)op->attrs)->levels - 1);
    return scales->low && scales->high;
}

/* Divides a channel by its scale. Returns false if an element is not a multiple of the scale. The
 * multiple must be exact if is_product; otherwise an error of at most ROUNDING is allowed. */
static bool divide(const float *from, size_t stride, size_t n, double scale, bool is_product,
                   int8_t *to)
{
    for (size_t i = 0; i < n; i++) {
        float x = from[i * stride];
        double steps = nearbyint((double)x / scale);
        if (!(steps >= INT8_MIN && steps <= INT8_MAX))
            return false;
        to[i] = (int8_t)steps;
        bool is_multiple = is_product ? (float)steps * (float)scale == x
                                      : fabs((double)x - steps * scale) <= ROUNDING * scale;
        if (!is_multiple)
            return false;
    }
    return true;
}

static bool divide_channel(const struct scales *scales, const float *from, size_t stride,
                           struct int8_weights *weights, size_t channel)
{
    size_t n = count_scales(scales), n_inner = weights->n_inner;
    size_t first = channel * n / weights->n_channels;
    for (size_t i = 0; i < n; i++) {
        double scale = scale_at(scales, (first + i) % n);
        if (scale > 0 && isfinite(scale) &&
            divide(from, stride, n_inner, scale, scales->multipliers != NULL,
                   weights->elements + channel * n_inner)) {
            weights->scales[channel] = (float)scale;
            return true;
        }
    }
    return false;
}

bool int8_weights_find(struct model *model, const struct graph *graph, uint32_t value_id,
                       size_t n_channels, size_t n_taps, struct int8_weights *weights,
                       bool *is_found, struct irrun_error *err)
{
    struct scales scales;
    *is_found = false;
    const struct irrun_tensor *tensor = int8_floats(model, graph, value_id, err);
    if (!tensor || !find_scales(model, graph, value_id, &scales, err))
        return err->code == IRRUN_OK;
    size_t n = count_elements(tensor);
    if (n == 0)
        return true;
    *weights = (struct int8_weights){.n_channels = n_channels, .n_inner = n / n_channels};
    weights->elements = arena_alloc(model->arena, n, err);
    weights->scales = arena_alloc_array(model->arena, n_channels, sizeof(float), err);
    if (!weights->elements || !weights->scales)
        return false;
    *is_found = true;
    const float *data = tensor->data;
    for (size_t channel = 0; channel < n_channels && *is_found; channel++) {
        size_t n_columns = n_taps > 0 ? n_channels / n_taps : 0;
        const float *from = n_taps > 0 ? data + channel % n_columns * n_taps + channel / n_columns
                                       : data + channel * weights->n_inner;
        *is_found = divide_channel(&scales, from, n_taps > 0 ? n_channels : 1, weights, channel);
    }
    return true;
}
