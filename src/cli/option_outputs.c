/* The options that say what becomes of the outputs: option_set_<id>.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/text.h"
#include "cli/option_parts.h"

bool option_set_output(struct options *options, const char *value, struct irrun_error *err)
{
    struct binding binding;
    const char *destination;
    return option_split_name(options, value, &binding.name, &destination, err) &&
           format_parse_destination(destination, &binding.spec, err) &&
           OPTION_ADD(&options->outputs, &binding, err);
}

bool option_set_emit(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"all", "last", "none"};
    static const enum emit meanings[] = {EMIT_ALL, EMIT_LAST, EMIT_NONE};
    size_t index;
    if (!option_choose_word("emit", value, words, sizeof words / sizeof words[0], &index, err))
        return false;
    options->emit = meanings[index];
    return true;
}

bool option_set_concat(struct options *options, const char *value, struct irrun_error *err)
{
    return option_add_axis(options, "concat", value, &options->concats, false, err);
}

bool option_set_expect(struct options *options, const char *value, struct irrun_error *err)
{
    struct binding binding;
    const char *source;
    return option_split_name(options, value, &binding.name, &source, err) &&
           format_parse_source(source, &binding.spec, err) &&
           OPTION_ADD(&options->expected, &binding, err);
}

static bool set_tolerance(struct options *options, const char *option, const char *value,
                          struct tolerance_list *list, struct irrun_error *err)
{
    struct tolerance tolerance;
    const char *text;
    if (!option_split_name(options, value, &tolerance.name, &text, err))
        return false;
    if (!text_to_f64(text, strlen(text), &tolerance.value) || !(tolerance.value >= 0))
        return fail(err, IRRUN_USAGE, "--%s: '%s' is no number from 0 up", option, text);
    for (size_t i = 0; i < list->n; i++) {
        if (option_is_same_name(list->items[i].name, tolerance.name) &&
            list->items[i].value != tolerance.value)
            return fail(err, IRRUN_USAGE, "--%s is given twice for %s", option,
                        tolerance.name ? tolerance.name : "all outputs");
    }
    return OPTION_ADD(list, &tolerance, err);
}

bool option_set_atol(struct options *options, const char *value, struct irrun_error *err)
{
    return set_tolerance(options, "atol", value, &options->atols, err);
}

bool option_set_rtol(struct options *options, const char *value, struct irrun_error *err)
{
    return set_tolerance(options, "rtol", value, &options->rtols, err);
}

bool option_set_outliers(struct options *options, const char *value, struct irrun_error *err)
{
    double share;
    if (!text_to_f64(value, strlen(value), &share) || !(share >= 0 && share <= 1))
        return fail(err, IRRUN_USAGE, "--outliers: '%s' is no share from 0 to 1", value);
    options->outliers = share;
    return true;
}

bool option_set_line_buffer(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->is_line_buffered = true;
    return true;
}

bool option_set_fsync(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->is_synced = true;
    return true;
}

bool option_set_skip_existing(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->skips_existing = true;
    return true;
}

bool option_set_tap(struct options *options, const char *value, struct irrun_error *err)
{
    return OPTION_ADD(&options->taps, &value, err);
}

bool option_set_tap_all(struct options *options, const char *value, struct irrun_error *err)
{
    return option_set_npz("tap-all", value, &options->trace_path, err);
}

bool option_set_fail_on_nan(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"nan"};
    size_t index;
    options->stops_at_nan = true;
    options->lets_inf_pass = value != NULL;
    return !value || option_choose_word("fail-on-nan", value, words, 1, &index, err);
}
