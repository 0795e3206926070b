/* Runs the iterations of TensorIterator and Loop. An iteration overwrites the values of the body's
 * plan, so values for the next iteration are copied to one of two sets of buffers, in turn. In all
 * functions, `outer` holds the values of the op's inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/body_loop.h"

#include <string.h>

#include "base/checked.h"

/* ---- one iteration ---- */

/* Sets input k of the body to its slice for the iteration, which is a view if it is contiguous. */
static bool set_slice(const struct loop_state *state, uint32_t k, struct irrun_tensor *whole,
                      int64_t iteration, struct irrun_error *err)
{
    const struct loop_param *param = &state->params[k];
    struct irrun_tensor *in = &state->in[k];
    struct loop_buffer *buffer = &state->slices[k];
    int64_t at = param->is_reverse ? param->first - (iteration + 1) * param->part
                                   : param->first + iteration * param->part;
    int64_t length = whole->shape.dims[param->axis];
    if (at < 0 || param->part > length - at)
        return fail_at(err, IRRUN_DATA, state->place,
                       "iteration %lld reads past the end of input %u: axis %u has length %lld",
                       (long long)iteration, param->input, param->axis, (long long)length);
    struct irrun_shape shape = whole->shape;
    shape.dims[param->axis] = param->part;
    if (shape_product(&whole->shape, 0, param->axis) == 1) {
        size_t row = (size_t)shape_product(&whole->shape, param->axis + 1, whole->shape.rank);
        *in = (struct irrun_tensor){whole->dtype, shape,
                                    (unsigned char *)whole->data +
                                        (size_t)at * row * dtype_size(whole->dtype)};
        return true;
    }
    if (!loop_buffer_reserve(buffer, whole->dtype, &shape, state->arena, err))
        return false;
    piece_copy(whole, param->axis, at, &buffer->tensor, false);
    *in = buffer->tensor;
    return true;
}

static void set_iteration(const struct loop_state *state, int64_t iteration,
                          struct irrun_tensor *in)
{
    if (in->dtype == IRRUN_I32) {
        int32_t number = (int32_t)iteration;
        memcpy(state->iteration, &number, sizeof number);
    } else {
        *state->iteration = iteration;
    }
    in->data = state->iteration;
}

static bool set_inputs(const struct loop_state *state, struct irrun_tensor *const *outer,
                       int64_t iteration, struct irrun_error *err)
{
    for (uint32_t k = 0; k < state->n_params; k++) {
        const struct loop_param *param = &state->params[k];
        struct irrun_tensor *in = &state->in[k];
        switch (param->source) {
        case LOOP_SLICED:
            if (!set_slice(state, k, outer[param->input], iteration, err))
                return false;
            break;
        case LOOP_MERGED:
            *in = iteration == 0 ? *outer[param->input] : state->merged[iteration & 1][k].tensor;
            break;
        case LOOP_ITERATION:
            set_iteration(state, iteration, in);
            break;
        default:
            *in = *outer[param->input];
        }
    }
    return true;
}

/* Copies the results that are inputs of the next iteration. */
static bool keep_merged(const struct loop_state *state, int64_t iteration, struct irrun_error *err)
{
    for (uint32_t k = 0; k < state->n_params; k++) {
        if (state->params[k].source != LOOP_MERGED)
            continue;
        const struct irrun_tensor *from = runner_output(state->runner, state->params[k].result);
        struct loop_buffer *to = &state->merged[(iteration + 1) & 1][k];
        if (!loop_buffer_reserve(to, from->dtype, &from->shape, state->arena, err))
            return false;
        tensor_copy(&to->tensor, from);
    }
    return true;
}

/* Returns the slice that an iteration adds to a concatenated output. A 0-D value becomes [1]. */
static struct irrun_tensor as_piece(const struct irrun_tensor *value)
{
    struct irrun_tensor piece = *value;
    if (piece.shape.rank == 0)
        piece.shape = (struct irrun_shape){.rank = 1, .dims = {1}};
    return piece;
}

/* Stores the slice of a concatenated output: in the output if it is allocated, otherwise after the
 * slices kept so far. */
static bool keep_piece(const struct loop_state *state, uint32_t k, struct irrun_tensor *out,
                       int64_t iteration, int64_t n_iterations, struct irrun_error *err)
{
    const struct loop_output *output = &state->outputs[k];
    struct irrun_tensor piece = as_piece(runner_output(state->runner, output->result));
    if (out) {
        int64_t index = output->is_reverse ? n_iterations - 1 - iteration : iteration;
        piece_copy(out, output->axis, index * piece.shape.dims[output->axis], &piece, true);
        return true;
    }
    struct loop_buffer *kept = &state->kept[k];
    size_t size_bytes = tensor_n_bytes(&piece), offset, wanted;
    if (iteration > 0 && !shape_equals(&kept->tensor.shape, &piece.shape))
        return fail_at(err, IRRUN_DATA, state->place,
                       "output %u changes its shape in iteration %lld", k, (long long)iteration);
    if (!checked_mul(size_bytes, (size_t)iteration, &offset) ||
        !checked_add(offset, size_bytes, &wanted))
        return fail_memory(err, SIZE_MAX);
    if (wanted > kept->capacity_bytes || !kept->tensor.data) {
        size_t capacity = 2 * wanted;
        void *grown = arena_alloc(state->arena, capacity, err);
        if (!grown)
            return false;
        if (offset > 0)
            memcpy(grown, kept->tensor.data, offset);
        kept->tensor.data = grown;
        kept->capacity_bytes = capacity;
    }
    if (size_bytes > 0)
        memcpy((unsigned char *)kept->tensor.data + offset, piece.data, size_bytes);
    kept->tensor.dtype = piece.dtype;
    kept->tensor.shape = piece.shape;
    return true;
}

/* Sets *continues to the execution condition that the body has computed, or true if it has none. */
static bool read_condition(const struct loop_state *state, bool *continues, struct irrun_error *err)
{
    *continues = true;
    if (state->condition_result == NO_ID)
        return true;
    const struct irrun_tensor *condition = runner_output(state->runner, state->condition_result);
    if (condition->dtype != IRRUN_BOOLEAN || shape_n_elements(&condition->shape) != 1) {
        const struct graph *body = state->body->graph;
        const struct op *result = &body->ops[body->results[state->condition_result]];
        char text[SHAPE_TEXT_BYTES];
        return fail_at(err, IRRUN_DATA, op_place(body, result),
                       "the execution condition of a body is %s %s, expected one boolean",
                       irrun_dtype_name(condition->dtype), shape_format(&condition->shape, text));
    }
    *continues = *(const unsigned char *)condition->data != 0;
    return true;
}

/* Runs the iterations. If `out` is NULL, the outputs are not allocated yet, and their slices are
 * kept. */
static bool run_iterations(const struct loop_state *state, struct irrun_tensor *const *outer,
                           struct irrun_tensor *const *out, int64_t n_iterations, bool condition,
                           int64_t *n_done, struct irrun_error *err)
{
    *n_done = 0;
    bool continues = condition;
    for (int64_t iteration = 0; continues && (n_iterations < 0 || iteration < n_iterations);
         iteration++) {
        if (!set_inputs(state, outer, iteration, err) ||
            !runner_run(state->runner, state->in_pointers, err))
            return false;
        for (uint32_t k = 0; k < state->n_outputs; k++)
            if (state->outputs[k].is_concatenated &&
                !keep_piece(state, k, out ? out[k] : NULL, iteration, n_iterations, err))
                return false;
        if (!keep_merged(state, iteration, err) || !read_condition(state, &continues, err))
            return false;
        *n_done = iteration + 1;
    }
    return true;
}

/* Returns the value of an output that is not concatenated: the result of the last iteration, or,
 * without any iteration, the initial value (NULL if there is none). */
static const struct irrun_tensor *last_value(const struct loop_state *state, uint32_t k,
                                             struct irrun_tensor *const *outer, int64_t n_done)
{
    uint32_t result = state->outputs[k].result;
    if (n_done > 0)
        return runner_output(state->runner, result);
    uint32_t param = state->param_of_result[result];
    return param == NO_ID ? NULL : outer[state->params[param].input];
}

/* ---- shapes ---- */

/* Infers the types and shapes of the body's results in the first iteration. */
static bool infer_body(struct infer *infer, struct loop_state *state, struct irrun_tensor *results,
                       bool *is_known)
{
    for (uint32_t k = 0; k < state->n_params; k++) {
        const struct loop_param *param = &state->params[k];
        if (param->source == LOOP_ITERATION)
            continue;
        bool is_constant =
            param->source == LOOP_INVARIANT && body_has_constant(infer, param->input);
        if (!body_describe_input(infer, param->input, is_constant, &state->in[k]))
            return false;
        if (param->source == LOOP_SLICED)
            state->in[k].shape.dims[param->axis] = param->part;
    }
    return runner_infer(state->runner, state->in_pointers, results, is_known, infer->err);
}

/* Returns whether the values passed from iteration to iteration keep their shape. */
static bool is_stable(const struct loop_state *state, const struct irrun_tensor *results)
{
    for (uint32_t k = 0; k < state->n_params; k++) {
        const struct loop_param *param = &state->params[k];
        if (param->source == LOOP_MERGED &&
            !shape_equals(&results[param->result].shape, &state->in[k].shape))
            return false;
    }
    return true;
}

static bool has_concatenation(const struct loop_state *state)
{
    for (uint32_t k = 0; k < state->n_outputs; k++)
        if (state->outputs[k].is_concatenated)
            return true;
    return false;
}

/* Sets the type and the shape of output k from those of its result in one iteration. */
static bool shape_output(struct infer *infer, struct loop_state *state, uint32_t k,
                         const struct irrun_tensor *result, int64_t n_iterations)
{
    struct loop_output *output = &state->outputs[k];
    struct irrun_tensor *out = &infer->out[k];
    out->dtype = result->dtype;
    out->shape = output->is_concatenated ? as_piece(result).shape : result->shape;
    if (!output->is_concatenated)
        return true;
    if (!loop_axis(infer, output->map, out->shape.rank, &output->axis))
        return false;
    int64_t *dim = &out->shape.dims[output->axis];
    if (*dim != output->map->part_size)
        return infer_fail(
            infer, "output %u: part_size is %lld (line %u), but a piece has %lld along axis %u", k,
            (long long)output->map->part_size, output->map->line, (long long)*dim, output->axis);
    if (!checked_mul_i64(*dim, n_iterations, dim))
        return infer_fail(infer, "output %u is too large", k);
    return true;
}

/* Returns the declared type of output k; IRRUN_DYNAMIC if it is unknown. */
static enum irrun_dtype declared_dtype(const struct infer *infer, const struct loop_state *state,
                                       uint32_t k, const struct irrun_tensor *results)
{
    uint32_t result = state->outputs[k].result, param = state->param_of_result[result];
    if (state->n_kept > 0)
        return runner_output_dtype(state->runner, result);
    if (results[result].dtype == IRRUN_DYNAMIC && param != NO_ID)
        return infer->in[state->params[param].input]->dtype;
    return results[result].dtype;
}

/* Runs the iterations because the shapes depend on their results. */
static bool run_to_infer(struct infer *infer, struct loop_state *state, bool condition,
                         struct irrun_tensor *results)
{
    struct arena *arena = infer->arena;
    struct irrun_tensor **outer = body_get_values(infer);
    if (!outer)
        return false;
    state->arena = arena;
    if (!run_iterations(state, outer, NULL, state->n_iterations, condition, &state->n_kept,
                        infer->err))
        return false;
    for (uint32_t k = 0; k < state->n_outputs; k++) {
        struct loop_buffer *kept = &state->kept[k];
        if (state->outputs[k].is_concatenated && state->n_kept > 0)
            continue;
        const struct irrun_tensor *value =
            state->outputs[k].is_concatenated ? NULL : last_value(state, k, outer, state->n_kept);
        const struct irrun_tensor *like = value ? value : &results[state->outputs[k].result];
        if (!loop_buffer_reserve(kept, body_dtype(like->dtype), &like->shape, arena, infer->err))
            return false;
        if (value)
            tensor_copy(&kept->tensor, value);
    }
    state->arena = NULL;
    state->ran_in_infer = true;
    for (uint32_t k = 0; k < state->n_outputs; k++) {
        struct irrun_tensor result = state->kept[k].tensor;
        enum irrun_dtype declared = declared_dtype(infer, state, k, results);
        result.dtype = declared == IRRUN_DYNAMIC ? result.dtype : declared;
        if (!shape_output(infer, state, k, &result, state->n_kept))
            return false;
    }
    return true;
}

bool loop_infer(struct infer *infer, struct loop_state *state, bool is_exact, bool condition)
{
    struct irrun_tensor *results =
        arena_alloc_array(infer->arena, state->n_results, sizeof *results, infer->err);
    bool is_known;
    if (!results || !infer_body(infer, state, results, &is_known))
        return false;
    int64_t n_iterations = condition ? state->n_iterations : 0;
    if (is_known && is_stable(state, results) &&
        ((is_exact && n_iterations >= 0) || n_iterations == 0 || !has_concatenation(state))) {
        for (uint32_t k = 0; k < state->n_outputs; k++)
            if (!shape_output(infer, state, k, &results[state->outputs[k].result], n_iterations))
                return false;
        return true;
    }
    return run_to_infer(infer, state, condition, results);
}

/* ---- prepare and run ---- */

static bool reserve_like(struct loop_buffer *buffer, const struct irrun_tensor *like,
                         struct prepare *prepare)
{
    return loop_buffer_reserve(buffer, like->dtype, &like->shape, prepare->arena, prepare->err);
}

bool loop_prepare(struct prepare *prepare)
{
    struct loop_state *state = prepare->state;
    for (uint32_t k = 0; !state->ran_in_infer && k < state->n_params; k++) {
        const struct loop_param *param = &state->params[k];
        if (param->source == LOOP_SLICED &&
            !reserve_like(&state->slices[k], &state->in[k], prepare))
            return false;
        if (param->source == LOOP_MERGED &&
            (!reserve_like(&state->merged[0][k], &state->in[k], prepare) ||
             !reserve_like(&state->merged[1][k], &state->in[k], prepare)))
            return false;
    }
    return true;
}

/* Copies the results of the iterations that infer has run. */
static void copy_kept(const struct loop_state *state, struct irrun_tensor *const *out)
{
    for (uint32_t k = 0; k < state->n_outputs; k++) {
        const struct loop_output *output = &state->outputs[k];
        struct irrun_tensor piece = state->kept[k].tensor;
        if (!output->is_concatenated) {
            tensor_copy(out[k], &piece);
            continue;
        }
        size_t size_bytes = state->n_kept > 0 ? tensor_n_bytes(&piece) : 0;
        for (int64_t iteration = 0; iteration < state->n_kept; iteration++) {
            int64_t index = output->is_reverse ? state->n_kept - 1 - iteration : iteration;
            piece_copy(out[k], output->axis, index * piece.shape.dims[output->axis], &piece, true);
            piece.data = (unsigned char *)piece.data + size_bytes;
        }
    }
}

bool loop_run(const struct step *step, struct irrun_error *err, int64_t n_iterations,
              bool condition)
{
    const struct loop_state *state = step->state;
    if (state->ran_in_infer) {
        copy_kept(state, step->out);
        return true;
    }
    int64_t n_done;
    if (!run_iterations(state, step->in, step->out, n_iterations, condition, &n_done, err))
        return false;
    for (uint32_t k = 0; k < state->n_outputs; k++) {
        if (state->outputs[k].is_concatenated)
            continue;
        const struct irrun_tensor *value = last_value(state, k, step->in, n_done);
        if (value)
            tensor_copy(step->out[k], value);
        else if (tensor_n_bytes(step->out[k]) > 0)
            memset(step->out[k]->data, 0, tensor_n_bytes(step->out[k]));
    }
    return true;
}
