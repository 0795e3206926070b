/* Makes the text that identifies the run of a checkpoint: one line each for the version, the model,
 * its weights, the engine, every input, and every option that changes the outputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/checkpoint.h"
#include "cli/diff.h"
#include "cli/sequence.h"

/* Returns whether an option changes the outputs. All other options may differ when a run
 * resumes. */
static bool changes_outputs(enum option_id id)
{
    static const enum option_id without_effect[] = {
        OPTION_ID_checkpoint, OPTION_ID_checkpoint_every, OPTION_ID_timeout,
        OPTION_ID_warmup,     OPTION_ID_threads,          OPTION_ID_jobs,
        OPTION_ID_fsync,      OPTION_ID_line_buffer,      OPTION_ID_state_out,
        OPTION_ID_raw_check,  OPTION_ID_skip_existing,    OPTION_ID_state_any_model,
        OPTION_ID_max_memory, OPTION_ID_sandbox};
    for (size_t i = 0; i < sizeof without_effect / sizeof without_effect[0]; i++)
        if (without_effect[i] == id)
            return false;
    return option_rows[id].group != OPTION_MEASURING && option_rows[id].group != OPTION_ACTIONS;
}

static bool fail_format(const struct format_spec *spec, struct irrun_error *err)
{
    const struct format *format;
    fail(err, IRRUN_USAGE,
         "--checkpoint: an output must be \"none:\" or a file in one of the formats");
    for (size_t i = 0; (format = format_at(i)); i++)
        if (format->can_pause && format->write_endings[0])
            fail_append(err, " %s", format->name);
    return fail_append(err, ", not %s:%s", spec->format->name, spec->path);
}

bool checkpoint_check(const struct options *options, struct irrun_error *err)
{
    if (!options->checkpoint_path)
        return true;
    if (sequences_are_many(options))
        return fail(err, IRRUN_USAGE, "--checkpoint works with one sequence only");
    if (!OPTIONS_EXCLUDE(options, "checkpoint", err, OPTION_ID_concat, OPTION_ID_expect,
                         OPTION_ID_tap_all, OPTION_ID_tap_records))
        return false;
    if (options->diff_reference && !diff_runs_model(options))
        return fail(err, IRRUN_USAGE, "--checkpoint and --diff=FILE cannot be used together");
    for (size_t i = 0; i < options->outputs.n; i++) {
        const struct format_spec *spec = &options->outputs.items[i].spec;
        if (!spec->format->can_pause || strcmp(spec->path, "-") == 0)
            return fail_format(spec, err);
    }
    return options->outputs.n > 0 || options->emit == EMIT_NONE || options->report_path ||
           fail(err, IRRUN_USAGE, "--checkpoint: outputs must go to files, not to standard output");
}

static bool add_input_file(struct text *text, const char *path, struct irrun_error *err)
{
    struct stat status;
    if (strcmp(path, "-") == 0)
        return fail(err, IRRUN_USAGE, "--checkpoint: inputs cannot come from standard input");
    if (stat(path, &status) != 0) /* opening the file later reports the error */
        return true;
    if (!S_ISREG(status.st_mode))
        return fail(err, IRRUN_USAGE, "--checkpoint: input %s is not a regular file", path);
    text_add(text, "input %s %lld %lld.%09ld\n", path, (long long)status.st_size,
             (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    return true;
}

bool checkpoint_identify(const struct model_identity *model, const struct irrun_session *session,
                         const struct options *options, char **identity, struct irrun_error *err)
{
    struct irrun_session_info session_info;
    struct text text = {0};
    irrun_session_describe(session, &session_info);
    text_add(&text, "irrun-checkpoint/3 irrun %s\n", irrun_version());
    text_add(&text, "model xml=%s\nweights bin=%s%s\n", model->xml, model->bin, model->time);
    text_add(&text, "engine %s, %s, %s, %s\n", session_info.simd, session_info.gemm,
             irrun_build()->blas, irrun_build()->compiler);
    bool is_done = !options->state_in || add_input_file(&text, options->state_in, err);
    for (size_t i = 0; i < options->inputs.n && is_done; i++)
        is_done = options->inputs.items[i].spec.format->is_generated ||
                  add_input_file(&text, options->inputs.items[i].spec.path, err);
    for (size_t i = 0; i < options->given.n; i++) {
        const struct given_option *given = &options->given.items[i];
        if (changes_outputs(given->id))
            text_add(&text, "option --%s=%s\n", option_rows[given->id].name, given->value);
    }
    *identity = text.data;
    if (is_done && text_check(&text, err))
        return true;
    text_free(&text);
    *identity = NULL;
    return false;
}
