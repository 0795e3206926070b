/* Finds the first element of the outputs that is not finite, and the operand that caused it.
 *
 * The outputs of an op are checked before the next op runs, so an operand that is not finite is a
 * Parameter, a constant or a variable. If it is a Parameter of a body, the op that runs the body
 * continues the search in its own graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/finite_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define VALUE_TEXT_BYTES (SHAPE_TEXT_BYTES + 16)
#define N_BLOCK 256

/* The kinds of values to find. */
enum { NONFINITE_NAN = 1, NONFINITE_INF = 2 };

static unsigned kind_of(double value)
{
    return isnan(value) ? NONFINITE_NAN : isinf(value) ? NONFINITE_INF : 0;
}

static unsigned model_kinds(const struct model *model)
{
    return model->allows_inf ? NONFINITE_NAN : NONFINITE_NAN | NONFINITE_INF;
}

static unsigned element_kind(const struct irrun_tensor *tensor, size_t element)
{
    return kind_of(element_as_f64(tensor->dtype, tensor->data, element));
}

/* Finds the first element of one of the kinds, from element `first` on and before `end`. Returns
 * false if there is none, or if the tensor has no data. */
static bool find_nonfinite(const struct irrun_tensor *tensor, size_t first, size_t end,
                           unsigned kinds, size_t *element)
{
    size_t size_bytes = dtype_size(tensor->dtype);
    double values[N_BLOCK];
    if (!dtype_is_float(tensor->dtype) || !tensor->data)
        return false;
    for (size_t start = first; start < end; start += N_BLOCK) {
        size_t n_block = end - start < N_BLOCK ? end - start : N_BLOCK;
        convert_elements(tensor->dtype, (const char *)tensor->data + start * size_bytes, IRRUN_F64,
                         values, n_block);
        for (size_t i = 0; i < n_block; i++) {
            *element = start + i;
            if ((kind_of(values[i]) & kinds) != 0)
                return true;
        }
    }
    return false;
}

/* Describes an element: "nan at [0,3]". */
static void describe(const struct irrun_tensor *tensor, size_t element, char text[VALUE_TEXT_BYTES])
{
    double value = element_as_f64(tensor->dtype, tensor->data, element);
    struct irrun_shape place = shape_unravel(&tensor->shape, element);
    char where[SHAPE_TEXT_BYTES];
    snprintf(text, VALUE_TEXT_BYTES, "%s at %s",
             isnan(value) ? "nan"
             : value > 0  ? "inf"
                          : "-inf",
             shape_format(&place, where));
}

/* ---- Where a value comes from ---------------------------------------------------------------- */

/* A value that no step has written: elements first … end - 1 of a slot. */
struct source {
    const struct slot *slot; /* NULL: a step has written the value */
    size_t first, end;
};

/* Finds the source of a value through views and outer plans. */
static struct source find_source(const struct plan *plan, uint32_t value)
{
    size_t n = (size_t)shape_n_elements(&plan->slots[value].tensor.shape), offset, total;
    const struct slot *slot = &plan->slots[plan_owner(plan, value, &total)];
    while (slot->kind == SLOT_OUTER) {
        plan = plan->outer;
        slot = &plan->slots[plan_owner(plan, slot->index, &offset)];
        total += offset;
    }
    size_t size_bytes = dtype_size(slot->tensor.dtype), first = size_bytes ? total / size_bytes : 0;
    bool is_written = slot->kind == SLOT_BLOCK || slot->kind == SLOT_NONE;
    return (struct source){is_written ? NULL : slot, first, first + n};
}

static bool find_in_source(const struct source *source, unsigned kinds, size_t *element)
{
    return source->slot &&
           find_nonfinite(&source->slot->tensor, source->first, source->end, kinds, element);
}

/* Returns the index of the element of an operand that is broadcast to `element` of the output;
 * SIZE_MAX if the shapes do not broadcast. */
static size_t broadcast_element(const struct irrun_shape *operand, const struct irrun_shape *output,
                                size_t element)
{
    size_t index = 0, stride = 1;
    if (operand->rank > output->rank)
        return SIZE_MAX;
    for (uint32_t i = output->rank, k = operand->rank; k-- > 0;) {
        size_t length = (size_t)output->dims[--i], own = (size_t)operand->dims[k];
        if (own != length && own != 1)
            return SIZE_MAX;
        index += own == 1 ? 0 : element % length * stride;
        stride *= own;
        element /= length;
    }
    return index;
}

/* The cause of a failed op. */
struct cause {
    uint32_t input; /* index of the input of the op */
    const struct slot *slot;
    size_t element;
    unsigned score; /* higher is more likely; 0: not a cause */
};

/* Finds whether input k of the step may have caused `element` of the output `out`. Prefers an
 * operand of the same kind (NaN or infinite), and a Parameter to a constant or a variable. */
static struct cause score_input(const struct plan *plan, const struct step *step, uint32_t k,
                                const struct irrun_tensor *out, size_t element)
{
    struct cause cause = {.input = k};
    const struct source source = find_source(plan, op_input(step->graph, step->op, k));
    unsigned kind = element_kind(out, element), kinds = model_kinds(plan->request.model);
    if (!find_in_source(&source, kind, &cause.element) &&
        !find_in_source(&source, kinds, &cause.element))
        return cause;
    cause.slot = source.slot;
    size_t operand_element = (step->op->def->flags & OP_ELEMENTWISE) != 0
                                 ? broadcast_element(&step->in[k]->shape, &out->shape, element)
                                 : SIZE_MAX;
    if (operand_element != SIZE_MAX)
        cause.element = source.first + operand_element;
    unsigned found = element_kind(&cause.slot->tensor, cause.element) & kinds;
    if (found != 0)
        cause.score = 1U + (found == kind ? 2U : 0U) + (cause.slot->kind == SLOT_INPUT ? 1U : 0U);
    return cause;
}

static struct cause find_cause(const struct plan *plan, const struct step *step,
                               const struct irrun_tensor *out, size_t element)
{
    struct cause best = {.score = 0};
    for (uint32_t k = 0; k < step->op->n_inputs; k++) {
        const struct cause cause = score_input(plan, step, k, out, element);
        if (cause.score > best.score)
            best = cause;
    }
    return best;
}

/* Reports the input of the model that holds the value, instead of the failed op. */
static bool fail_input(const struct plan *plan, const struct slot *slot, size_t element,
                       struct irrun_error *err)
{
    const struct graph *graph = plan->request.graph;
    const struct op *parameter = &graph->ops[graph->parameters[slot->index]];
    const struct irrun_error failure = *err;
    char text[VALUE_TEXT_BYTES];
    describe(&slot->tensor, element, text);
    error_clear(err);
    fail_at(err, IRRUN_MISMATCH, op_place(graph, parameter), "input \"%s\" holds %s",
            parameter->name, text);
    return failure.code != IRRUN_OK &&
           fail_hint(err, "first seen in line %" PRIu32 ": %s", failure.line, failure.message);
}

/* Reports an input of the model as the cause. Only records a Parameter of a body: the op that runs
 * the body continues the search. */
static bool blame_parameter(struct runner *runner, const struct plan *plan, const struct slot *slot,
                            size_t element, struct irrun_error *err)
{
    if (!runner->is_body)
        return fail_input(plan, slot, element, err);
    runner->session->failed_body = runner->graph;
    runner->session->failed_parameter = slot->index;
    runner->session->failed_kind = element_kind(&slot->tensor, element);
    return false;
}

bool finite_blame(struct runner *runner, const struct plan *plan, const struct op *op,
                  struct irrun_error *err)
{
    struct irrun_session *session = runner->session;
    const struct graph *body = session->failed_body;
    session->failed_body = NULL;
    for (uint32_t b = 0; b < op->n_bodies && body && err->code == IRRUN_MISMATCH; b++) {
        for (uint32_t i = 0; i < op->bodies[b].n_inputs && op->bodies[b].graph == body; i++) {
            const struct port_map *map = &op->bodies[b].inputs[i];
            size_t element;
            if (map->external < 0 ||
                map->internal_id != body->parameters[session->failed_parameter])
                continue;
            const struct source source =
                find_source(plan, op_input(runner->graph, op, (uint32_t)map->external));
            if (find_in_source(&source, session->failed_kind, &element) &&
                source.slot->kind == SLOT_INPUT)
                return blame_parameter(runner, plan, source.slot, element, err);
        }
    }
    return false;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Returns the step to report. For a conversion before an op with one input, this is the op that
 * computes the converted value. */
static struct step reported_step(const struct step *step)
{
    struct step copy = *step;
    if (!step->state && step->op->n_inputs == 1)
        copy.op = value_producer(step->graph, op_input(step->graph, step->op, 0));
    return copy;
}

static bool fail_step(struct runner *runner, const struct plan *plan, const struct step *step,
                      uint32_t output, size_t element, struct irrun_error *err)
{
    const struct irrun_tensor *out = step->out[output];
    const struct step reported = reported_step(step);
    char text[VALUE_TEXT_BYTES];
    const struct cause cause =
        step->state ? find_cause(plan, step, out, element) : (struct cause){.score = 0};
    describe(out, element, text);
    step_fail(&reported, err, IRRUN_MISMATCH, "output %u is %s", output, text);
    runner->session->failed_body = NULL;
    if (cause.score == 0)
        return false;
    const struct op *source =
        value_producer(step->graph, op_input(step->graph, step->op, cause.input));
    describe(&cause.slot->tensor, cause.element, text);
    fail_hint(err, "its input %u, %s \"%s\" (line %" PRIu32 "), holds %s", cause.input,
              source->def->type, source->name, source->line, text);
    return cause.slot->kind == SLOT_INPUT &&
           blame_parameter(runner, plan, cause.slot, cause.element, err);
}

static bool check_step(struct runner *runner, const struct plan *plan, const struct step *step,
                       struct irrun_error *err)
{
    unsigned kinds = model_kinds(runner->session->model);
    bool is_widening = !step->state && step->n_inputs == 1 && dtype_is_half(step->in[0]->dtype);
    if (is_widening) /* the value was not finite before the conversion either */
        return true;
    for (uint32_t k = 0; k < step->n_outputs; k++) {
        size_t element;
        size_t n = (size_t)shape_n_elements(&step->out[k]->shape);
        if (find_nonfinite(step->out[k], 0, n, kinds, &element))
            return fail_step(runner, plan, step, k, element, err);
    }
    return true;
}

bool finite_run(struct runner *runner, const struct plan *plan, const struct step *steps,
                uint32_t n_steps, struct irrun_error *err)
{
    for (const struct step *step = steps, *end = steps + n_steps; step < end; step++) {
        if (!step->flat.run(step, err))
            return finite_blame(runner, plan, step->op, err);
        if (!check_step(runner, plan, step, err))
            return false;
    }
    return true;
}

bool finite_check_results(const struct plan *plan, struct irrun_error *err)
{
    const struct graph *graph = plan->request.graph;
    for (uint32_t i = 0; i < graph->n_results; i++) {
        if (plan->results[i] == NO_ID)
            continue;
        const struct source source = find_source(plan, plan->results[i]);
        size_t element;
        if (!find_in_source(&source, model_kinds(plan->request.model), &element))
            continue;
        if (source.slot->kind == SLOT_INPUT)
            return fail_input(plan, source.slot, element, err);
        const struct op *result = &graph->ops[graph->results[i]];
        const struct step step = {.graph = graph,
                                  .op = value_producer(graph, op_input(graph, result, 0))};
        char text[VALUE_TEXT_BYTES];
        describe(&source.slot->tensor, element, text);
        return step_fail(&step, err, IRRUN_MISMATCH, "its output, a constant, is %s", text);
    }
    return true;
}
