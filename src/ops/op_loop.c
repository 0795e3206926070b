/* Loop-5: runs the body until trip_count iterations are done (-1: no limit), or the condition that
 * the body computes is false. The condition is tested after each iteration.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/body_loop.h"
#include "ops/indexing.h"
#include "ops/op_state.h"

enum { TRIP_COUNT, EXECUTION_CONDITION };

struct loop_op_state {
    struct loop_state loop;
    struct index_list n_iterations; /* one number */
};

/* Returns the value of a boolean or number, 0-D or [1]. */
static int64_t scalar_of(const struct irrun_tensor *tensor)
{
    return element_as_i64(tensor->dtype, tensor->data, 0);
}

static bool check_scalar(struct infer *infer, uint32_t i)
{
    return shape_n_elements(&infer->in[i]->shape) == 1 ||
           infer_fail_input(infer, i, "one number, [] or [1]");
}

/* Sets *is_known to whether input i is constant for the plan, and reads the input if it is. */
static bool read_constant(struct infer *infer, uint32_t i, bool *is_known, int64_t *number)
{
    *is_known = infer->is_constant[i];
    if (!*is_known)
        return true;
    const struct irrun_tensor *value = infer_value(infer, i);
    if (!value)
        return false;
    *number = scalar_of(value);
    return true;
}

/* Returns whether the condition is always true: there is none, or it is a Const that is true, or a
 * Parameter of the body that starts as true and is not changed. */
static bool never_stops(struct infer *infer, const struct loop_state *state)
{
    if (state->condition_result == NO_ID)
        return true;
    const struct graph *body = state->body->graph;
    const struct op *result = &body->ops[body->results[state->condition_result]];
    uint32_t value_id = op_input(body, result, 0);
    const struct op *source = value_producer(body, value_id);
    if (source->def->role == ROLE_CONST) {
        const struct const_attrs *attrs = source->attrs;
        return attrs->element_type == IRRUN_BOOLEAN && shape_n_elements(&attrs->shape) == 1 &&
               body->weights->data && body->weights->data[attrs->offset] != 0;
    }
    for (uint32_t k = 0; k < state->n_params; k++) {
        const struct loop_param *param = &state->params[k];
        bool is_kept = param->source == LOOP_INVARIANT ||
                       (param->source == LOOP_MERGED && param->result == state->condition_result);
        bool is_known;
        int64_t number = 0;
        if (source == &body->ops[body->parameters[k]] && is_kept)
            return shape_n_elements(&infer->in[param->input]->shape) == 1 &&
                   read_constant(infer, param->input, &is_known, &number) && is_known &&
                   number != 0;
    }
    return false;
}

static bool infer(struct infer *infer)
{
    struct loop_state *state = &((struct loop_op_state *)infer->state)->loop;
    bool is_count_known, is_start_known;
    int64_t n_iterations = -1, starts = 1;
    if (!check_scalar(infer, TRIP_COUNT) || !check_scalar(infer, EXECUTION_CONDITION) ||
        !loop_bind(infer, state) ||
        !read_constant(infer, TRIP_COUNT, &is_count_known, &n_iterations) ||
        !read_constant(infer, EXECUTION_CONDITION, &is_start_known, &starts))
        return false;
    bool has_data = false;
    if (!is_count_known || !is_start_known) { /* use the values if both are known */
        const struct irrun_tensor *count = infer_value(infer, TRIP_COUNT);
        const struct irrun_tensor *start = infer_value(infer, EXECUTION_CONDITION);
        infer->is_value_missing = false;
        has_data = count && start;
        n_iterations = has_data ? scalar_of(count) : -1;
        starts = has_data ? scalar_of(start) != 0 : true;
    }
    state->n_iterations = n_iterations < 0 ? -1 : n_iterations;
    bool is_exact = ((is_count_known && is_start_known) || has_data) && never_stops(infer, state);
    return loop_infer(infer, state, is_exact, starts != 0);
}

static bool prepare(struct prepare *prepare)
{
    struct loop_op_state *state = prepare->state;
    return loop_prepare(prepare) &&
           index_list_prepare(prepare, TRIP_COUNT, 1, NULL, &state->n_iterations);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct loop_op_state *state = step->state;
    const int64_t *n_iterations = index_list_get(step, &state->n_iterations, err);
    return loop_run(step, err, *n_iterations, scalar_of(step->in[EXECUTION_CONDITION]) != 0);
}

static const struct op_input_def inputs[] = {
    {.name = "trip_count", .types = TYPE_BIT(IRRUN_I32) | TYPE_BIT(IRRUN_I64)},
    {.name = "execution_condition", .types = TYPES_BOOLEAN},
    {.name = "inputs", .types = TYPES_ANY, .is_optional = true, .is_repeated = true},
};

const struct op_def op_loop = {
    .type = "Loop",
    .opset = 5,
    OP_INPUTS(inputs),
    .n_outputs = OUTPUTS_LISTED,
    .state_size = sizeof(struct loop_op_state),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};
