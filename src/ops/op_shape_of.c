/* ShapeOf-1 and -3: return the dimensions of the input as a list of i64; version 3 also allows i32.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/indexing.h"

struct shape_of_attrs {
    enum irrun_dtype output_type;
};

static const struct attr_def attr_table[] = {ATTR(struct shape_of_attrs, output_type, "i64")};

static bool infer(struct infer *infer)
{
    enum irrun_dtype dtype = IRRUN_I64;
    if (infer->op->def->attrs)
        dtype = ((const struct shape_of_attrs *)infer->attrs)->output_type;
    struct irrun_shape out = shape_of(1, (int64_t[]){infer->in[0]->shape.rank});
    return infer_index_type(infer, "output_type", dtype) && infer_output(infer, 0, dtype, &out);
}

static void run(const struct step *step)
{
    const struct irrun_shape *shape = &step->in[0]->shape;
    convert_elements(IRRUN_I64, shape->dims, step->out[0]->dtype, step->out[0]->data, shape->rank);
}

#define SHAPE_OF_OP(object, opset_, ...)                                                           \
    const struct op_def object = {.type = "ShapeOf",                                               \
                                  .opset = opset_,                                                 \
                                  .flags = OP_DATA_MOVEMENT | OP_SHAPES_ONLY,                      \
                                  OP_ONE_INPUT("data", TYPES_ANY),                                 \
                                  .infer = infer,                                                  \
                                  .compute = run,                                                  \
                                  __VA_ARGS__}

SHAPE_OF_OP(op_shape_of_v1, 1, .opset_last = 2);
SHAPE_OF_OP(op_shape_of_v3, 3, OP_ATTRS(attr_table, struct shape_of_attrs));
