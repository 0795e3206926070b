/* TensorIterator-1: runs the body once for each slice of the sliced inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/body_loop.h"

static bool infer(struct infer *infer)
{
    struct loop_state *state = infer->state;
    if (!loop_bind(infer, state))
        return false;
    for (uint32_t k = 0; k < state->n_params; k++) {
        int64_t n_iterations;
        if (state->params[k].source != LOOP_SLICED)
            continue;
        if (!loop_count_slices(infer, &state->params[k], &n_iterations))
            return false;
        if (state->n_iterations >= 0 && state->n_iterations != n_iterations)
            return infer_fail_input(infer, state->params[k].input,
                                    "%lld slices like another input, not %lld",
                                    (long long)state->n_iterations, (long long)n_iterations);
        state->n_iterations = n_iterations;
    }
    if (state->n_iterations < 0)
        return infer_fail(infer, "has no sliced input, so the number of iterations is not known");
    for (uint32_t k = 0; k < state->n_outputs; k++)
        if (state->outputs[k].is_concatenated &&
            !loop_check_pieces(infer, &state->outputs[k], state->n_iterations))
            return false;
    return loop_infer(infer, state, true, true);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct loop_state *state = step->state;
    return loop_run(step, err, state->n_iterations, true);
}

static const struct op_input_def inputs[] = {
    {.name = "inputs", .types = TYPES_ANY, .is_optional = true, .is_repeated = true},
};

const struct op_def op_tensor_iterator = {
    .type = "TensorIterator",
    .opset = 1,
    OP_INPUTS(inputs),
    .n_outputs = OUTPUTS_LISTED,
    .state_size = sizeof(struct loop_state),
    .infer = infer,
    .prepare = loop_prepare,
    .run = run,
};
