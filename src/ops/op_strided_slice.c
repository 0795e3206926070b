/* StridedSlice-1: NumPy's basic indexing, with lists for bounds, new axes, shrunk axes and one
 * ellipsis. A 1 in begin_mask or end_mask means that the bound is ignored.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/movement.h"

enum { DATA, BEGIN, END, STRIDES };

struct strided_slice_attrs {
    struct i64_list begin_mask, end_mask, new_axis_mask, shrink_axis_mask, ellipsis_mask;
};

static const struct attr_def attr_table[] = {
    ATTR(struct strided_slice_attrs, begin_mask, NULL),
    ATTR(struct strided_slice_attrs, end_mask, NULL),
    ATTR(struct strided_slice_attrs, new_axis_mask, ""),
    ATTR(struct strided_slice_attrs, shrink_axis_mask, ""),
    ATTR(struct strided_slice_attrs, ellipsis_mask, ""),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY},
    {"begin", .types = TYPES_INTEGER},
    {"end", .types = TYPES_INTEGER},
    {"strides", .types = TYPES_INTEGER, .is_optional = true},
};

struct bounds {
    struct i64_list begin, end, strides;
};

/* The next dimension of the input, and the output shape so far. */
struct builder {
    uint32_t dim;
    struct irrun_shape out;
    int64_t strides[IRRUN_MAX_RANK], offset;
    int64_t in_strides[IRRUN_MAX_RANK];
};

static bool read_bounds(struct infer *infer, struct bounds *bounds)
{
    *bounds = (struct bounds){0};
    if (!infer_ints(infer, BEGIN, &bounds->begin) || !infer_ints(infer, END, &bounds->end) ||
        (infer->n_inputs > STRIDES && !infer_ints(infer, STRIDES, &bounds->strides)))
        return false;
    if (bounds->end.n != bounds->begin.n)
        return infer_fail_input(infer, END, "%u numbers to match begin", bounds->begin.n);
    if (infer->n_inputs > STRIDES && bounds->strides.n != bounds->begin.n)
        return infer_fail_input(infer, STRIDES, "%u numbers to match begin", bounds->begin.n);
    return true;
}

static bool add_dim(struct infer *infer, struct builder *builder, int64_t dim, int64_t stride)
{
    if (builder->out.rank == IRRUN_MAX_RANK)
        return infer_fail(infer, "the output has more than %d dimensions", IRRUN_MAX_RANK);
    builder->strides[builder->out.rank] = stride;
    builder->out.dims[builder->out.rank++] = dim;
    return true;
}

static bool copy_dims(struct infer *infer, struct builder *builder, uint32_t n)
{
    for (; n > 0; n--, builder->dim++)
        if (!add_dim(infer, builder, infer->in[DATA]->shape.dims[builder->dim],
                     builder->in_strides[builder->dim]))
            return false;
    return true;
}

/* Processes an entry for one dimension of the input: an index or a slice. */
static bool index_dim(struct infer *infer, struct builder *builder, const struct bounds *bounds,
                      uint32_t i)
{
    const struct strided_slice_attrs *attrs = infer->attrs;
    int64_t dim = infer->in[DATA]->shape.dims[builder->dim];
    int64_t in_stride = builder->in_strides[builder->dim++];
    int64_t step = bounds->strides.n ? bounds->strides.items[i] : 1;
    if (step == 0)
        return infer_fail_input(infer, STRIDES, "strides other than 0");
    int64_t begin = bounds->begin.items[i], end = bounds->end.items[i];
    if (i64_list_is_set(&attrs->begin_mask, i))
        begin = step > 0 ? 0 : dim - 1;
    if (i64_list_is_set(&attrs->shrink_axis_mask, i)) {
        int64_t index = begin + (begin < 0 ? dim : 0);
        if (index < 0 || index >= dim)
            return infer_fail(infer, "index %lld is outside dimension %u, which is %lld",
                              (long long)begin, builder->dim - 1, (long long)dim);
        builder->offset += index * in_stride;
        return true;
    }
    if (i64_list_is_set(&attrs->end_mask, i))
        end = step > 0 ? INT64_MAX : INT64_MIN;
    int64_t first, n;
    slice_bounds(dim, begin, end, step, &first, &n);
    builder->offset += first * in_stride;
    return add_dim(infer, builder, n, n > 1 ? in_stride * step : in_stride);
}

/* Checks the attributes, which are all masks. */
static bool check_masks(struct infer *infer)
{
    for (uint32_t k = 0; k < infer->op->def->n_attrs; k++) {
        const struct attr_def *attr = &attr_table[k];
        const struct i64_list *mask = (const void *)((const char *)infer->attrs + attr->offset);
        for (uint32_t i = 0; i < mask->n; i++)
            if (mask->items[i] != 0 && mask->items[i] != 1)
                return infer_fail(infer, "%s has %lld, expected 0 or 1", attr->name,
                                  (long long)mask->items[i]);
    }
    return true;
}

static bool infer(struct infer *infer)
{
    const struct strided_slice_attrs *attrs = infer->attrs;
    const struct irrun_shape *in = &infer->in[DATA]->shape;
    struct bounds bounds;
    if (!check_masks(infer) || !read_bounds(infer, &bounds))
        return false;
    uint32_t n_indexed = 0;
    for (uint32_t i = 0; i < bounds.begin.n; i++)
        n_indexed += !i64_list_is_set(&attrs->new_axis_mask, i) &&
                     !i64_list_is_set(&attrs->ellipsis_mask, i);
    if (n_indexed > in->rank)
        return infer_fail_input(infer, BEGIN, "at most %u entries that use a dimension of the data",
                                in->rank);
    struct builder builder = {0};
    move_strides(in, builder.in_strides);
    bool has_ellipsis = false;
    for (uint32_t i = 0; i < bounds.begin.n; i++) {
        bool is_done;
        if (i64_list_is_set(&attrs->ellipsis_mask, i)) {
            if (has_ellipsis)
                return infer_fail(infer, "ellipsis_mask has more than one 1");
            has_ellipsis = true;
            is_done = copy_dims(infer, &builder, in->rank - n_indexed);
        } else if (i64_list_is_set(&attrs->new_axis_mask, i)) {
            is_done = add_dim(infer, &builder, 1, 0);
        } else {
            is_done = index_dim(infer, &builder, &bounds, i);
        }
        if (!is_done)
            return false;
    }
    if (!copy_dims(infer, &builder, in->rank - builder.dim) ||
        !infer_output(infer, 0, infer->in[DATA]->dtype, &builder.out))
        return false;
    move_plan(infer->state, builder.out.rank, builder.out.dims, builder.strides, builder.offset);
    return true;
}

MOVE_OP(op_strided_slice, "StridedSlice", 1, OP_INPUTS(inputs), infer,
        OP_ATTRS(attr_table, struct strided_slice_attrs));
