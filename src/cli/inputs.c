/* Reads one record of every input for each iteration. inputs_sources.c opens the sources; records.c
 * cuts the arrays into records; records_read.c converts the types.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fast_hash.h"
#include "cli/inputs_internal.h"
#include "cli/warning.h"

bool inputs_new(const struct irrun_model *model, struct irrun_session *session,
                const struct options *options, const struct reader_wait *wait,
                struct inputs **inputs, struct irrun_error *err)
{
    struct inputs *made = *inputs = new_array(1, sizeof *made, err);
    if (!made)
        return false;
    made->model = model;
    made->session = session;
    made->options = options;
    made->wait = wait;
    made->n = irrun_model_n_inputs(model);
    size_t n = made->n_slots = made->n + N_CONTROLS;
    made->records = new_array(n, sizeof *made->records, err);
    made->slots = new_array(n, sizeof *made->slots, err);
    made->feeds = new_array(options->feeds.n, sizeof *made->feeds, err);
    made->streams = new_array(n, sizeof(struct records *), err);
    return made->records && made->slots && made->feeds && made->streams &&
           inputs_resolve_names(made, err);
}

void inputs_free(struct inputs *inputs)
{
    if (!inputs)
        return;
    inputs_close(inputs);
    inputs_free_feeds(inputs);
    inputs_free_counters(inputs);
    free(inputs->counts);
    free(inputs->records);
    free(inputs->slots);
    free(inputs->streams);
    free(inputs);
}

void inputs_close(struct inputs *inputs)
{
    bool is_complete = inputs->records && inputs->slots;
    if (is_complete && inputs->feeds)
        inputs_end_feeds(inputs);
    for (size_t i = 0; i < inputs->n_counts; i++)
        inputs->counts[i]->n_last = inputs->counts[i]->n;
    for (size_t i = 0; is_complete && i < inputs->n_slots; i++) {
        records_close(&inputs->records[i]);
        inputs->slots[i].is_filled = false;
    }
    archives_close(&inputs->archives);
    inputs->n_streams = 0;
    inputs->n_records = 0;
    inputs->has_read_record = false;
    inputs->reset_records = inputs->key_records = NULL;
}

/* ---- Records --------------------------------------------------------------------------------- */

bool inputs_bind(struct inputs *inputs, const struct records *records, struct irrun_error *err)
{
    size_t index = (size_t)(records - inputs->records);
    char text[SHAPE_TEXT_BYTES];
    bool is_reset = records == inputs->reset_records, is_key = records == inputs->key_records;
    if ((is_reset || is_key) && shape_n_elements(&records->record.shape) != 1)
        return fail(err, IRRUN_DATA, "--%s%s is %s, but must be one number",
                    is_key ? "key=" : "reset=if:",
                    inputs_control_name(inputs, is_key ? CONTROL_KEY : CONTROL_RESET),
                    shape_format(&records->record.shape, text));
    return index >= inputs->n ||
           irrun_session_set_input(inputs->session, index, &records->record, err);
}

/* Finds the inputs that have a single record, which every iteration uses. Unless must_look_ahead,
 * does not wait for a pipe that is the only input. */
static bool find_repeated_records(struct inputs *inputs, bool must_look_ahead,
                                  struct irrun_error *err)
{
    size_t n_open = 0;
    for (size_t i = 0; i < inputs->n_slots; i++)
        n_open += inputs->slots[i].is_filled && inputs->records[i].state != RECORDS_REPEATED;
    for (size_t i = 0; i < inputs->n_slots; i++) {
        struct records *records = &inputs->records[i];
        if (!inputs->slots[i].is_filled || records->state != RECORDS_SINGLE)
            continue;
        bool may_wait = records->reader && !reader_can_rewind(records->reader);
        if ((must_look_ahead || n_open > 1 || !may_wait) && !records_look_ahead(records, err))
            return false;
    }
    for (size_t i = 0; i < inputs->n_slots; i++)
        if (inputs->slots[i].is_filled && inputs->records[i].state != RECORDS_REPEATED)
            inputs->streams[inputs->n_streams++] = &inputs->records[i];
    return true;
}

bool inputs_open(struct inputs *inputs, const struct sequence *sequence, bool must_look_ahead,
                 struct irrun_error *err)
{
    inputs_close(inputs);
    inputs->sequence_hash = sequences_are_many(inputs->options)
                                ? fast_hash(0, sequence->key, strlen(sequence->key))
                                : 0;
    if (!inputs_fill(inputs, sequence, err) || !find_repeated_records(inputs, must_look_ahead, err))
        return false;
    for (size_t i = 0; i < inputs->n_slots; i++)
        if (inputs->slots[i].is_filled && !inputs_bind(inputs, &inputs->records[i], err))
            return false;
    return true;
}

bool inputs_fail_empty(const struct records *records, struct irrun_error *err)
{
    return fail(err, IRRUN_DATA, "%s \"%s\": %s contains no record", records->port.what,
                records->port.name, records_path(records));
}

static bool fail_unequal_counts(const struct inputs *inputs, const struct records *longer,
                                const struct records *shorter, struct irrun_error *err)
{
    char shape[SHAPE_TEXT_BYTES];
    fail(err, IRRUN_DATA, "%s \"%s\" (%s) has %" PRIu64 " record%s, but %s \"%s\" (%s) has more",
         shorter->port.what, shorter->port.name, records_path(shorter), shorter->n_records,
         shorter->n_records == 1 ? "" : "s", longer->port.what, longer->port.name,
         records_path(longer));
    if (shorter->n_records != 1)
        return !sequences_are_many(inputs->options) &&
               fail_hint(err, "-n %" PRIu64 " leaves the rest of %s out", shorter->n_records,
                         records_path(longer));
    return fail_hint(err,
                     "%s, so its one record is not repeated; an array of shape %s (in NumPy, "
                     "x[0]) would be",
                     shorter->is_unsized ? "a file without a shape is a stack"
                     : shorter->axis     ? "it is cut along --axis"
                                         : "it is a stack of length 1",
                     shape_format(&shorter->record.shape, shape));
}

bool inputs_next(struct inputs *inputs, bool *has_record, struct irrun_error *err)
{
    const struct records *ended = NULL, *longer = NULL;
    for (size_t i = 0; i < inputs->n_streams; i++) {
        struct records *records = inputs->streams[i];
        bool has_one;
        if (!records_next(records, &has_one, err))
            return false;
        if (records->state == RECORDS_REPEATED) {
            inputs->streams[i--] = inputs->streams[--inputs->n_streams];
            continue;
        }
        if (has_one)
            longer = records;
        else
            ended = records;
        if (records->is_moved && has_one && !inputs_bind(inputs, records, err))
            return false;
    }
    if (ended && longer)
        return fail_unequal_counts(inputs, longer, ended, err);
    *has_record = longer || (!ended && !inputs->has_read_record);
    inputs->has_read_record |= !ended;
    inputs->n_records += *has_record;
    return true;
}

bool inputs_rewind(struct inputs *inputs, struct irrun_error *err)
{
    inputs->has_read_record = false;
    for (size_t i = 0; i < inputs->n_streams; i++) {
        struct records *records = inputs->streams[i];
        if (records->n_records == 0)
            return inputs_fail_empty(records, err);
        if (!records_rewind(records, err))
            return false;
        if (records->is_moved && !inputs_bind(inputs, records, err))
            return false;
    }
    return true;
}

static bool skip_records(struct records *records, uint64_t n, struct irrun_error *err)
{
    uint64_t n_skipped, n_rest;
    if (!records_skip(records, n, &n_skipped, err))
        return false;
    if (n_skipped == n)
        return true;
    if (n_skipped == 0)
        return inputs_fail_empty(records, err);
    return records_rewind(records, err) && records_skip(records, n % n_skipped, &n_rest, err);
}

bool inputs_skip(struct inputs *inputs, uint64_t n, struct irrun_error *err)
{
    inputs->has_read_record = n > 0;
    for (size_t i = 0; i < inputs->n_streams; i++)
        if (!skip_records(inputs->streams[i], n, err) ||
            !inputs_bind(inputs, inputs->streams[i], err))
            return false;
    return inputs_skip_prompts(inputs, n, err);
}

bool inputs_set_record(struct inputs *inputs, size_t index, const struct irrun_tensor *value,
                       struct irrun_error *err)
{
    return records_set(&inputs->records[index], value, err) &&
           inputs_bind(inputs, &inputs->records[index], err);
}

bool inputs_are_stacked(const struct inputs *inputs)
{
    return inputs->n_streams > 0;
}

bool inputs_want_reset(const struct inputs *inputs)
{
    const struct irrun_tensor *record = &inputs->reset_records->record;
    return element_as_f64(record->dtype, record->data, 0) != 0;
}

const struct irrun_tensor *inputs_record(const struct inputs *inputs, size_t index)
{
    return &inputs->records[index].record;
}

int64_t inputs_key(const struct inputs *inputs)
{
    const struct irrun_tensor *record = &inputs->key_records->record;
    return element_as_i64(record->dtype, record->data, 0);
}

void inputs_warn_doubtful(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n_streams; i++) {
        const struct records *records = inputs->streams[i];
        size_t n = records->reader ? reader_n_doubtful(records->reader) : 0;
        if (n > 0)
            warn(inputs->options,
                 "%s: lines that begin with # are skipped, including %zu with as many columns as "
                 "the "
                 "headings; sed 's/^#//' turns them into rows",
                 records_path(records), n);
        if (records->is_unsized && records->n_records == 0 && reader_is_file(records->reader))
            warn(inputs->options, "%s \"%s\": %s contains no record", records->port.what,
                 records->port.name, records_path(records));
    }
}

void inputs_show(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n_slots; i++) {
        const struct records *records = &inputs->records[i];
        char shape[SHAPE_TEXT_BYTES];
        const struct array_header *header = &records->pending;
        char sound[80] = "";
        if (header->rate_hz > 0)
            snprintf(sound, sizeof sound, ", %d samples a second, %u channel%s%s", header->rate_hz,
                     (unsigned)header->n_channels, header->n_channels == 1 ? "" : "s",
                     header->n_channels > 1 && records->n_frame_values == 1 ? " averaged" : "");
        const char *when = inputs->slots[i].is_fed              ? "then from --feed"
                           : records->state == RECORDS_REPEATED ? "the same in every iteration"
                                                                : "record by record";
        if (inputs->slots[i].is_filled)
            inform(inputs->options, "%s \"%s\": %s %s from %s, %s%s", records->port.what,
                   records->port.name, irrun_dtype_name(records->source_dtype),
                   shape_format(&records->record.shape, shape), records_path(records), when, sound);
    }
}

uint64_t inputs_n_records(const struct inputs *inputs)
{
    return inputs->n_records;
}

uint64_t inputs_n_expected(const struct inputs *inputs)
{
    uint64_t n = 0;
    for (size_t i = 0; i < inputs->n_streams; i++) {
        const struct records *records = inputs->streams[i];
        if (!records->is_unsized)
            n = (uint64_t)records->n_left + records->is_read_ahead;
    }
    return inputs->n_streams == 0 ? 1 : n;
}

static uint64_t count_frames(const struct records *records, const struct axis_spec *axis)
{
    int64_t k = axis->axis < 0 ? axis->axis + records->record.shape.rank : axis->axis;
    if (axis->hop > 0)
        return (uint64_t)axis->hop;
    return k >= 0 && k < records->record.shape.rank ? (uint64_t)records->record.shape.dims[k] : 0;
}

uint64_t inputs_n_frames(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        if (inputs->slots[i].is_filled && inputs->records[i].axis)
            return count_frames(&inputs->records[i], inputs->records[i].axis);
    /* With --random for all inputs: use the first one that has the axis. */
    for (size_t i = 0; i < inputs->n && inputs->common_axis; i++) {
        uint64_t n = count_frames(&inputs->records[i], inputs->common_axis);
        if (n > 0)
            return n;
    }
    for (size_t i = 0; i < inputs->n; i++) {
        const struct records *sound = &inputs->records[i];
        if (sound->n_frame_values > 0)
            return (uint64_t)sound->n_elements / sound->n_frame_values;
    }
    return 0;
}
