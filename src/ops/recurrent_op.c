/* Infers, prepares and runs the recurrent ops. kernels/recurrent_*.c contains the loops;
 * recurrent_attrs.c reads the attributes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/recurrent_op.h"

#include <stdio.h>

#include "base/checked.h"
#include "ops/indexing.h"

/* The sizes that the shapes of all inputs must match. */
struct sizes {
    int64_t batch, n_steps, input_size, hidden_size, n_directions;
    int64_t gates, biases; /* multiples of hidden_size */
};

/* An expected dimension of an input, and its meaning. */
struct dimension {
    int64_t size;
    const char *meaning;
};

/* Formats the expected shape of a weight: "[1,512,80] = [directions, 4 * hidden_size, input size of
 * X]". */
static void format_dimensions(char *text, size_t size_bytes, const struct dimension *dimensions,
                              uint32_t n)
{
    int length = snprintf(text, size_bytes, "[");
    for (uint32_t i = 0; i < n; i++)
        length += snprintf(text + length, size_bytes - (size_t)length, "%s%lld", i ? "," : "",
                           (long long)dimensions[i].size);
    length += snprintf(text + length, size_bytes - (size_t)length, "] = [");
    for (uint32_t i = 0; i < n; i++)
        length += snprintf(text + length, size_bytes - (size_t)length, "%s%s", i ? ", " : "",
                           dimensions[i].meaning);
    snprintf(text + length, size_bytes - (size_t)length, "]");
}

static bool check_shape(struct infer *infer, uint32_t input, const struct dimension *dimensions,
                        uint32_t n)
{
    const struct irrun_shape *shape = &infer->in[input]->shape;
    bool fits = shape->rank == n;
    uint32_t wrong = 0;
    char expected[512];
    for (uint32_t i = n; fits && i-- > 0;)
        if (shape->dims[i] != dimensions[i].size)
            wrong = i + 1;
    if (fits && wrong == 0)
        return true;
    format_dimensions(expected, sizeof expected, dimensions, n);
    if (!fits)
        return infer_fail_input(infer, input, "%s", expected);
    return infer_fail_input(infer, input, "%s: dimension %u, %s, differs", expected, wrong - 1,
                            dimensions[wrong - 1].meaning);
}

/* Checks the shape of a weight: the directions (in a sequence), then one or two more dimensions. */
static bool check_weight(struct infer *infer, const struct sizes *sizes, uint32_t input,
                         struct dimension rows, struct dimension columns)
{
    struct dimension dimensions[3];
    uint32_t n = 0;
    if (input >= infer->n_inputs)
        return true;
    if (recurrent_family_of(infer->op)->is_sequence)
        dimensions[n++] = (struct dimension){sizes->n_directions, "directions"};
    dimensions[n++] = rows;
    if (columns.meaning != NULL)
        dimensions[n++] = columns;
    return check_shape(infer, input, dimensions, n);
}

static bool check_weights(struct infer *infer, const struct sizes *sizes)
{
    const struct recurrent_family *family = recurrent_family_of(infer->op);
    static const char *const meanings[] = {
        [1] = "hidden_size", [3] = "3 gates * hidden_size", [4] = "4 gates * hidden_size"};
    const struct dimension none = {0};
    struct dimension gates = {sizes->gates * sizes->hidden_size, meanings[sizes->gates]};
    struct dimension biases = {sizes->biases * sizes->hidden_size, meanings[sizes->biases]};
    struct dimension peepholes = {3 * sizes->hidden_size, "3 * hidden_size"};
    struct dimension inputs = {sizes->input_size, "input size of X"};
    struct dimension hidden = {sizes->hidden_size, "hidden_size"};
    if (sizes->biases > sizes->gates)
        biases.meaning = "4 * hidden_size, for linear_before_reset";
    return check_weight(infer, sizes, family->w, gates, inputs) &&
           check_weight(infer, sizes, family->r, gates, hidden) &&
           check_weight(infer, sizes, family->b, biases, none) &&
           check_weight(infer, sizes, family->p, peepholes, none);
}

static bool check_states(struct infer *infer, const struct sizes *sizes)
{
    const struct recurrent_family *family = recurrent_family_of(infer->op);
    struct dimension batch = {sizes->batch, "batch of X"};
    struct dimension state[3];
    uint32_t n = 0;
    state[n++] = batch;
    if (family->is_sequence)
        state[n++] = (struct dimension){sizes->n_directions, "directions"};
    state[n++] = (struct dimension){sizes->hidden_size, "hidden_size"};
    return check_shape(infer, family->h0, state, n) &&
           (family->c0 == NO_INPUT || check_shape(infer, family->c0, state, n)) &&
           (family->lengths == NO_INPUT || check_shape(infer, family->lengths, &batch, 1));
}

static bool read_sizes(struct infer *infer, const struct recurrent *recurrent, struct sizes *sizes)
{
    const struct recurrent_attrs *attrs = infer->attrs;
    const struct recurrent_family *family = recurrent_family_of(infer->op);
    const struct irrun_shape *x = &infer->in[family->x]->shape;
    int64_t rows;
    if (x->rank != (family->is_sequence ? 3 : 2))
        return infer_fail_input(infer, family->x, "[%s, input size]",
                                family->is_sequence ? "batch, time" : "batch");
    sizes->batch = x->dims[0];
    sizes->n_steps = family->is_sequence ? x->dims[1] : 1;
    sizes->input_size = x->dims[x->rank - 1];
    sizes->hidden_size = attrs->hidden_size;
    sizes->n_directions = (int64_t)recurrent->n_directions;
    sizes->gates = (int64_t)recurrent_n_gates(recurrent);
    sizes->biases = (int64_t)recurrent_n_biases(recurrent);
    if (sizes->hidden_size < 1 || !checked_mul_i64(sizes->hidden_size, 4, &rows))
        return infer_fail(infer, "hidden_size is %lld, expected a size of at least 1",
                          (long long)sizes->hidden_size);
    return true;
}

static void set_outputs(struct infer *infer, const struct sizes *sizes)
{
    const struct recurrent_family *family = recurrent_family_of(infer->op);
    int64_t y[] = {sizes->batch, sizes->n_directions, sizes->n_steps, sizes->hidden_size};
    for (uint32_t i = 0; i < infer->n_outputs; i++) {
        infer->out[i].dtype = infer->in[family->x]->dtype;
        infer->out[i].shape =
            family->is_sequence && i == 0 ? shape_of(4, y) : infer->in[family->h0]->shape;
    }
}

/* Rejects missing R or B, and lengths that are not integers. The input tables allow them only so
 * that the legacy form of LSTMSequence-1 can be reported. */
static bool refuse_legacy(struct infer *infer)
{
    const struct recurrent_family *family = recurrent_family_of(infer->op);
    if (infer->n_inputs == family->r) {
        infer_fail(
            infer,
            "has five inputs, like the legacy LSTMSequence of 2020 with W and R concatenated, "
            "which irrun does not support; expected X, initial_hidden_state, "
            "initial_cell_state, sequence_lengths, W, R, B, and optionally P");
        infer->err->code = IRRUN_UNSUPPORTED;
        return false;
    }
    if (family->lengths != NO_INPUT && infer->n_inputs == family->b)
        return infer_fail(infer, "has %u inputs, expected %u or %u: B is missing", infer->n_inputs,
                          family->b + 1, family->b + 2);
    return family->lengths == NO_INPUT || dtype_is_integer(infer->in[family->lengths]->dtype) ||
           infer_fail_input(infer, family->lengths, "an integer type");
}

bool recurrent_infer(struct infer *infer)
{
    struct recurrent_state *state = infer->state;
    struct recurrent *recurrent = &state->f32.common;
    struct sizes sizes;
    if (!refuse_legacy(infer) || !recurrent_read_attrs(infer, recurrent) ||
        !read_sizes(infer, recurrent, &sizes) || !check_states(infer, &sizes) ||
        !check_weights(infer, &sizes))
        return false;
    recurrent->batch = (size_t)sizes.batch;
    recurrent->n_steps = (size_t)sizes.n_steps;
    recurrent->input_size = (size_t)sizes.input_size;
    recurrent->hidden_size = (size_t)sizes.hidden_size;
    set_outputs(infer, &sizes);
    return true;
}

static bool prepare_f32(struct prepare *prepare)
{
    struct recurrent_state *state = prepare->state;
    state->n_runs = arena_alloc(prepare->arena, sizeof *state->n_runs, prepare->err);
    return state->n_runs &&
           (prepare->prepacked != 0 ? recurrent_prepack(prepare) : recurrent_lay_out(prepare));
}

/* Checks the lengths and converts them to size_t. */
static bool read_lengths(const struct step *step, uint32_t input, size_t *lengths,
                         struct irrun_error *err)
{
    const struct recurrent_state *state = step->state;
    const struct recurrent *common = &state->f32.common;
    const struct irrun_tensor *tensor = step->in[input];
    for (size_t b = 0; b < common->batch; b++) {
        int64_t length = element_as_i64(tensor->dtype, tensor->data, b);
        if (length < 0 || (uint64_t)length > common->n_steps)
            return step_fail(step, err, IRRUN_DATA,
                             "sequence_lengths[%zu] (of batch element %zu) is %lld, outside "
                             "0 ... %zu, the number of time steps of X",
                             b, b, (long long)length, common->n_steps);
        lengths[b] = (size_t)length;
    }
    return true;
}

static bool read_constant_lengths(struct prepare *prepare, uint32_t input)
{
    struct recurrent_state *state = prepare->state;
    const struct recurrent *common = &state->f32.common;
    const struct step step = prepare_step(prepare);
    size_t *lengths =
        arena_alloc_array(prepare->arena, common->batch, sizeof *lengths, prepare->err);
    if (!lengths || !read_lengths(&step, input, lengths, prepare->err))
        return false;
    for (size_t b = 0; b < common->batch; b++)
        if (lengths[b] != common->n_steps)
            state->lengths = lengths;
    return true;
}

static bool prepare_lengths(struct prepare *prepare)
{
    struct recurrent_state *state = prepare->state;
    uint32_t input = recurrent_family_of(prepare->op)->lengths;
    if (input == NO_INPUT)
        return true;
    if (prepare_is_constant(prepare, input))
        return read_constant_lengths(prepare, input);
    state->reads_lengths = true;
    if (!checked_mul(state->f32.common.batch, sizeof(size_t), &state->lengths_bytes) ||
        state->lengths_bytes > PTRDIFF_MAX)
        return fail_memory(prepare->err, SIZE_MAX);
    state->lengths_bytes = align_to_line(state->lengths_bytes);
    return true;
}

bool recurrent_prepare(struct prepare *prepare)
{
    struct recurrent_state *state = prepare->state;
    const struct recurrent *common = &state->f32.common;
    const struct recurrent_family *family = recurrent_family_of(prepare->op);
    bool is_f64 = prepare->in[family->x]->dtype == IRRUN_F64;
    if (!prepare_lengths(prepare) || (!is_f64 && !prepare_f32(prepare)))
        return false;
    return prepare_scratch(prepare, 1, state->lengths_bytes) &&
           prepare_scratch(prepare, 1, state->packs_bytes) &&
           prepare_scratch(prepare, 1,
                           is_f64 ? recurrent_f64_scratch_bytes(common) : state->f32.scratch_bytes);
}

/* Returns the data. For an empty tensor without data, returns a valid address, so that pointer
 * arithmetic is defined. */
static void *data_of(const struct irrun_tensor *tensor)
{
    static double nowhere;
    return tensor->data != NULL ? tensor->data : &nowhere;
}

static void *input_data(const struct step *step, uint32_t i)
{
    return i < step->n_inputs ? data_of(step->in[i]) : NULL;
}

static void *output_data(const struct step *step, uint32_t i)
{
    return i < step->n_outputs ? data_of(step->out[i]) : NULL;
}

/* The tensors of a step, for f32 or f64: both structs have the same fields. */
#define STEP_TENSORS(type, step, family, first_state, lengths_)                                    \
    (struct type)                                                                                  \
    {                                                                                              \
        .x = input_data(step, (family)->x), .h0 = input_data(step, (family)->h0),                  \
        .c0 = input_data(step, (family)->c0), .lengths = (lengths_),                               \
        .w = input_data(step, (family)->w), .r = input_data(step, (family)->r),                    \
        .b = input_data(step, (family)->b), .p = input_data(step, (family)->p),                    \
        .y = (family)->is_sequence ? output_data(step, 0) : NULL,                                  \
        .ho = output_data(step, first_state), .co = output_data(step, (first_state) + 1),          \
    }

/* Copies the states, for a cell over time that has no time steps. */
static bool copy_states(const struct step *step)
{
    const struct recurrent_family *family = recurrent_family_of(step->op);
    for (uint32_t i = 1; i < step->n_outputs; i++)
        tensor_copy(step->out[i], step->in[i == 1 ? family->h0 : family->c0]);
    return true;
}

bool recurrent_run(const struct step *step, struct irrun_error *err)
{
    const struct recurrent_family *family = recurrent_family_of(step->op);
    const struct recurrent_state *state = step->state;
    uint32_t first_state = family->is_sequence ? 1 : 0;
    const size_t *lengths = state->lengths;
    if (state->f32.common.batch == 0)
        return true;
    if (family->lengths == NO_INPUT && state->f32.common.n_steps == 0)
        return copy_states(step);
    if (state->reads_lengths) {
        lengths = step->scratch;
        if (!read_lengths(step, family->lengths, step->scratch, err))
            return false;
    }
    unsigned char *scratch = (unsigned char *)step->scratch + state->lengths_bytes;
    if (state->route == RECURRENT_F64) {
        recurrent_f64_run(&state->f32.common,
                          &STEP_TENSORS(recurrent_f64_tensors, step, family, first_state, lengths),
                          scratch);
        return true;
    }
    const struct recurrent_f32_tensors tensors =
        STEP_TENSORS(recurrent_f32_tensors, step, family, first_state, lengths);
    if (state->route == RECURRENT_PREPACKED) {
        recurrent_f32_run(&state->f32, &tensors, scratch, state->n_runs, step->pool);
    } else {
        const struct recurrent_f32 engine = recurrent_pack_now(state, &tensors, scratch);
        recurrent_f32_run(&engine, &tensors, scratch + state->packs_bytes, state->n_runs,
                          step->pool);
    }
    return true;
}
