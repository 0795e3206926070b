/* IsFinite-10, IsInf-10 and IsNaN-10: a row each.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/float_class.h"
#include "ops/op.h"

struct is_inf_attrs {
    bool detect_negative, detect_positive;
};

static const struct attr_def is_inf_attr_table[] = {
    ATTR(struct is_inf_attrs, detect_negative, "true"),
    ATTR(struct is_inf_attrs, detect_positive, "true"),
    ATTR_END,
};

static const struct op_input_def inputs[] = {{"data", .types = TYPES_FLOAT}, {.name = NULL}};

static bool infer(struct infer *infer)
{
    return infer_output(infer, 0, IRRUN_BOOLEAN, &infer->in[0]->shape);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    unsigned classes = *(const unsigned *)step->op->def->family;
    if (step->op->def->attrs_size > 0) {
        const struct is_inf_attrs *attrs = step->op->attrs;
        classes &= attrs->detect_negative ? ~0u : ~(unsigned)FLOAT_MINUS_INFINITY;
        classes &= attrs->detect_positive ? ~0u : ~(unsigned)FLOAT_PLUS_INFINITY;
    }
    float_class_scalar(step->in[0]->dtype, step->in[0]->data, step->out[0]->data,
                       (size_t)shape_n_elements(&step->out[0]->shape), classes);
    return true;
}

#define CLASS_OP(object, type_, classes, ...)                                                      \
    const struct op_def object = {.type = type_,                                                   \
                                  .opset = 10,                                                     \
                                  .inputs = inputs,                                                \
                                  .n_outputs = 1,                                                  \
                                  .family = &(const unsigned){classes},                            \
                                  .infer = infer,                                                  \
                                  .run = run,                                                      \
                                  __VA_ARGS__}

CLASS_OP(op_is_finite, "IsFinite", FLOAT_FINITE, );
CLASS_OP(op_is_inf, "IsInf", FLOAT_PLUS_INFINITY | FLOAT_MINUS_INFINITY, .attrs = is_inf_attr_table,
         .attrs_size = sizeof(struct is_inf_attrs));
CLASS_OP(op_is_nan, "IsNaN", FLOAT_NAN, );
