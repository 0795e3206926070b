/* Checks rules that involve several options, or the model.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/run_internal.h"
#include "cli/warning.h"

static bool is_sound(const struct binding *binding)
{
    const char *name = binding->spec.format->name;
    return strcmp(name, "wav") == 0 || strcmp(name, "s16") == 0;
}

/* Returns whether an input or output is, or may be, wav or s16. Sound has frames without --axis. */
static bool has_sound(const struct options *options)
{
    bool has_one = options->manifest_path != NULL;
    for (size_t i = 0; i < options->inputs.n; i++)
        has_one |= is_sound(&options->inputs.items[i]);
    for (size_t i = 0; i < options->outputs.n; i++)
        has_one |= is_sound(&options->outputs.items[i]);
    return has_one;
}

/* Checks --keep-columns. It copies columns of the input to the row of each record, so every record
 * must be written. */
static bool check_kept_columns(const struct irrun_model *model, const struct options *options,
                               struct irrun_error *err)
{
    if (sequences_are_many(options))
        return fail(err, IRRUN_USAGE, "--keep-columns takes one sequence");
    bool writes_csv = false, has_end = options->n_iterations != NO_LIMIT || options->duration_s > 0;
    if (!OPTIONS_EXCLUDE(options, "keep-columns", err, OPTION_ID_manifest, OPTION_ID_checkpoint,
                         OPTION_ID_concat, OPTION_ID_axis, OPTION_ID_feed))
        return false;
    for (size_t i = 0; i < options->outputs.n; i++)
        writes_csv |= strcmp(options->outputs.items[i].spec.format->name, "csv") == 0;
    if (!writes_csv) {
        fail(err, IRRUN_USAGE, "--keep-columns needs an output in csv");
        return n_default_outputs(model) > 0 &&
               fail_hint(err, "-o %s=csv:- writes one to standard output",
                         irrun_model_output(model, 0)->name);
    }
    if (options->emit == EMIT_ALL || (options->emit == EMIT_DEFAULT && !has_end))
        return true;
    fail(err, IRRUN_USAGE, "--keep-columns needs every record to be written");
    return fail_hint(err, "--emit=all writes every record");
}

bool run_check(const struct irrun_model *model, const struct options *options,
               struct irrun_error *err)
{
    bool is_reset_given = option_is_given(options, OPTION_ID_reset);
    bool wants_state = is_reset_given || options->state_in || options->state_out || options->key;
    size_t n_counted = 0;
    for (size_t i = 0; i < options->inputs.n; i++)
        n_counted += options->inputs.items[i].spec.format->is_counted;
    if (wants_state && irrun_model_n_variables(model) + options->feeds.n + n_counted == 0)
        warn(options, "%s: the model has no variable",
             is_reset_given ? "--reset"
             : options->key ? "--key"
                            : "--state-in, --state-out");
    if (options->kept && !check_kept_columns(model, options, err))
        return false;
    if (options->atols.n + options->rtols.n > 0 && options->expected.n == 0 &&
        !options->diff_reference) /* the test could not fail */
        warn(options, "--atol and --rtol are not used: there is no --expect and no --diff");
    if (option_is_given(options, OPTION_ID_checkpoint_every) && !options->checkpoint_path)
        warn(options, "--checkpoint-every is not used: there is no --checkpoint");
    if (options->tap_all_path && options->n_jobs > 1 && sequences_are_many(options))
        return fail(err, IRRUN_USAGE, "--tap-all cannot be used with --jobs");
    if (options->tap_records_path && sequences_are_many(options))
        return fail(err, IRRUN_USAGE, "--tap-records works with one sequence only");
    if (options->trace_path && strcmp(options->trace_path, "-") == 0)
        return fail(err, IRRUN_USAGE, "--trace writes a file, not standard output");
    if (options->diff_reference && !diff_runs_model(options) && sequences_are_many(options))
        return fail(err, IRRUN_USAGE, "--diff=FILE works with one sequence only");
    if (options->skips_existing && options->expected.n > 0 && sequences_are_many(options))
        return fail(err, IRRUN_USAGE,
                    "--expect compares the records of all sequences and cannot be used with "
                    "--skip-existing");
    if (options->reset.when == RESET_NEVER && sequences_are_many(options) &&
        !OPTIONS_EXCLUDE(options, "reset=never", err, OPTION_ID_keep_going,
                         OPTION_ID_skip_existing))
        return fail_hint(err, "the state would lack a sequence that is left out");
    if (options->is_paced && (options->rate_hz <= 0 || options->axes.n == 0)) {
        fail(err, IRRUN_USAGE, "--pace needs --rate and --axis");
        return fail_hint(err,
                         "--rate=16000 --axis=1:512 gives 512 of 16000 samples to each record");
    }
    if (options->is_paced && options->batch > 1)
        return fail(err, IRRUN_USAGE, "--pace and --batch cannot be used together");
    if (options->rate_hz > 0 && options->axes.n == 0 && !has_sound(options) &&
        options->inputs.n + options->randoms.n > 0) {
        fail(err, IRRUN_USAGE, "--rate counts frames along --axis, which is not given");
        return fail_hint(err, "add --axis=K; 1 is the second axis");
    }
    return true;
}

bool warn_unchecked(const struct irrun_model *model, const struct options *options)
{
    struct text inputs = {.data = NULL}, shapes = {.data = NULL};
    for (size_t i = 0; i < irrun_model_n_inputs(model); i++) {
        const struct irrun_port *port = irrun_model_input(model, i);
        const struct records_port named = {.name = port->name, .shape = port->shape};
        char shape[SHAPE_TEXT_BYTES];
        if (partial_shape_is_static(&port->shape))
            continue;
        text_add(&inputs, "%s \"%s\" is %s", inputs.length > 0 ? "," : "", port->name,
                 partial_shape_format(&port->shape, shape));
        records_add_shape_option(&named, &shapes);
    }
    bool is_open = inputs.length > 0;
    if (is_open)
        warn(options,
             "input%s: shapes, types and memory are not checked; -i, or --random with %s, sets the "
             "dimensions",
             inputs.data, shapes.data ? shapes.data : "--shape");
    text_free(&inputs);
    text_free(&shapes);
    return is_open;
}
