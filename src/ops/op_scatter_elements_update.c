/* ScatterElementsUpdate-3 and -12: a copy of the data in which each update replaces, or is combined
 * with, the element that its index along the axis selects.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/index_copies.h"
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
    struct index_copies copies; /* only offsets and combine if is_counted */
    enum scatter_reduction reduction;
    bool keeps_data;  /* the reduction includes the data; false: it starts with the first update */
    size_t counts_at; /* offset of the counts in scratch memory, in bytes */
};

static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct scatter_elements_attrs, reduction, "none", "none|sum|prod|min|max|mean"),
    ATTR(struct scatter_elements_attrs, use_init_val, "true"),
};

#define INPUTS(types_)                                                                             \
    {                                                                                              \
        {"data", .types = types_, .same = 1}, {"indices", .types = TYPES_INTEGER},                 \
            {"updates", .types = types_, .same = 1}, {"axis", .types = TYPES_INTEGER},             \
    }
static const struct op_input_def any_inputs[] = INPUTS(TYPES_ANY);
static const struct op_input_def number_inputs[] = INPUTS(TYPES_NUMBER | TYPES_BOOLEAN);

static bool infer(struct infer *infer)
{
    struct scatter_elements_state *state = infer->state;
    int64_t axis = 0;
    if (!infer_int(infer, AXIS, &axis) || !element_indices_plan(infer, axis))
        return false;
    if (!shape_equals(&infer->in[UPDATES]->shape, &infer->in[INDICES]->shape)) {
        infer_fail_input(infer, UPDATES, "the shape of the indices");
        return infer_hint_input(infer, INDICES);
    }
    const struct scatter_elements_attrs *attrs = infer->attrs;
    state->reduction = reductions[attrs->reduction];
    state->keeps_data = attrs->use_init_val || state->reduction == SCATTER_NONE;
    if (state->reduction == SCATTER_MEAN && infer->in[DATA]->dtype == IRRUN_BOOLEAN)
        return infer_fail_input(infer, DATA, "numbers: booleans have no mean");
    return infer_output(infer, 0, infer->in[DATA]->dtype, &infer->in[DATA]->shape);
}

/* Returns whether run must count the updates of each element: to find the first one, or to divide
 * by their number. */
static bool is_counted(const struct scatter_elements_state *state)
{
    return !state->keeps_data || state->reduction == SCATTER_MEAN;
}

static bool prepare(struct prepare *prepare)
{
    struct scatter_elements_state *state = prepare->state;
    size_t n = (size_t)shape_n_elements(&prepare->in[INDICES]->shape);
    state->copies = (struct index_copies){
        .n_groups = 1,
        .n_outer = 1,
        .n = n,
        .piece_elements = 1,
        .combine = scatter_function(state->reduction, prepare->in[DATA]->dtype),
    };
    if (!is_counted(state))
        return index_copies_prepare(prepare, element_indices_resolve, false, &state->copies);
    if (!index_list_prepare(prepare, INDICES, n, element_indices_resolve, &state->copies.offsets))
        return false;
    state->counts_at = prepare->made.scratch_bytes;
    return prepare_scratch(prepare, (size_t)shape_n_elements(&prepare->out[0]->shape),
                           sizeof(int64_t));
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

/* Applies the updates in order. counts[i] is the number of values combined in element i of the
 * output. */
static bool run_counted(const struct step *step, struct irrun_error *err)
{
    const struct scatter_elements_state *state = step->state;
    enum irrun_dtype dtype = step->in[DATA]->dtype;
    const int64_t *offsets = index_list_get(step, &state->copies.offsets, err);
    int64_t *counts = (int64_t *)(void *)((char *)step->scratch + state->counts_at);
    size_t size = dtype_size(dtype), n_out = (size_t)shape_n_elements(&step->out[0]->shape);
    if (!offsets)
        return false;
    tensor_copy(step->out[0], step->in[0]);
    for (size_t i = 0; i < n_out; i++)
        counts[i] = state->keeps_data;
    for (size_t k = 0; k < state->copies.n; k++) {
        int64_t *count = &counts[(size_t)offsets[k] / size];
        scatter_apply(*count == 0 ? NULL : state->copies.combine,
                      (const char *)step->in[UPDATES]->data + k * size, 1, 1, size,
                      step->out[0]->data, &offsets[k]);
        ++*count;
    }
    for (size_t i = 0; i < n_out && state->reduction == SCATTER_MEAN; i++)
        if (counts[i] > 1)
            divide(dtype, (char *)step->out[0]->data + i * size, counts[i]);
    return true;
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct scatter_elements_state *state = step->state;
    if (is_counted(state))
        return run_counted(step, err);
    return index_scatter_run(step, &state->copies, err);
}

#define SCATTER_ELEMENTS_OP(object, opset_, inputs_, ...)                                          \
    const struct op_def object = {.type = "ScatterElementsUpdate",                                 \
                                  .opset = opset_,                                                 \
                                  OP_INPUTS(inputs_),                                              \
                                  .attrs_size = sizeof(struct scatter_elements_attrs),             \
                                  .state_size = sizeof(struct scatter_elements_state),             \
                                  .infer = infer,                                                  \
                                  .prepare = prepare,                                              \
                                  .run = run,                                                      \
                                  __VA_ARGS__}

SCATTER_ELEMENTS_OP(op_scatter_elements_update_v3, 3, any_inputs, .opset_last = 11,
                    .flags = OP_DATA_MOVEMENT | OP_IN_PLACE_INPUT0);
SCATTER_ELEMENTS_OP(op_scatter_elements_update_v12, 12, number_inputs, .flags = OP_IN_PLACE_INPUT0,
                    OP_ATTR_TABLE(attr_table));
