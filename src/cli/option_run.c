/* The options of the run, of measuring and of actions: option_set_<id>.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/option_parts.h"

/* ---- Running --------------------------------------------------------------------------------- */

bool option_set_iterations(struct options *options, const char *value, struct irrun_error *err)
{
    options->has_iterations = true;
    return option_parse_count("iterations", value, &options->n_iterations, err);
}

static bool parse_positive(const char *option, const char *value, double *number,
                           struct irrun_error *err)
{
    bool is_number = text_to_f64(value, strlen(value), number) && isfinite(*number);
    return (is_number && *number > 0) ||
           fail(err, IRRUN_USAGE, "--%s: '%s' is no number above 0", option, value);
}

bool option_set_duration(struct options *options, const char *value, struct irrun_error *err)
{
    options->has_duration = true;
    return parse_positive("duration", value, &options->duration_s, err);
}

bool option_set_timeout(struct options *options, const char *value, struct irrun_error *err)
{
    return parse_positive("timeout", value, &options->timeout_s, err);
}

bool option_set_reset(struct options *options, const char *value, struct irrun_error *err)
{
    struct reset_policy *reset = &options->reset;
    int64_t every;
    options->is_reset_given = true;
    reset->text = value ? value : "iteration";
    if (!value || strcmp(value, "iteration") == 0) {
        reset->when = RESET_ITERATION;
    } else if (strcmp(value, "sequence") == 0) {
        reset->when = RESET_SEQUENCE;
    } else if (strcmp(value, "never") == 0) {
        reset->when = RESET_NEVER;
    } else if (strncmp(value, "if:", 3) == 0 && value[3] != '\0') {
        reset->when = RESET_IF;
        reset->name = value + 3;
    } else if (text_to_i64(value, strlen(value), &every) && every > 0) {
        reset->when = RESET_EVERY;
        reset->every = (uint64_t)every;
    } else {
        fail(err, IRRUN_USAGE, "--reset: '%s' does not say when", value);
        return fail_hint(err, "never, sequence, iteration, if:NAME, or a number from 1 up");
    }
    return true;
}

bool option_set_reset_to(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"init", "state"};
    size_t index;
    if (!option_choose_word("reset-to", value, words, sizeof words / sizeof words[0], &index, err))
        return false;
    options->resets_to_state = index == 1;
    return true;
}

bool option_set_state_in(struct options *options, const char *value, struct irrun_error *err)
{
    return option_set_npz("state-in", value, &options->state_in, err);
}

bool option_set_state_out(struct options *options, const char *value, struct irrun_error *err)
{
    return option_set_npz("state-out", value, &options->state_out, err);
}

bool option_set_state_any_model(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->takes_any_state = true;
    return true;
}

bool option_set_checkpoint(struct options *options, const char *value, struct irrun_error *err)
{
    options->checkpoint_path = value;
    return *value || fail(err, IRRUN_USAGE, "--checkpoint needs the name of a file");
}

bool option_set_checkpoint_every(struct options *options, const char *value,
                                 struct irrun_error *err)
{
    return option_parse_count("checkpoint-every", value, &options->checkpoint_every, err) &&
           (options->checkpoint_every > 0 ||
            fail(err, IRRUN_USAGE, "--checkpoint-every: '%s' is no number from 1 up", value));
}

bool option_set_denormals(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"keep", "flush"};
    size_t index;
    if (!option_choose_word("denormals", value, words, sizeof words / sizeof words[0], &index, err))
        return false;
    options->flushes_denormals = index == 1;
    return true;
}

bool option_set_max_memory(struct options *options, const char *value, struct irrun_error *err)
{
    return option_parse_count("max-memory", value, &options->max_memory_bytes, err) &&
           (options->max_memory_bytes > 0 ||
            fail(err, IRRUN_USAGE, "--max-memory: '%s' is no number from 1 up", value));
}

bool option_set_warmup(struct options *options, const char *value, struct irrun_error *err)
{
    return option_parse_count("warmup", value, &options->n_warmups, err);
}

bool option_set_gemm(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"auto", "plain", "cblas", "packed"};
    static const enum irrun_gemm meanings[] = {IRRUN_GEMM_AUTO, IRRUN_GEMM_PLAIN, IRRUN_GEMM_CBLAS,
                                               IRRUN_GEMM_PACKED};
    size_t index;
    if (!option_choose_word("gemm", value, words, sizeof words / sizeof words[0], &index, err))
        return false;
    options->gemm = meanings[index];
    return true;
}

bool option_set_threads(struct options *options, const char *value, struct irrun_error *err)
{
    int64_t n;
    if (strcmp(value, "auto") == 0) {
        options->n_threads = IRRUN_THREADS_AUTO;
        return true;
    }
    if (!text_to_i64(value, strlen(value), &n) || n < 1 || n >= UINT32_MAX)
        return fail(err, IRRUN_USAGE, "--threads: '%s' is neither a number from 1 up nor auto",
                    value);
    options->n_threads = (unsigned)n;
    return true;
}

bool option_set_simd(struct options *options, const char *value, struct irrun_error *err)
{
    const char *words[16] = {"auto"};
    size_t n = 1, index;
    while (n < sizeof words / sizeof words[0] && (words[n] = irrun_simd_level(n - 1)))
        n++;
    if (!option_choose_word("simd", value, words, n, &index, err))
        return false;
    options->simd = words[index];
    return true;
}

bool option_set_no_fuse(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->keeps_ops = true;
    return true;
}

/* ---- Measuring, actions, general ------------------------------------------------------------- */

bool option_set_stats(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->wants_stats = true;
    return true;
}

bool option_set_report(struct options *options, const char *value, struct irrun_error *err)
{
    options->report_path = value;
    return *value || fail(err, IRRUN_USAGE, "--report needs the name of a file, or -");
}

bool option_set_samples(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->wants_samples = true;
    return true;
}

bool option_set_rate(struct options *options, const char *value, struct irrun_error *err)
{
    return parse_positive("rate", value, &options->rate_hz, err);
}

bool option_set_progress(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"auto", "never", "plain"};
    static const enum progress_mode meanings[] = {PROGRESS_AUTO, PROGRESS_NEVER, PROGRESS_PLAIN};
    size_t index;
    if (!option_choose_word("progress", value, words, sizeof words / sizeof words[0], &index, err))
        return false;
    options->progress = meanings[index];
    return true;
}

bool option_set_color(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"auto", "always", "never"};
    static const enum color meanings[] = {COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER};
    size_t index;
    if (!option_choose_word("color", value, words, sizeof words / sizeof words[0], &index, err))
        return false;
    options->color = meanings[index];
    return true;
}

bool option_set_check(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value;
    return option_set_action(options, ACTION_CHECK, "check", err);
}

bool option_set_inspect(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"text"};
    size_t index;
    return (!value || option_choose_word("inspect", value, words, 1, &index, err)) &&
           option_set_action(options, ACTION_INSPECT, "inspect", err);
}

bool option_set_supported_ops(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"text", "json"};
    size_t index = 0;
    if (value && !option_choose_word("supported-ops", value, words, sizeof words / sizeof words[0],
                                     &index, err))
        return false;
    options->is_json = index == 1;
    return option_set_action(options, ACTION_SUPPORTED_OPS, "supported-ops", err);
}

bool option_set_list_kernels(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value;
    return option_set_action(options, ACTION_LIST_KERNELS, "list-kernels", err);
}

bool option_set_quiet(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->is_quiet = true;
    return true;
}

bool option_set_verbose(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->is_verbose = true;
    return true;
}

bool option_set_help(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"all"};
    size_t index;
    if (!value)
        return option_set_action(options, ACTION_HELP, "help", err);
    return option_choose_word("help", value, words, 1, &index, err) &&
           option_set_action(options, ACTION_HELP_ALL, "help", err);
}

bool option_set_version(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value;
    return option_set_action(options, ACTION_VERSION, "version", err);
}
