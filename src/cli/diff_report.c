/* Reports the first op that differs: its line, its inputs, and the path along which the difference
 * grew.
 * SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/diff_internal.h"

#define MAX_STEPS 8  /* ops shown on the way to the op that differs */
#define MAX_INPUTS 6 /* inputs shown */

static const struct diff_tensor *find_tensor(const struct diff *diff,
                                             const struct irrun_layer_port *port)
{
    for (size_t i = 0; i < diff->n; i++)
        if (diff->tensors[i].layer == port->layer && diff->tensors[i].port == port->port)
            return &diff->tensors[i];
    return NULL;
}

/* Returns the largest difference in the current record, or NaN if nothing was compared. */
static double largest_difference(const struct diff_tensor *tensor)
{
    static const struct tolerances none = {.has_atol = true, .has_rtol = true};
    struct difference difference = {0};
    const struct irrun_tensor *got = tensor->got, *want = tensor->want;
    if (!got || !want || !got->data || !want->data || !shape_equals(&got->shape, &want->shape))
        return NAN;
    difference_add(&difference, &none, got, want, 0);
    return difference.n_different > 0 ? difference.worst.distance : 0;
}

static void add_tensor_line(const struct diff *diff, const struct diff_tensor *tensor,
                            struct irrun_error *err)
{
    const struct irrun_port *port = irrun_model_output(diff->model, tensor->output);
    char number[TEXT_NUMBER_BYTES];
    double distance = largest_difference(tensor);
    fail_append(err, "\n    \"%s\" (line %" PRIu32 "): ", port->name, tensor->line);
    if (isnan(distance))
        fail_append(err, "not compared");
    else if (distance == 0)
        fail_append(err, "equal");
    else {
        bool is_narrow = dtype_is_float(tensor->got->dtype) && tensor->got->dtype != IRRUN_F64;
        if (is_narrow && distance <= FLT_MAX)
            text_from_f32((float)distance, number);
        else
            text_from_f64(distance, number);
        fail_append(err, "differs by at most %s", number);
    }
}

/* Returns the input of the tensor's layer that differs most; NULL: none differs. */
static const struct diff_tensor *worst_input(const struct diff *diff,
                                             const struct diff_tensor *tensor)
{
    const struct diff_tensor *worst = NULL;
    double most = 0;
    if (tensor->layer == SIZE_MAX)
        return NULL;
    const struct irrun_layer *layer = &diff->layers[tensor->layer];
    for (size_t i = 0; i < layer->n_inputs; i++) {
        const struct diff_tensor *input = find_tensor(diff, &layer->inputs[i]);
        double distance = input ? largest_difference(input) : NAN;
        if (distance > most) {
            worst = input;
            most = distance;
        }
    }
    return worst;
}

/* Follows the inputs that differ most, from op to op, back to the first, and lists them in forward
 * order. */
static void add_path(const struct diff *diff, const struct diff_tensor *tensor,
                     struct irrun_error *err)
{
    const struct diff_tensor *path[MAX_STEPS];
    size_t n = 0;
    const struct diff_tensor *input = worst_input(diff, tensor);
    for (; input && n < MAX_STEPS; input = worst_input(diff, input))
        path[n++] = input;
    if (n < 2)
        return;
    fail_append(err, "\n  on the way there%s:", input ? " (only the last 8 operators)" : "");
    while (n-- > 0)
        add_tensor_line(diff, path[n], err);
}

static void add_inputs(const struct diff *diff, const struct diff_tensor *tensor,
                       struct irrun_error *err)
{
    const struct irrun_layer *layer = &diff->layers[tensor->layer];
    size_t n = 0;
    for (size_t i = 0; i < layer->n_inputs && n < MAX_INPUTS; i++) {
        const struct diff_tensor *input = find_tensor(diff, &layer->inputs[i]);
        if (!input)
            continue;
        if (n++ == 0)
            fail_append(err, "\n  its inputs:");
        add_tensor_line(diff, input, err);
    }
}

static bool add_hint(const struct diff *diff, const struct tolerances *tolerances,
                     struct irrun_error *err)
{
    bool has_f32 = diff->reference && strcmp(diff->options->diff_reference, "f64") != 0;
    const char *more = has_f32 ? "; if --diff=f64 passes, the difference is rounding" : "";
    return difference_hint(diff->options, tolerances->has_atol || tolerances->has_rtol, more, err);
}

bool diff_fail(const struct diff *diff, const struct diff_tensor *tensor,
               const struct difference *difference, uint64_t record, struct irrun_error *err)
{
    const struct irrun_port *port = irrun_model_output(diff->model, tensor->output);
    const struct irrun_layer *layer =
        tensor->layer == SIZE_MAX ? NULL : &diff->layers[tensor->layer];
    const struct irrun_port *origin = layer ? &layer->outputs[tensor->port] : port;
    const struct place place = {diff->options->model_path, origin->line, origin->column};
    char got[SHAPE_TEXT_BYTES], want[SHAPE_TEXT_BYTES];
    fail_at(err, IRRUN_MISMATCH, place, "%s \"%s\" differs from %s in record %" PRIu64 ": ",
            layer ? layer->type : "tensor", port->name, diff->options->diff_reference, record);
    if (difference->n_elements == 0)
        fail_append(err, "it is %s %s, expected %s %s", irrun_dtype_name(tensor->got->dtype),
                    shape_format(&tensor->got->shape, got), irrun_dtype_name(tensor->want->dtype),
                    shape_format(&tensor->want->shape, want));
    else
        difference_describe(difference, &tensor->tolerances, err);
    if (layer) {
        add_inputs(diff, tensor, err);
        add_path(diff, tensor, err);
    }
    if (layer && strcmp(layer->type, "Parameter") == 0)
        return fail_hint(err, "the inputs differ: give both runs the same -i");
    return difference->n_elements > 0 && add_hint(diff, &tensor->tolerances, err);
}
