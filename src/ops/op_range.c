/* Range-1 and -4: start, start + step, … up to stop, which is excluded.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ops/op.h"

enum { START, STOP, STEP };

#define BLOCK 256 /* elements computed at a time as i64 or f64, before conversion */

struct range_attrs {
    enum irrun_dtype output_type;
};

struct range_state {
    bool is_integer;
    int64_t start_i64, step_i64;
    double start_f64, step_f64;
};

static const struct attr_def attr_table[] = {ATTR(struct range_attrs, output_type, NULL)};

#define INPUTS(same_)                                                                              \
    {                                                                                              \
        {"start", .types = TYPES_NUMBER, .same = same_},                                           \
            {"stop", .types = TYPES_NUMBER, .same = same_},                                        \
            {"step", .types = TYPES_NUMBER, .same = same_},                                        \
    }
static const struct op_input_def v1_inputs[] = INPUTS(1);
static const struct op_input_def v4_inputs[] = INPUTS(0);

static bool count_integers(int64_t start, int64_t stop, int64_t step, int64_t *n)
{
    uint64_t distance =
        step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    bool is_empty = step > 0 ? stop <= start : stop >= start;
    uint64_t count = is_empty ? 0 : 1 + (distance - 1) / stride;
    *n = (int64_t)count;
    return count <= INT64_MAX;
}

static bool count_floats(double start, double stop, double step, int64_t *n)
{
    double count = ceil((stop - start) / step);
    if (!(count < 0x1p62))
        return false;
    *n = count > 0 ? (int64_t)count : 0;
    return true;
}

static bool infer(struct infer *infer)
{
    struct range_state *state = infer->state;
    enum irrun_dtype dtype = infer->in[START]->dtype;
    if (infer->op->def->attrs)
        dtype = ((const struct range_attrs *)infer->attrs)->output_type;
    if (!(TYPES_NUMBER & TYPE_BIT(dtype)))
        return infer_fail(infer, "output_type is %s, expected a number", irrun_dtype_name(dtype));
    const struct irrun_tensor *value[3];
    for (uint32_t i = 0; i < 3; i++) {
        if (shape_n_elements(&infer->in[i]->shape) != 1)
            return infer_fail_input(infer, i, "one number");
        value[i] = infer_value(infer, i);
        if (!value[i])
            return false;
    }
    int64_t whole[3], n = 0;
    double number[3];
    for (uint32_t i = 0; i < 3; i++) {
        whole[i] = element_as_i64(value[i]->dtype, value[i]->data, 0);
        number[i] = element_as_f64(value[i]->dtype, value[i]->data, 0);
    }
    *state = (struct range_state){dtype_is_integer(dtype), whole[START], whole[STEP], number[START],
                                  number[STEP]};
    if (state->is_integer ? whole[STEP] == 0 : !(number[STEP] < 0 || number[STEP] > 0))
        return infer_fail_input(infer, STEP, "a step other than 0");
    if (!(state->is_integer ? count_integers(whole[START], whole[STOP], whole[STEP], &n)
                            : count_floats(number[START], number[STOP], number[STEP], &n)))
        return infer_fail(infer,
                          "from %g to %g by %g is not a finite range, or has too many elements",
                          number[START], number[STOP], number[STEP]);
    struct irrun_shape out = shape_of(1, &n);
    return infer_output(infer, 0, dtype, &out);
}

static void run(const struct step *step)
{
    const struct range_state *state = step->state;
    struct irrun_tensor *out = step->out[0];
    size_t n = (size_t)shape_n_elements(&out->shape);
    union {
        int64_t whole[BLOCK];
        double number[BLOCK];
    } block;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t n_now = n - i < BLOCK ? n - i : BLOCK;
        for (size_t k = 0; k < n_now; k++) {
            if (state->is_integer)
                block.whole[k] =
                    (int64_t)((uint64_t)state->start_i64 + (i + k) * (uint64_t)state->step_i64);
            else
                block.number[k] = state->start_f64 + (double)(i + k) * state->step_f64;
        }
        convert_elements(state->is_integer ? IRRUN_I64 : IRRUN_F64, &block, out->dtype,
                         tensor_at(out, i), n_now);
    }
}

#define RANGE_OP(object, opset_, inputs_, ...)                                                     \
    const struct op_def object = {.type = "Range",                                                 \
                                  .opset = opset_,                                                 \
                                  OP_INPUTS(inputs_),                                              \
                                  .state_size = sizeof(struct range_state),                        \
                                  .infer = infer,                                                  \
                                  .compute = run,                                                  \
                                  __VA_ARGS__}

RANGE_OP(op_range_v1, 1, v1_inputs, .opset_last = 3);
RANGE_OP(op_range_v4, 4, v4_inputs, OP_ATTRS(attr_table, struct range_attrs));
