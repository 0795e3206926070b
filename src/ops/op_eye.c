/* Eye-9: matrices with ones on one diagonal.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ops/indexing.h"

enum { NUM_ROWS, NUM_COLUMNS, DIAGONAL_INDEX, BATCH_SHAPE };

struct eye_attrs {
    enum irrun_dtype output_type;
};

static const struct attr_def attr_table[] = {ATTR(struct eye_attrs, output_type, NULL)};

static const struct op_input_def inputs[] = {
    {"num_rows", .types = TYPES_INTEGER},
    {"num_columns", .types = TYPES_INTEGER},
    {"diagonal_index", .types = TYPES_INTEGER},
    {"batch_shape", .types = TYPES_INTEGER, .is_optional = true},
};

static bool infer(struct infer *infer)
{
    enum irrun_dtype dtype = ((const struct eye_attrs *)infer->attrs)->output_type;
    struct i64_list batch = {0};
    struct irrun_shape out = {0};
    if (!(TYPES_ANY & TYPE_BIT(dtype)))
        return infer_fail(infer, "output_type is %s, expected a number", irrun_dtype_name(dtype));
    if (infer->n_inputs > BATCH_SHAPE && !infer_ints(infer, BATCH_SHAPE, &batch))
        return false;
    if (batch.n > IRRUN_MAX_RANK - 2)
        return infer_fail_input(infer, BATCH_SHAPE, "at most %d numbers", IRRUN_MAX_RANK - 2);
    for (uint32_t i = 0; i < batch.n; i++)
        out.dims[out.rank++] = batch.items[i];
    for (uint32_t i = NUM_ROWS; i <= NUM_COLUMNS; i++)
        if (!infer_int(infer, i, &out.dims[out.rank++]))
            return false;
    if (shape_n_elements(&infer->in[DIAGONAL_INDEX]->shape) != 1)
        return infer_fail_input(infer, DIAGONAL_INDEX, "one integer");
    return infer_output(infer, 0, dtype, &out);
}

/* Prepares the state, which is a list of one index. */
static bool prepare(struct prepare *prepare)
{
    return index_list_prepare(prepare, DIAGONAL_INDEX, 1, NULL, prepare->state);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    struct irrun_tensor *out = step->out[0];
    int64_t diagonal = *index_list_get(step, step->state, err);
    int64_t n_rows = out->shape.dims[out->shape.rank - 2];
    int64_t n_columns = out->shape.dims[out->shape.rank - 1];
    size_t size = dtype_size(out->dtype), n_bytes = tensor_n_bytes(out);
    const float one = 1;
    unsigned char element[8];
    convert_elements(IRRUN_F32, &one, out->dtype, element, 1);
    if (n_bytes == 0)
        return true;
    memset(out->data, 0, n_bytes);
    int64_t first = diagonal < 0 ? (diagonal < -n_rows ? n_rows : -diagonal) : 0;
    for (size_t matrix = 0; matrix < n_bytes; matrix += (size_t)(n_rows * n_columns) * size)
        for (int64_t row = first; row < n_rows && diagonal < n_columns - row; row++)
            memcpy((char *)out->data + matrix + (size_t)(row * n_columns + row + diagonal) * size,
                   element, size);
    return true;
}

const struct op_def op_eye = {
    .type = "Eye",
    .opset = 9,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct eye_attrs),
    .state_size = sizeof(struct index_list),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};
