/* NonZero-3: the coordinates of the elements that are not zero, one row per dimension. A scalar is
 * treated as [1].
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/indexing.h"

struct non_zero_attrs {
    enum irrun_dtype output_type;
};

static const struct attr_def attr_table[] = {ATTR(struct non_zero_attrs, output_type, "i64")};

#define BLOCK 256 /* elements tested at a time */

/* Converts up to BLOCK elements from `first` on to booleans. Returns their number. */
static size_t read_booleans(const struct irrun_tensor *data, size_t first, uint8_t is_set[BLOCK])
{
    size_t n = (size_t)shape_n_elements(&data->shape) - first;
    n = n < BLOCK ? n : BLOCK;
    convert_elements(data->dtype, tensor_at(data, first), IRRUN_BOOLEAN, is_set, n);
    return n;
}

static bool infer(struct infer *infer)
{
    enum irrun_dtype dtype = ((const struct non_zero_attrs *)infer->attrs)->output_type;
    const struct irrun_tensor *data = infer_value(infer, 0);
    if (!data || !infer_index_type(infer, "output_type", dtype))
        return false;
    size_t n = (size_t)shape_n_elements(&data->shape);
    uint8_t is_set[BLOCK];
    int64_t dims[2] = {data->shape.rank ? data->shape.rank : 1, 0};
    for (size_t i = 0; i < n;) {
        size_t n_now = read_booleans(data, i, is_set);
        for (size_t k = 0; k < n_now; k++)
            dims[1] += is_set[k] != 0;
        i += n_now;
    }
    struct irrun_shape out = shape_of(2, dims);
    return infer_output(infer, 0, dtype, &out);
}

/* Writes the coordinates of element i as column `column`. */
static void write_column(struct irrun_tensor *out, const struct irrun_shape *shape, size_t i,
                         size_t column)
{
    size_t n_columns = (size_t)out->shape.dims[1];
    for (uint32_t row = (uint32_t)out->shape.dims[0]; row-- > 0;) {
        size_t dim = shape->rank ? (size_t)shape->dims[row] : 1;
        if (out->dtype == IRRUN_I32)
            ((int32_t *)out->data)[row * n_columns + column] = (int32_t)(i % dim);
        else
            ((int64_t *)out->data)[row * n_columns + column] = (int64_t)(i % dim);
        i /= dim;
    }
}

static void run(const struct step *step)
{
    const struct irrun_tensor *data = step->in[0];
    size_t n = (size_t)shape_n_elements(&data->shape), column = 0;
    uint8_t is_set[BLOCK];
    for (size_t i = 0; i < n;) {
        size_t n_now = read_booleans(data, i, is_set);
        for (size_t k = 0; k < n_now; k++)
            if (is_set[k])
                write_column(step->out[0], &data->shape, i + k, column++);
        i += n_now;
    }
}

const struct op_def op_non_zero = {
    .type = "NonZero",
    .opset = 3,
    OP_ONE_INPUT("data", TYPES_ANY),
    OP_ATTRS(attr_table, struct non_zero_attrs),
    .infer = infer,
    .compute = run,
};
