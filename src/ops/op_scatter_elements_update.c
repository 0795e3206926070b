/* ScatterElementsUpdate-3 and -12: the data in which each update replaces, or is combined with, the
 * element that its index names along the axis.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "ops/scatter.h"

enum { DATA, INDICES, UPDATES, AXIS };

struct scatter_elements_attrs {
    int reduction; /* index into reductions */
    bool use_init_val;
};

static const enum scatter_reduction reductions[] = {SCATTER_NONE, SCATTER_SUM, SCATTER_PROD,
                                                    SCATTER_MIN,  SCATTER_MAX, SCATTER_MEAN};

struct scatter_elements_state {
    struct element_indices indices;
    enum scatter_reduction reduction;
    bool keeps_data; /* a combination starts with the data, else with the first update */
};

static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct scatter_elements_attrs, reduction, "none", "none|sum|prod|min|max|mean"),
    ATTR(struct scatter_elements_attrs, use_init_val, "true"),
    ATTR_END,
};

static const struct op_input_def any_inputs[] = {
    {"data", .types = TYPES_ANY, .same = 1},
    {"indices", .types = TYPES_INTEGER},
    {"updates", .types = TYPES_ANY, .same = 1},
    {"axis", .types = TYPES_INTEGER},
    {.name = NULL},
};
static const struct op_input_def number_inputs[] = {
    {"data", .types = TYPES_NUMBER | TYPES_BOOLEAN, .same = 1},
    {"indices", .types = TYPES_INTEGER},
    {"updates", .types = TYPES_NUMBER | TYPES_BOOLEAN, .same = 1},
    {"axis", .types = TYPES_INTEGER},
    {.name = NULL},
};

static bool infer(struct infer *infer)
{
    struct scatter_elements_state *state = infer->state;
    int64_t axis = 0;
    if (!infer_int(infer, AXIS, &axis) ||
        !element_indices_plan(infer, INDICES, axis, &state->indices))
        return false;
    if (!shape_equals(&infer->in[UPDATES]->shape, &infer->in[INDICES]->shape)) {
        infer_fail_input(infer, UPDATES, "the shape of the indices");
        return infer_hint_input(infer, INDICES);
    }
    state->keeps_data = true;
    if (infer->op->def->attrs_size > 0) {
        const struct scatter_elements_attrs *attrs = infer->attrs;
        state->reduction = reductions[attrs->reduction];
        state->keeps_data = attrs->use_init_val || state->reduction == SCATTER_NONE;
    }
    if (state->reduction == SCATTER_MEAN && infer->in[DATA]->dtype == IRRUN_BOOLEAN)
        return infer_fail_input(infer, DATA, "numbers: there is no mean of booleans");
    return infer_output(infer, 0, infer->in[DATA]->dtype, &infer->in[DATA]->shape);
}

/* The offsets of the updates; then, where first updates or numbers of updates matter, a count an
 * element of the output. */
static bool prepare(struct prepare *prepare)
{
    const struct scatter_elements_state *state = prepare->state;
    int64_t n = shape_n_elements(&prepare->in[INDICES]->shape);
    if (!state->keeps_data || state->reduction == SCATTER_MEAN)
        if (!checked_add_i64(n, shape_n_elements(&prepare->out[0]->shape), &n))
            return fail_memory(prepare->err, SIZE_MAX);
    return scratch_array(prepare, n, sizeof(int64_t));
}

/* Divides the element by n; integers are rounded down. */
static void divide(enum irrun_dtype dtype, void *element, int64_t n)
{
    if (dtype_is_float(dtype)) {
        double quotient = element_as_f64(dtype, element, 0) / (double)n;
        convert_elements(IRRUN_F64, &quotient, dtype, element, 1);
    } else if (dtype_is_signed(dtype)) {
        int64_t sum = element_as_i64(dtype, element, 0);
        int64_t quotient = sum / n - (sum % n < 0);
        convert_elements(IRRUN_I64, &quotient, dtype, element, 1);
    } else {
        uint64_t sum;
        convert_elements(dtype, element, IRRUN_U64, &sum, 1);
        sum /= (uint64_t)n;
        convert_elements(IRRUN_U64, &sum, dtype, element, 1);
    }
}

/* Updates one after the other, with counts[i] of those that met element i of the output. */
static void combine(const struct step *step, binary_fn *fn, const int64_t *offsets, size_t n,
                    int64_t *counts)
{
    const struct scatter_elements_state *state = step->state;
    enum irrun_dtype dtype = step->in[DATA]->dtype;
    size_t size = dtype_size(dtype), n_out = (size_t)shape_n_elements(&step->out[0]->shape);
    for (size_t i = 0; i < n_out; i++)
        counts[i] = state->keeps_data;
    for (size_t k = 0; k < n; k++) {
        int64_t *count = &counts[(size_t)offsets[k] / size];
        scatter_apply(*count == 0 ? NULL : fn, (const char *)step->in[UPDATES]->data + k * size, 1,
                      1, size, step->out[0]->data, &offsets[k]);
        ++*count;
    }
    if (state->reduction != SCATTER_MEAN)
        return;
    for (size_t i = 0; i < n_out; i++)
        if (counts[i] > 1)
            divide(dtype, (char *)step->out[0]->data + i * size, counts[i]);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct scatter_elements_state *state = step->state;
    enum irrun_dtype dtype = step->in[DATA]->dtype;
    size_t n = (size_t)shape_n_elements(&step->in[INDICES]->shape);
    int64_t *offsets = step->scratch;
    if (!element_indices_resolve(step, &state->indices, offsets, err))
        return false;
    binary_fn *fn = scatter_function(state->reduction, dtype);
    scatter_begin(step);
    if (!state->keeps_data || state->reduction == SCATTER_MEAN)
        combine(step, fn, offsets, n, offsets + n);
    else
        scatter_apply(fn, step->in[UPDATES]->data, n, 1, dtype_size(dtype), step->out[0]->data,
                      offsets);
    return true;
}

#define SCATTER_ELEMENTS_OP(object, opset_, inputs_, ...)                                          \
    const struct op_def object = {.type = "ScatterElementsUpdate",                                 \
                                  .opset = opset_,                                                 \
                                  .inputs = inputs_,                                               \
                                  .n_outputs = 1,                                                  \
                                  .state_size = sizeof(struct scatter_elements_state),             \
                                  .infer = infer,                                                  \
                                  .prepare = prepare,                                              \
                                  .run = run,                                                      \
                                  __VA_ARGS__}

SCATTER_ELEMENTS_OP(op_scatter_elements_update_v3, 3, any_inputs, .opset_last = 11,
                    .flags = OP_MOVES);
SCATTER_ELEMENTS_OP(op_scatter_elements_update_v12, 12, number_inputs, .attrs = attr_table,
                    .attrs_size = sizeof(struct scatter_elements_attrs));
