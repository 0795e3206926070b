/* Finds how values are quantized: the ranges of FakeQuantizes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "ops/op_state.h"
#include "plan/int8_pass_internal.h"

/* Sets format->ranges.n to the number of elements of a bound: one, or one per channel, where the
 * channels are the first of the last n_spatial + 1 dimensions. Returns false for any other shape,
 * and if the bound does not match the earlier bounds. */
static bool count_ranges(const struct irrun_tensor *bound, struct quantize_u8_attrs *format)
{
    const struct irrun_shape *shape = &bound->shape;
    size_t n = (size_t)shape_n_elements(shape);
    uint32_t d = 0;
    while (d < shape->rank && (size_t)shape->dims[d] != n)
        d++;
    if (n == 1)
        return true;
    uint32_t n_spatial = shape->rank - 1 - d;
    if (d == shape->rank || d > 1 || n_spatial == 0 ||
        (format->ranges.n > 1 && (format->ranges.n != n || format->n_spatial != n_spatial)))
        return false;
    format->ranges.n = n;
    format->n_spatial = n_spatial;
    return true;
}

/* Returns whether a bound may give the result of a FakeQuantize more dimensions than its input. */
static bool adds_dimensions(const struct int8_pass *pass, const struct op *op,
                            const struct irrun_tensor *bound)
{
    const struct value *x = &pass->graph->values[op_input(pass->graph, op, 0)];
    return bound->shape.rank > (x->dims_hint ? x->rank_hint : 1);
}

bool int8_find_ranges(struct int8_pass *pass, const struct op *op, struct quantize_u8_attrs *format)
{
    const struct fake_quantize_attrs *attrs = op->attrs;
    const struct irrun_tensor *bounds[4];
    *format = (struct quantize_u8_attrs){.ranges.n = 1};
    if (!op_is_type(op, "FakeQuantize") || op->n_inputs != 5 || attrs->levels > 256)
        return false;
    for (uint32_t i = 0; i < 4; i++) {
        bounds[i] = int8_find_floats(pass, op_input(pass->graph, op, 1 + i));
        if (!bounds[i] || adds_dimensions(pass, op, bounds[i]) || !count_ranges(bounds[i], format))
            return false;
    }
    if (format->ranges.n > 1 && attrs->auto_broadcast != AUTO_BROADCAST_NUMPY)
        return false;
    struct quantization *all =
        arena_alloc_array(pass->arena, format->ranges.n, sizeof *all, pass->err);
    format->ranges.all = all;
    for (size_t c = 0; all && c < format->ranges.n; c++) {
        float b[4];
        for (size_t i = 0; i < 4; i++)
            b[i] =
                ((const float *)bounds[i]->data)[shape_n_elements(&bounds[i]->shape) > 1 ? c : 0];
        all[c] = quantization_of(b[0], b[1], b[2], b[3], attrs->levels);
        if (b[0] >= b[1] || b[2] >= b[3] || !isfinite(all[c].inverse_scale) ||
            !isfinite(all[c].scale) || !(all[c].scale > 0))
            return false;
    }
    return all != NULL;
}

static bool find_format(struct int8_pass *pass, const struct op *op,
                        struct quantize_u8_attrs *format)
{
    if (op->def == &op_dequantize_u8) {
        *format = *(const struct quantize_u8_attrs *)op->attrs;
        return true;
    }
    return int8_find_ranges(pass, op, format);
}

/* The maximum number of consecutive ops that find_moved_format follows; it follows them again for
 * each reader of a value. Networks have at most three in a row. */
#define MAX_MOVES 8

/* Finds the format of a value whose elements ops have moved from the output of a FakeQuantize.
 * Returns false if quantizing the value again could change it. */
static bool find_moved_format(struct int8_pass *pass, uint32_t value_id,
                              struct quantize_u8_attrs *format)
{
    const struct op *op = value_producer(pass->graph, value_id);
    for (int i = 0; i < MAX_MOVES && int8_moves_elements(op); i++)
        op = value_producer(pass->graph, op_input(pass->graph, op, 0));
    if (!find_format(pass, op, format) || format->ranges.n > 1)
        return false;
    format->n_spatial = 0;
    return format->ranges.all->low == format->ranges.all->out_low &&
           format->ranges.all->high == format->ranges.all->out_high;
}

bool int8_find_format(struct int8_pass *pass, uint32_t value_id, struct quantize_u8_attrs *format)
{
    const struct op *op = value_producer(pass->graph, value_id);
    struct quantize_u8_attrs other;
    if (find_format(pass, op, format))
        return true;
    if (!op_is_type(op, "Concat"))
        return find_moved_format(pass, value_id, format);
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (!find_moved_format(pass, op_input(pass->graph, op, i), i > 0 ? &other : format) ||
            (i > 0 && memcmp(other.ranges.all, format->ranges.all, sizeof *other.ranges.all) != 0))
            return false;
    return op->n_inputs > 0;
}

uint32_t int8_find_source(const struct int8_pass *pass, uint32_t value_id)
{
    const struct op *op = value_producer(pass->graph, value_id);
    return op_is_type(op, "FakeQuantize") ? op_input(pass->graph, op, 0) : value_id;
}
