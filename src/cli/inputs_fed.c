/* --feed: inputs whose next value is an output. Other modules see them as variables.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inputs_internal.h"
#include "cli/snapshot.h"

static const struct records *records_of(const struct inputs *inputs, const struct feed *feed)
{
    return &inputs->records[feed->input];
}

static bool has_prompt(const struct feed *feed)
{
    return feed->prompt.reader || feed->prompt.whole.data;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Checks the name: states and checkpoints have variables of both kinds by name. */
static bool check_name(const struct inputs *inputs, const char *name, struct irrun_error *err)
{
    for (size_t i = 0; i < irrun_model_n_variables(inputs->model); i++) {
        if (strcmp(irrun_model_variable(inputs->model, i)->id, name) == 0)
            return fail(err, IRRUN_USAGE, "--feed: \"%s\" is also a variable of the model", name);
    }
    return true;
}

bool inputs_find_feeds(struct inputs *inputs, struct irrun_error *err)
{
    const struct feed_list *list = &inputs->options->feeds;
    for (size_t i = 0; i < list->n; i++) {
        const struct feed_spec *spec = &list->items[i];
        struct feed *feed = &inputs->feeds[i];
        feed->is_argmax = spec->is_argmax;
        if (!irrun_model_find_output(inputs->model, spec->out, &feed->output, err) ||
            !irrun_model_find_input(inputs->model, spec->in, &feed->input, err) ||
            !check_name(inputs, irrun_model_input(inputs->model, feed->input)->name, err))
            return false;
        if (inputs->slots[feed->input].is_fed)
            return fail(err, IRRUN_USAGE, "--feed is given twice for input \"%s\"", spec->in);
        inputs->slots[feed->input].is_fed = true;
    }
    return true;
}

/* ---- The first values ------------------------------------------------------------------------ */

/* Checks that a prompt may have several records. With --key or resets within a sequence it must
 * have one. */
static bool check_prompt(const struct inputs *inputs, const struct records *prompt,
                         struct irrun_error *err)
{
    enum reset_when when = inputs->options->reset.when;
    if (inputs->options->key)
        return fail(
            err, IRRUN_USAGE,
            "--key=%s: %s gives fed input \"%s\" several records, and every key begins with "
            "one",
            inputs->options->key, records_path(prompt), prompt->port.name);
    if (when == RESET_SEQUENCE || when == RESET_NEVER)
        return true;
    return fail(err, IRRUN_USAGE,
                "--reset=%s: %s gives fed input \"%s\" several records, and a reset returns to one",
                inputs->options->reset.text, records_path(prompt), prompt->port.name);
}

bool inputs_open_prompts(struct inputs *inputs, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->options->feeds.n; i++) {
        struct feed *feed = &inputs->feeds[i];
        struct records *records = &inputs->records[feed->input];
        struct irrun_tensor first;
        bool has_record;
        feed->has_source = inputs->slots[feed->input].is_filled;
        if (!feed->has_source)
            continue;
        feed->prompt = *records;
        *records = (struct records){.reader = NULL};
        if (!records_settle(&feed->prompt, err) || !records_next(&feed->prompt, &has_record, err))
            return false;
        if (!has_record)
            return fail(err, IRRUN_DATA, "input \"%s\": %s contains no record",
                        feed->prompt.port.name, records_path(&feed->prompt));
        if ((feed->prompt.state != RECORDS_REPEATED && !check_prompt(inputs, &feed->prompt, err)) ||
            !snapshot_copy(&first, &feed->prompt.record, err))
            return false;
        records_open_record(records, &feed->prompt.port, &first);
        records->path = "-i";
        if (feed->prompt.state == RECORDS_REPEATED)
            records_close(&feed->prompt);
    }
    return true;
}

bool inputs_begin_feeds(struct inputs *inputs, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->options->feeds.n; i++) {
        struct feed *feed = &inputs->feeds[i];
        if (!snapshot_copy(&feed->initial, &records_of(inputs, feed)->record, err))
            return false;
    }
    return true;
}

/* Skips the prompts of n iterations. Opening the prompt has read the first record. */
bool inputs_skip_prompts(struct inputs *inputs, uint64_t n, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->options->feeds.n; i++) {
        struct feed *feed = &inputs->feeds[i];
        uint64_t n_skipped;
        if (has_prompt(feed) && !records_skip(&feed->prompt, n, &n_skipped, err))
            return false;
    }
    return true;
}

void inputs_end_feeds(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->options->feeds.n; i++) {
        struct feed *feed = &inputs->feeds[i];
        struct irrun_tensor *present = &inputs->records[feed->input].record;
        if (feed->initial.data && present->data) {
            free(feed->last.data);
            feed->last = *present;
            present->data = NULL;
        }
        free(feed->initial.data);
        feed->initial.data = NULL;
        records_close(&feed->prompt);
    }
}

void inputs_free_feeds(struct inputs *inputs)
{
    for (size_t i = 0; inputs->feeds && i < inputs->options->feeds.n; i++) {
        free(inputs->feeds[i].last.data);
        free(inputs->feeds[i].picked.data);
    }
    free(inputs->feeds);
}

/* ---- argmax ---------------------------------------------------------------------------------- */

static int64_t largest(const struct irrun_tensor *values, size_t start, size_t n)
{
    size_t best = 0;
    double most = element_as_f64(values->dtype, values->data, start);
    for (size_t i = 1; i < n; i++) {
        double value = element_as_f64(values->dtype, values->data, start + i);
        if (!(value > most) && most == most)
            continue;
        best = i;
        most = value;
    }
    return (int64_t)best;
}

/* Returns the shape of n numbers for the port. The first open dimension is n divided by the
 * others. */
static struct irrun_shape shape_for(const struct irrun_partial_shape *wanted, int64_t n)
{
    struct irrun_shape shape = {.rank = 1, .dims = {n}};
    bool is_open = true;
    if (wanted->is_rank_dynamic)
        return shape;
    shape.rank = wanted->rank;
    for (uint32_t i = 0; i < wanted->rank; i++) {
        bool is_known = wanted->min[i] == wanted->max[i];
        shape.dims[i] = is_known ? wanted->min[i] : 1;
    }
    int64_t n_others = shape_n_elements(&shape);
    for (uint32_t i = 0; i < wanted->rank && is_open; i++) {
        is_open = wanted->min[i] == wanted->max[i];
        if (!is_open && n_others > 0)
            shape.dims[i] = n / n_others;
    }
    return shape;
}

/* Finds the index of the largest element of each row along the last axis; if the rank is 3 or more,
 * only for the last position of the axis before it. */
static bool pick(struct inputs *inputs, struct feed *feed, const struct irrun_tensor *values,
                 struct irrun_error *err)
{
    const struct irrun_shape *shape = &values->shape;
    const struct records_port port = inputs_port(inputs, feed->input);
    uint32_t rank = shape->rank;
    int64_t n_row = rank > 0 ? shape->dims[rank - 1] : 1;
    int64_t n_positions = rank > 2 ? shape->dims[rank - 2] : 1;
    int64_t n = n_row * n_positions > 0 ? shape_n_elements(shape) / (n_row * n_positions) : 0;
    enum irrun_dtype dtype = port.dtype == IRRUN_DYNAMIC ? IRRUN_I64 : port.dtype;
    struct irrun_shape picked = shape_for(&port.shape, n);
    char found[SHAPE_TEXT_BYTES], wanted[SHAPE_TEXT_BYTES];
    if (n == 0 || shape_n_elements(&picked) != n)
        return fail(err, IRRUN_DATA,
                    "--feed: output \"%s\" %s has %" PRId64 " rows to take an index of, but input "
                    "\"%s\" is %s",
                    irrun_model_output(inputs->model, feed->output)->name,
                    shape_format(shape, found), n, port.name,
                    partial_shape_format(&port.shape, wanted));
    if (!feed->picked.data || !shape_equals(&feed->picked.shape, &picked)) {
        free(feed->picked.data);
        feed->picked = (struct irrun_tensor){dtype, picked, malloc((size_t)n * dtype_size(dtype))};
        if (!feed->picked.data)
            return fail_memory(err, (size_t)n * dtype_size(dtype));
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t row = (i + 1) * n_positions - 1;
        int64_t index = largest(values, (size_t)(row * n_row), (size_t)n_row);
        convert_elements(IRRUN_I64, &index, dtype,
                         (char *)feed->picked.data + (size_t)i * dtype_size(dtype), 1);
    }
    return true;
}

/* ---- From one iteration to the next ---------------------------------------------------------- */

static bool set(struct inputs *inputs, struct irrun_session *session, struct feed *feed,
                const struct irrun_tensor *value, struct irrun_error *err)
{
    struct records *records = &inputs->records[feed->input];
    return records_set(records, value, err) &&
           (!records->is_new_place || inputs_bind(inputs, session, records, err));
}

static bool feed_back(struct inputs *inputs, struct irrun_session *session, struct feed *feed,
                      const struct irrun_tensor *output, struct irrun_error *err)
{
    bool has_record = has_prompt(feed);
    if (has_record && !records_next(&feed->prompt, &has_record, err))
        return false;
    if (has_record)
        return set(inputs, session, feed, &feed->prompt.record, err);
    records_close(&feed->prompt);
    if (feed->is_argmax && !pick(inputs, feed, output, err))
        return false;
    return set(inputs, session, feed, feed->is_argmax ? &feed->picked : output, err);
}

bool inputs_feed_back(struct inputs *inputs, struct irrun_session *session,
                      const struct irrun_tensor *const *values, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->n_counters; i++)
        inputs->counters[i].n_before += inputs->counters[i].n_now;
    for (size_t i = 0; i < inputs->options->feeds.n; i++) {
        struct feed *feed = &inputs->feeds[i];
        if (!feed_back(inputs, session, feed, values[feed->output], err))
            return false;
    }
    return true;
}

/* ---- Variables ------------------------------------------------------------------------------- */

/* Returns the counter of variable i; NULL if it is fed. */
static struct counter *counter_at(const struct inputs *inputs, size_t i)
{
    size_t n = inputs->options->feeds.n;
    return i < n ? NULL : &inputs->counters[i - n];
}

size_t inputs_n_variables(const struct inputs *inputs)
{
    return inputs->options->feeds.n + inputs->n_counters;
}

const struct irrun_port *inputs_variable_port(const struct inputs *inputs, size_t i)
{
    const struct counter *counter = counter_at(inputs, i);
    return counter ? &counter->port : irrun_model_input(inputs->model, inputs->feeds[i].input);
}

const struct irrun_tensor *inputs_variable(const struct inputs *inputs, size_t i)
{
    struct counter *counter = counter_at(inputs, i);
    if (!counter)
        return &records_of(inputs, &inputs->feeds[i])->record;
    counter->value = (struct irrun_tensor){.dtype = IRRUN_I64, .data = &counter->n_before};
    return &counter->value;
}

bool inputs_variable_is_given(const struct inputs *inputs, size_t i)
{
    return !counter_at(inputs, i) && inputs->feeds[i].has_source;
}

bool inputs_set_variable(struct inputs *inputs, struct irrun_session *session, size_t i,
                         const struct irrun_tensor *value, struct irrun_error *err)
{
    struct counter *counter = counter_at(inputs, i);
    if (!counter)
        return set(inputs, session, &inputs->feeds[i], value, err);
    int64_t n = element_as_i64(value->dtype, value->data, 0);
    if (n < 0)
        return fail(err, IRRUN_DATA, "the count of input \"%s\" is below 0", counter->port.name);
    counter->n_before = n;
    return true;
}

bool inputs_reset_variables(struct inputs *inputs, struct irrun_session *session,
                            struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->n_counters; i++)
        inputs->counters[i].n_before = 0;
    for (size_t i = 0; i < inputs->options->feeds.n; i++) {
        if (!set(inputs, session, &inputs->feeds[i], &inputs->feeds[i].initial, err))
            return false;
    }
    return true;
}

bool inputs_keep_variables(struct inputs *inputs, struct irrun_session *session,
                           struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->n_counters; i++)
        inputs->counters[i].n_before = inputs->counters[i].n_last;
    for (size_t i = 0; i < inputs->options->feeds.n; i++) {
        struct feed *feed = &inputs->feeds[i];
        if (feed->last.data && !feed->has_source && !set(inputs, session, feed, &feed->last, err))
            return false;
    }
    return true;
}
