/* Compares the tensors of a run with those of a reference: a second model that runs on the same
 * records, or a file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/diff_internal.h"

/* ---- The reference --------------------------------------------------------------------------- */

/* The references that are variants of the run: the same model with other options. */
static const char *const variants[] = {"scalar", "plain", "unfused", "f64"};
enum { SCALAR, PLAIN, UNFUSED, F64, N_VARIANTS };

/* Returns the index of the reference in `variants`; N_VARIANTS: a file, or no --diff. */
static size_t find_variant(const struct options *options)
{
    size_t i = 0;
    while (options->diff_reference && i < N_VARIANTS &&
           strcmp(options->diff_reference, variants[i]) != 0)
        i++;
    return options->diff_reference ? i : N_VARIANTS;
}

bool diff_runs_model(const struct options *options)
{
    return find_variant(options) < N_VARIANTS;
}

bool diff_load(const struct options *options, const struct irrun_options *model_options,
               struct irrun_model **reference, struct irrun_error *err)
{
    size_t variant = find_variant(options);
    struct irrun_options other = *model_options;
    *reference = NULL;
    if (variant == N_VARIANTS)
        return true;
    if (strcmp(options->model_path, "-") == 0)
        return fail(err, IRRUN_USAGE, "--diff=%s reads the model twice, so the model cannot be '-'",
                    options->diff_reference);
    if (variant != UNFUSED)
        other.gemm = IRRUN_GEMM_PLAIN;
    if (variant != PLAIN)
        other.keep_ops = true;
    if (variant == SCALAR)
        other.simd = "scalar";
    other.computes_f64 = variant == F64;
    other.times_ops = false;
    return irrun_model_load(options->model_path, &other, reference, err);
}

/* ---- The tensors ----------------------------------------------------------------------------- */

static bool has_name(const struct irrun_port *port, const char *name)
{
    bool is_found = strcmp(port->name, name) == 0;
    for (size_t i = 0; i < port->n_names && !is_found; i++)
        is_found = strcmp(port->names[i], name) == 0;
    return is_found;
}

/* Finds the layer that computes the tensor. An op that replaces another op keeps its name and line,
 * so the last match is used. An output of the model has the line of its Result. */
static void find_layer(const struct diff *diff, struct diff_tensor *tensor)
{
    const struct irrun_port *port = irrun_model_output(diff->model, tensor->output);
    tensor->layer = SIZE_MAX;
    tensor->line = port->line;
    for (size_t i = 0; i < diff->n_layers; i++) {
        const struct irrun_layer *layer = &diff->layers[i];
        if (layer->line != port->line || layer->path[0] != '\0')
            continue;
        if (strcmp(layer->type, "Result") == 0 && layer->n_inputs == 1) {
            tensor->layer = layer->inputs[0].layer;
            tensor->port = layer->inputs[0].port;
        }
        for (size_t k = 0; k < layer->n_outputs; k++) {
            if (!has_name(&layer->outputs[k], port->name))
                continue;
            tensor->layer = i;
            tensor->port = k;
        }
    }
    if (tensor->layer != SIZE_MAX)
        tensor->line = diff->layers[tensor->layer].line;
}

static int by_line(const void *a, const void *b)
{
    const struct diff_tensor *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->output < y->output ? -1 : x->output > y->output;
}

static bool list_tensors(struct diff *diff, struct irrun_error *err)
{
    diff->n = irrun_model_n_outputs(diff->model);
    diff->tensors = new_array(diff->n, sizeof *diff->tensors, err);
    if (!diff->tensors)
        return false;
    for (size_t i = 0; i < diff->n; i++) {
        struct diff_tensor *tensor = &diff->tensors[i];
        tensor->output = i;
        find_layer(diff, tensor);
        tensor->tolerances = tolerances_of(diff->model, diff->options, i);
    }
    return true;
}

bool diff_new(struct irrun_model *model, struct irrun_model *reference,
              const struct irrun_session *session, const struct options *options,
              struct diff **diff, struct irrun_error *err)
{
    *diff = NULL;
    if (!options->diff_reference)
        return true;
    struct diff *made = *diff = new_array(1, sizeof *made, err);
    if (!made)
        return false;
    made->model = model;
    made->options = options;
    made->session = session;
    if (!irrun_model_list_layers(model, &made->layers, &made->n_layers, err) ||
        !list_tensors(made, err) ||
        !(reference ? irrun_session_new(reference, &made->reference, err)
                    : diff_file_open(made, err)))
        return false;
    if (made->n > 0)
        qsort(made->tensors, made->n, sizeof *made->tensors, by_line);
    return true;
}

void diff_free(struct diff *diff)
{
    if (!diff)
        return;
    diff_file_close(diff);
    irrun_session_free(diff->reference);
    free(diff->tensors);
    free(diff);
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Sets a variable of the reference. With --diff=f64, converts floats to f64. */
static bool set_variable(struct diff *diff, size_t i, const struct irrun_tensor *value,
                         struct irrun_error *err)
{
    if (find_variant(diff->options) != F64 || !dtype_is_float(value->dtype))
        return irrun_session_set_variable(diff->reference, i, value, err);
    size_t n = (size_t)shape_n_elements(&value->shape);
    struct irrun_tensor wide = {IRRUN_F64, value->shape, new_array(n + 1, sizeof(double), err)};
    if (!wide.data)
        return false;
    convert_elements(value->dtype, value->data, IRRUN_F64, wide.data, n);
    bool is_set = irrun_session_set_variable(diff->reference, i, &wide, err);
    free(wide.data);
    return is_set;
}

bool diff_copy_variables(struct diff *diff, struct irrun_error *err)
{
    if (!diff || !diff->reference)
        return true;
    irrun_session_reset(diff->reference);
    for (size_t i = 0; i < irrun_model_n_variables(diff->model); i++) {
        const struct irrun_tensor *value = irrun_session_variable(diff->session, i);
        if (value && !set_variable(diff, i, value, err))
            return false;
    }
    return true;
}

static bool run_reference(struct diff *diff, struct irrun_error *err)
{
    for (size_t i = 0; i < irrun_model_n_inputs(diff->model); i++)
        if (!irrun_session_set_input(diff->reference, i, irrun_session_input(diff->session, i),
                                     err))
            return false;
    if (!irrun_session_run(diff->reference, err))
        return fail_append(err, " (in the reference)");
    for (size_t i = 0; i < diff->n; i++)
        diff->tensors[i].want = irrun_session_output(diff->reference, diff->tensors[i].output);
    return true;
}

/* A reference in f64 can be compared with every float type. */
static bool is_comparable(enum irrun_dtype got, enum irrun_dtype want)
{
    return format_stored_dtype(got) == format_stored_dtype(want) ||
           (want == IRRUN_F64 && dtype_is_float(got));
}

static bool tensor_differs(const struct diff *diff, const struct diff_tensor *tensor,
                           uint64_t record, struct difference *difference)
{
    const struct irrun_tensor *got = tensor->got, *want = tensor->want;
    *difference = (struct difference){0};
    if (!got || !want || !got->data || !want->data)
        return false;
    if (!shape_equals(&got->shape, &want->shape) || !is_comparable(got->dtype, want->dtype))
        return true;
    difference_add(difference, &tensor->tolerances, got, want, record);
    return difference_fails(difference, diff->options);
}

static bool compare_tensors(struct diff *diff, uint64_t record, struct irrun_error *err)
{
    struct difference difference;
    for (size_t i = 0; i < diff->n; i++)
        diff->tensors[i].got = irrun_session_output(diff->session, diff->tensors[i].output);
    for (size_t i = 0; i < diff->n; i++)
        if (tensor_differs(diff, &diff->tensors[i], record, &difference))
            return diff_fail(diff, &diff->tensors[i], &difference, record, err);
    return true;
}

bool diff_compare(struct diff *diff, uint64_t record, struct irrun_error *err)
{
    return !diff || ((diff->reference ? run_reference(diff, err)
                                      : diff_file_read(diff, record, false, err)) &&
                     compare_tensors(diff, record, err));
}

bool diff_finish(struct diff *diff, uint64_t n, struct irrun_error *err)
{
    return !diff || diff->reference || n == 0 ||
           (diff_file_read(diff, n - 1, true, err) && compare_tensors(diff, n - 1, err));
}
