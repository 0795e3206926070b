/* Convert-1 and ConvertLike-1: converts the element type with convert_elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"

static const struct attr_def attr_table[] = {ATTR(struct convert_attrs, destination_type, NULL)};

static const struct op_input_def convert_like_inputs[] = {
    {"data", .types = TYPES_ANY},
    {"like", .types = TYPES_ANY},
};

static bool infer_convert(struct infer *infer)
{
    enum irrun_dtype to = ((const struct convert_attrs *)infer->attrs)->destination_type;
    if (!(TYPES_ANY & TYPE_BIT(to))) {
        infer_fail(infer, "irrun does not convert to %s", irrun_dtype_name(to));
        infer->err->code = IRRUN_UNSUPPORTED;
        return false;
    }
    return infer_output(infer, 0, to, &infer->in[0]->shape);
}

static bool infer_convert_like(struct infer *infer)
{
    return infer_output(infer, 0, infer->in[1]->dtype, &infer->in[0]->shape);
}

/* Implements op_def.views. f16 and bf16 are stored as f32, so converting to them must round and is
 * not a view. */
static bool views(const struct infer *infer, int64_t *firsts)
{
    (void)firsts;
    return infer->in[0]->dtype == infer->out[0].dtype && !dtype_is_half(infer->out[0].dtype);
}

static void run(const struct step *step)
{
    convert_elements(step->in[0]->dtype, step->in[0]->data, step->out[0]->dtype, step->out[0]->data,
                     (size_t)shape_n_elements(&step->out[0]->shape));
}

const struct op_def op_convert = {
    .type = "Convert",
    .opset = 1,
    .flags = OP_ANY_STORAGE | OP_ELEMENTWISE,
    OP_ONE_INPUT("data", TYPES_ANY),
    OP_ATTRS(attr_table, struct convert_attrs),
    .infer = infer_convert,
    .views = views,
    .compute = run,
};

const struct op_def op_convert_like = {
    .type = "ConvertLike",
    .opset = 1,
    .flags = OP_ANY_STORAGE,
    OP_INPUTS(convert_like_inputs),
    .infer = infer_convert_like,
    .views = views,
    .compute = run,
};
