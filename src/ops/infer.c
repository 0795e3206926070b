/* Helpers for infer functions: reads values and axes, broadcasts shapes, and writes messages that
 * name the op and the producers of its inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ops/op.h"

/* ---- messages ----------------------------------------------------------------------------- */

#define NAME_BYTES 256
#define MESSAGE_BYTES 1536

/* Formats an op: `Add "block/add_1"`, or the type alone if the layer has no name. */
static char *format_op(const struct op *op, char out[NAME_BYTES])
{
    if (op->name && op->name[0])
        snprintf(out, NAME_BYTES, "%s \"%s\"", op->def->type, op->name);
    else
        snprintf(out, NAME_BYTES, "%s", op->def->type);
    return out;
}

static bool fail_op(const struct graph *graph, const struct op *op, struct irrun_error *err,
                    enum irrun_error_code code, const char *format, va_list args)
{
    char name[NAME_BYTES], message[MESSAGE_BYTES];
    vsnprintf(message, sizeof message, format, args);
    return fail_at(err, code, op_place(graph, op), "%s: %s", format_op(op, name), message);
}

bool infer_fail(struct infer *infer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_op(infer->graph, infer->op, infer->err, IRRUN_DATA, format, args);
    va_end(args);
    return false;
}

bool step_fail(const struct step *step, struct irrun_error *err, enum irrun_error_code code,
               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_op(step->graph, step->op, err, code, format, args);
    va_end(args);
    return false;
}

/* Formats input i: `input 4 (W)`. */
static char *format_input(const struct infer *infer, uint32_t i, char out[NAME_BYTES])
{
    const struct op_input_def *input = op_find_input(infer->op->def, i);
    if (input)
        snprintf(out, NAME_BYTES, "input %u (%s)", i, input->name);
    else
        snprintf(out, NAME_BYTES, "input %u", i);
    return out;
}

/* Appends the producer of input i to the hint, after "; " if the hint is not empty. */
static void hint_producer(struct infer *infer, uint32_t i, bool with_shape)
{
    infer->hinted |= i < 32 ? 1U << i : 0;
    const struct op *producer = value_producer(infer->graph, op_input(infer->graph, infer->op, i));
    char input[NAME_BYTES], name[NAME_BYTES], shape[SHAPE_TEXT_BYTES], what[SHAPE_TEXT_BYTES + 32];
    what[0] = '\0';
    if (with_shape)
        snprintf(what, sizeof what, " is %s %s and", irrun_dtype_name(infer->in[i]->dtype),
                 shape_format(&infer->in[i]->shape, shape));
    size_t length = strlen(infer->err->hint);
    snprintf(infer->err->hint + length, sizeof infer->err->hint - length,
             "%s%s%s comes from %s (%s:%u:%u)", length ? "; " : "", format_input(infer, i, input),
             what, format_op(producer, name), infer->graph->file ? infer->graph->file : "",
             producer->line, producer->column);
}

bool infer_fail_input(struct infer *infer, uint32_t i, const char *expected, ...)
{
    char text[MESSAGE_BYTES], input[NAME_BYTES], shape[SHAPE_TEXT_BYTES];
    va_list args;
    va_start(args, expected);
    vsnprintf(text, sizeof text, expected, args);
    va_end(args);
    infer_fail(infer, "%s is %s %s, expected %s", format_input(infer, i, input),
               irrun_dtype_name(infer->in[i]->dtype), shape_format(&infer->in[i]->shape, shape),
               text);
    hint_producer(infer, i, false);
    return false;
}

bool infer_hint_input(struct infer *infer, uint32_t i)
{
    hint_producer(infer, i, true);
    return false;
}

/* ---- values ------------------------------------------------------------------------------- */

const struct irrun_tensor *infer_value(struct infer *infer, uint32_t i)
{
    const struct irrun_tensor *value = infer->value(infer, i);
    if (!value)
        infer->is_value_missing = true;
    return value;
}

bool infer_ints(struct infer *infer, uint32_t i, struct i64_list *list)
{
    if (!dtype_is_integer(infer->in[i]->dtype) || infer->in[i]->shape.rank > 1)
        return infer_fail_input(infer, i, "integers, one number or a list");
    const struct irrun_tensor *value = infer_value(infer, i);
    if (!value)
        return false;
    int64_t n = shape_n_elements(&value->shape);
    if (n > UINT32_MAX)
        return infer_fail_input(infer, i, "a shorter list");
    int64_t *items = arena_alloc_array(infer->arena, (size_t)n, sizeof *items, infer->err);
    if (!items)
        return false;
    elements_as_i64(value->dtype, value->data, 0, (size_t)n, items);
    *list = (struct i64_list){items, (uint32_t)n};
    return true;
}

bool infer_int(struct infer *infer, uint32_t i, int64_t *number)
{
    struct i64_list list = {0};
    if (!infer_ints(infer, i, &list))
        return false;
    if (list.n != 1)
        return infer_fail_input(infer, i, "one integer");
    *number = list.items[0];
    return true;
}

/* ---- outputs ------------------------------------------------------------------------------ */

bool infer_output(struct infer *infer, uint32_t i, enum irrun_dtype dtype,
                  const struct irrun_shape *shape)
{
    int64_t n_elements;
    char text[SHAPE_TEXT_BYTES];
    for (uint32_t k = 0; k < shape->rank; k++)
        if (shape->dims[k] < 0)
            return infer_fail(infer, "output %u would have a negative dimension: %s", i,
                              shape_format(shape, text));
    if (!shape_count(shape, &n_elements))
        return infer_fail(infer, "output %u would be too large: %s", i, shape_format(shape, text));
    infer->out[i] = (struct irrun_tensor){.dtype = dtype, .shape = *shape};
    return true;
}

/* ---- axes --------------------------------------------------------------------------------- */

bool infer_axis(struct infer *infer, int64_t axis, uint32_t rank, uint32_t *normal)
{
    int64_t n = rank;
    if (axis < -n || axis >= n) {
        if (rank == 0)
            return infer_fail(infer, "axis %lld, but the tensor has no dimensions",
                              (long long)axis);
        return infer_fail(infer, "axis %lld is outside %lld ... %lld", (long long)axis,
                          (long long)-n, (long long)(n - 1));
    }
    *normal = (uint32_t)(axis < 0 ? axis + n : axis);
    return true;
}

bool infer_axes(struct infer *infer, const struct i64_list *axes, uint32_t rank,
                bool is_set[IRRUN_MAX_RANK])
{
    memset(is_set, 0, IRRUN_MAX_RANK * sizeof *is_set);
    for (uint32_t k = 0; k < axes->n; k++) {
        uint32_t axis = 0;
        if (!infer_axis(infer, axes->items[k], rank, &axis))
            return false;
        if (is_set[axis])
            return infer_fail(infer, "axis %u is given twice", axis);
        is_set[axis] = true;
    }
    return true;
}

/* ---- auto_broadcast ----------------------------------------------------------------------- */

/* Removes trailing ones from b's shape and pads it with ones so that it is aligned at `axis` of
 * a. */
static bool align_pdpd(const struct irrun_shape *a, const struct irrun_shape *b, int64_t axis,
                       struct irrun_shape *aligned)
{
    if (shape_equals(a, b)) /* OpenVINO then ignores the axis */
        return true;
    if (axis == -1)
        axis = (int64_t)a->rank - b->rank;
    uint32_t n_kept = b->rank;
    while (n_kept > 0 && b->dims[n_kept - 1] == 1)
        n_kept--;
    if (axis < 0 || axis > a->rank || n_kept > a->rank - axis)
        return false;
    aligned->rank = a->rank;
    for (uint32_t i = 0; i < a->rank; i++)
        aligned->dims[i] = i >= axis && i < axis + n_kept ? b->dims[i - axis] : 1;
    for (uint32_t i = 0; i < a->rank; i++)
        if (aligned->dims[i] != 1 && aligned->dims[i] != a->dims[i])
            return false;
    return true;
}

bool infer_broadcast(struct infer *infer, uint32_t a, uint32_t b, int auto_broadcast, int64_t axis,
                     struct irrun_shape *out, struct irrun_shape *b_shape)
{
    const struct irrun_shape *left = &infer->in[a]->shape, *right = &infer->in[b]->shape;
    char text[SHAPE_TEXT_BYTES];
    *b_shape = *right;
    if (auto_broadcast == AUTO_BROADCAST_NUMPY) {
        if (shape_broadcast(left, right, out))
            return true;
        return infer_fail_input(infer, b, "a shape that broadcasts with %s of input %u",
                                shape_format(left, text), a);
    }
    *out = *left;
    if (auto_broadcast == AUTO_BROADCAST_PDPD) {
        if (align_pdpd(left, right, axis, b_shape))
            return true;
        if (axis == -1 && right->rank > left->rank)
            return infer_fail_input(infer, b, "a rank of at most %u, that of input %u", left->rank,
                                    a);
        return infer_fail_input(infer, b, "a shape that fits in %s of input %u from axis %lld on",
                                shape_format(left, text), a,
                                axis == -1 ? (long long)left->rank - right->rank : (long long)axis);
    }
    return shape_equals(left, right) ||
           infer_fail_input(infer, b, "the shape %s of input %u (auto_broadcast is none)",
                            shape_format(left, text), a);
}
