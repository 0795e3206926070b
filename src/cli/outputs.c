/* Opens the writers of a sequence, passes its records to them, and closes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/outputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output_file.h"
#include "cli/destination.h"
#include "cli/path_fields.h"
#include "cli/warning.h"

struct outputs {
    const struct options *options;
    struct destination_list common;          /* from the command line */
    struct destination_list own;             /* from the current line of a manifest */
    struct destination_list *current;        /* one of them */
    const char *key;                         /* key of the current sequence; NULL after its end */
    const struct writer_position *resume_at; /* positions from a checkpoint; NULL: a new run */
    bool is_finishing;
    bool has_checked_nan; /* check_nan has checked a record */
};

/* ---- Opening and closing --------------------------------------------------------------------- */

static bool add_default_destination(struct outputs *outputs, struct irrun_error *err)
{
    const struct options *options = outputs->options;
    struct binding standard = {.name = NULL};
    bool is_stdout_free = (!options->report_path || strcmp(options->report_path, "-") != 0) &&
                          !options_draw_profile(options);
    if (options->outputs.n > 0 || options->expected.n > 0 || !is_stdout_free)
        return true;
    return format_parse_destination("text:-", &standard.spec, err) &&
           destination_add(&outputs->common, &standard, err);
}

/* Checks --skip-existing, which needs a separate file for each sequence. */
static bool check_skip_existing(const struct outputs *outputs, struct irrun_error *err)
{
    const struct destination_list *list = &outputs->common;
    for (size_t i = 0; i < list->n && outputs->options->skips_existing; i++) {
        if (list->items[i].is_per_sequence || destination_is_none(list, &list->items[i]) ||
            !sequences_are_many(outputs->options) || strcmp(list->items[i].path, "-") == 0)
            continue;
        fail(err, IRRUN_USAGE, "--skip-existing: %s holds several sequences", list->items[i].path);
        return fail_hint(err, "use %%k in the file name to write one file for each");
    }
    return true;
}

bool outputs_new(const struct irrun_model *model, const struct options *options,
                 struct outputs **outputs, struct irrun_error *err)
{
    struct outputs *made = *outputs = new_array(1, sizeof *made, err);
    if (!made)
        return false;
    made->options = options;
    made->common = (struct destination_list){.model = model, .options = options};
    made->own =
        (struct destination_list){.model = model, .options = options, .is_from_manifest = true};
    made->current = &made->common;
    for (size_t i = 0; i < options->outputs.n; i++)
        if (!destination_add(&made->common, &options->outputs.items[i], err))
            return false;
    return add_default_destination(made, err) && destinations_check(&made->common, err) &&
           check_skip_existing(made, err);
}

void outputs_free(struct outputs *outputs)
{
    if (!outputs)
        return;
    destinations_free(&outputs->common);
    destinations_free(&outputs->own);
    free(outputs);
}

bool outputs_check_axes(const struct outputs *outputs, const struct irrun_tensor *const *values,
                        struct irrun_error *err)
{
    return destinations_check_axes(&outputs->common, values, err);
}

void outputs_check_rate(const struct outputs *outputs, const struct irrun_tensor *const *values,
                        uint64_t n_frames)
{
    for (size_t i = 0; i < outputs->common.n; i++) {
        const struct destination *item = &outputs->common.items[i];
        const struct irrun_tensor *value = values[item->first_output];
        if (strcmp(item->spec.format->name, "wav") != 0 || !value)
            continue;
        int64_t n = shape_n_elements(&value->shape);
        if (n > 0 && (uint64_t)n < n_frames)
            warn(outputs->options,
                 "output \"%s\" has %" PRId64 " number%s for %" PRIu64
                 " samples of the input: %s is too short at this --rate",
                 item->names[0], n, n == 1 ? "" : "s", n_frames, item->path);
    }
}

bool outputs_are_none(const struct outputs *outputs)
{
    const struct destination_list *list = &outputs->common;
    bool is_none = !outputs->options->manifest_path || outputs->options->emit == EMIT_NONE;
    for (size_t i = 0; i < list->n; i++)
        is_none = is_none && destination_is_none(list, &list->items[i]);
    return is_none;
}

bool outputs_depend_on_layout(const struct outputs *outputs)
{
    const struct destination_list *list = &outputs->common;
    for (size_t i = 0; i < list->n; i++) {
        const struct format *format = list->items[i].spec.format;
        if (format->has_shape && format->is_binary && strcmp(list->items[i].path, "-") != 0)
            return true;
    }
    return outputs->options->manifest_path != NULL;
}

static bool finish_writers(struct destination_list *list, bool are_direct, struct irrun_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        struct writer *writer = list->items[i].writer;
        if (!writer || writer_is_direct(writer) != are_direct)
            continue;
        list->items[i].writer = NULL;
        if (!writer_finish(writer, err))
            return false;
    }
    return true;
}

/* Finishes streams first, so that no file gets its final name if a stream fails. */
bool outputs_finish(struct outputs *outputs, struct irrun_error *err)
{
    return finish_writers(&outputs->common, true, err) &&
           finish_writers(&outputs->common, false, err);
}

/* ---- Sequences ------------------------------------------------------------------------------- */

static bool add_own_destinations(struct destination_list *list, const struct sequence *sequence,
                                 struct irrun_error *err)
{
    for (size_t i = 0; i < sequence->n_outputs; i++)
        if (!destination_add(list, &sequence->outputs[i], err))
            return false;
    return destinations_check(list, err);
}

bool outputs_visit_paths(const struct outputs *outputs, const struct sequence *sequence,
                         output_path_fn *visit, void *context, struct irrun_error *err)
{
    struct destination_list own = {
        .model = outputs->own.model, .options = outputs->options, .is_from_manifest = true};
    if (!sequence || sequence->n_outputs == 0)
        return destinations_visit(&outputs->common, sequence, visit, context, err);
    bool is_visited = add_own_destinations(&own, sequence, err) &&
                      destinations_visit(&own, sequence, visit, context, err);
    destinations_free(&own);
    return is_visited;
}

bool outputs_have_own_paths(const struct outputs *outputs)
{
    const struct destination_list *list = &outputs->common;
    for (size_t i = 0; i < list->n; i++) {
        const struct destination *item = &list->items[i];
        if (!destination_is_none(list, item) &&
            (item->is_per_sequence || destination_needs_keys(item)))
            return true;
    }
    return false;
}

struct file_count {
    size_t n, n_found;
};

static bool count_file(void *context, const struct output_path *output, struct irrun_error *err)
{
    struct file_count *count = context;
    (void)err;
    count->n++;
    count->n_found += strcmp(output->path, "-") != 0 && access(output->path, F_OK) == 0;
    return true;
}

/* Sets *exist to false if the outputs have no files. */
bool outputs_exist(const struct outputs *outputs, const struct sequence *sequence, bool *exist,
                   struct irrun_error *err)
{
    struct file_count count = {0, 0};
    bool is_counted =
        (sequence->n_outputs > 0 || outputs_visit_paths(outputs, NULL, count_file, &count, err)) &&
        outputs_visit_paths(outputs, sequence, count_file, &count, err);
    *exist = count.n > 0 && count.n_found == count.n;
    return is_counted;
}

/* Returns whether the file was complete before the run was resumed. */
static bool is_complete(const char *path)
{
    char *partial = output_file_partial_path(path);
    bool is_complete = partial && access(path, F_OK) == 0 && access(partial, F_OK) != 0;
    free(partial);
    return is_complete;
}

static bool open_destination(struct outputs *outputs, struct destination *item,
                             const struct irrun_tensor *const *values, bool is_stacked,
                             struct irrun_error *err)
{
    bool is_terminal = strcmp(item->path, "-") == 0 && isatty(STDOUT_FILENO);
    bool is_shared = sequences_are_many(outputs->options) && !item->is_per_sequence &&
                     !item->spec.format->has_keys;
    struct writer_options writer_options = {
        .names = item->names,
        .kept = outputs->options->kept,
        .n_outputs = item->n_outputs,
        .layout = item->concat              ? WRITER_CONCAT
                  : is_stacked || is_shared ? WRITER_STACK
                                            : WRITER_ONE,
        .concat_axis = item->concat ? (int)item->concat->axis : 0,
        .rate_hz = outputs->options->rate_hz,
        .is_text_variant = item->spec.is_text_variant,
        .is_summarised = is_terminal,
        .is_flushed = is_terminal || outputs->options->is_line_buffered,
        .is_synced = outputs->options->is_synced,
        .is_resumable = outputs->options->checkpoint_path != NULL};
    if (outputs->resume_at)
        writer_options.resume_at = &outputs->resume_at[item - outputs->current->items];
    char *path;
    if (!path_fill_field(item->path, 'k', outputs->key, true, &path, err))
        return false;
    if (outputs->is_finishing && is_complete(path)) {
        free(path);
        return true;
    }
    bool is_open = writer_open(item->spec.format, path, &writer_options, &item->writer, err);
    inform(outputs->options, "%zu of %zu outputs to %s as %s, %s", item->n_outputs,
           n_default_outputs(outputs->common.model), path, item->spec.format->name,
           is_stacked ? "every iteration" : "one record");
    free(path);
    for (size_t i = 0; i < item->n_outputs && is_open; i++) {
        const struct irrun_tensor *value = values[item->first_output + i];
        if (value)
            writer_expect(item->writer, i, value->dtype, &value->shape);
    }
    return is_open;
}

size_t outputs_n_positions(const struct outputs *outputs)
{
    return outputs->common.n;
}

bool outputs_pause(struct outputs *outputs, struct writer_position *positions,
                   struct irrun_error *err)
{
    for (size_t i = 0; i < outputs->common.n; i++) {
        struct writer *writer = outputs->common.items[i].writer;
        positions[i] = (struct writer_position){.dtype = IRRUN_DYNAMIC};
        if (writer && !writer_pause(writer, &positions[i], err))
            return false;
    }
    return true;
}

void outputs_resume(struct outputs *outputs, const struct writer_position *positions,
                    bool is_finishing)
{
    outputs->resume_at = positions;
    outputs->is_finishing = is_finishing;
}

bool outputs_begin_sequence(struct outputs *outputs, const struct sequence *sequence,
                            const struct irrun_tensor *const *values, bool is_stacked,
                            struct irrun_error *err)
{
    outputs->key = sequence->key;
    destinations_free(&outputs->own);
    outputs->current = sequence->n_outputs > 0 ? &outputs->own : &outputs->common;
    if (sequence->n_outputs > 0 && (!add_own_destinations(&outputs->own, sequence, err) ||
                                    !destinations_check_axes(&outputs->own, values, err)))
        return false;
    for (size_t i = 0; i < outputs->current->n; i++) {
        struct destination *item = &outputs->current->items[i];
        if (!item->writer && !destination_is_none(outputs->current, item) &&
            !open_destination(outputs, item, values, is_stacked, err))
            return false;
    }
    return true;
}

static bool has_nan(const struct irrun_tensor *value)
{
    const float *floats = value->data;
    int64_t n = dtype_is_float(value->dtype) ? shape_n_elements(&value->shape) : 0;
    for (int64_t i = 0; i < n; i++)
        if (isnan(value->dtype == IRRUN_F32 ? (double)floats[i]
                                            : element_as_f64(value->dtype, value->data, (size_t)i)))
            return true;
    return false;
}

/* Warns if the first written record contains a NaN. Does not check later records, which then
 * usually contain NaN too. */
static void check_nan(struct outputs *outputs, const struct irrun_tensor *const *values,
                      uint64_t index)
{
    if (outputs->has_checked_nan)
        return;
    outputs->has_checked_nan = true;
    for (size_t i = 0; i < outputs->current->n; i++) {
        const struct destination *item = &outputs->current->items[i];
        for (size_t j = 0; j < item->n_outputs && item->writer; j++) {
            if (!has_nan(values[item->first_output + j]))
                continue;
            warn(outputs->options,
                 "output \"%s\" holds nan in record %" PRIu64 "; --fail-on-nan names the operator",
                 item->names[j], index);
            return;
        }
    }
}

bool outputs_write(struct outputs *outputs, const struct irrun_tensor *const *values,
                   uint64_t index, struct irrun_error *err)
{
    struct record_label label = {.sequence = outputs->key, .index = index};
    check_nan(outputs, values, index);
    if (outputs->options->kept)
        kept_columns_next(outputs->options->kept);
    for (size_t i = 0; i < outputs->current->n; i++) {
        const struct destination *item = &outputs->current->items[i];
        for (size_t j = 0; j < item->n_outputs && item->writer; j++)
            if (!writer_write(item->writer, j, values[item->first_output + j], &label, err))
                return false;
        if (item->writer && !writer_end_record(item->writer, err))
            return false;
    }
    return true;
}

bool outputs_flush(struct outputs *outputs, struct irrun_error *err)
{
    for (size_t i = 0; i < outputs->current->n; i++) {
        const struct destination *item = &outputs->current->items[i];
        if (item->writer && !writer_flush(item->writer, err))
            return false;
    }
    return true;
}

bool outputs_end_sequence(struct outputs *outputs, struct irrun_error *err)
{
    for (size_t i = 0; i < outputs->current->n; i++) {
        struct destination *item = &outputs->current->items[i];
        struct writer *writer = item->writer;
        if (!writer)
            continue;
        if (item->is_per_sequence)
            item->writer = NULL;
        if (!(item->is_per_sequence ? writer_finish(writer, err)
                                    : writer_end_sequence(writer, err)))
            return false;
    }
    outputs->key = NULL;
    return true;
}

void outputs_drop_sequence(struct outputs *outputs, const struct sequence *sequence)
{
    if (outputs->key != sequence->key)
        return;
    for (size_t i = 0; i < outputs->current->n; i++) {
        struct destination *item = &outputs->current->items[i];
        if (item->is_per_sequence) {
            writer_abort(item->writer);
            item->writer = NULL;
        } else if (item->writer) {
            writer_drop_sequence(item->writer);
        }
    }
    outputs->key = NULL;
}
