/* Implements --feed: the next value of an input is an output. Also gets and sets the variables of
 * the inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/cast.h"
#include "cli/inputs_internal.h"
#include "cli/snapshot.h"

static bool has_prompt(const struct feed *feed)
{
    return feed->prompt.reader || feed->prompt.whole.data;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Checks that no variable of the model has this name: states and checkpoints store fed inputs and
 * variables by name. */
static bool check_name(const struct inputs *inputs, const char *name, struct irrun_error *err)
{
    for (size_t i = 0; i < irrun_model_n_variables(inputs->model); i++)
        if (strcmp(irrun_model_variable(inputs->model, i)->id, name) == 0)
            return fail(err, IRRUN_USAGE, "--feed: \"%s\" is also a variable of the model", name);
    return true;
}

/* Adds the variable that counts the draws of :sample. */
static bool add_draws(struct inputs *inputs, struct feed *feed, struct irrun_error *err)
{
    struct text *name = &feed->draws_name;
    text_add(name, "%s:draws", irrun_model_input(inputs->model, feed->input)->name);
    feed->draws.port = (struct irrun_port){.name = name->data, .dtype = IRRUN_I64};
    return text_check(name, err) && check_name(inputs, name->data, err) &&
           inputs_add_count(inputs, &feed->draws, err);
}

/* Checks that the output's type can be converted to the input's. */
static bool check_type(const struct inputs *inputs, const struct feed *feed,
                       struct irrun_error *err)
{
    const struct irrun_port *output = irrun_model_output(inputs->model, feed->output);
    const struct irrun_port *input = irrun_model_input(inputs->model, feed->input);
    enum cast cast = inputs->options->cast;
    if (feed->spec->choice != FEED_WHOLE || output->dtype == IRRUN_DYNAMIC ||
        input->dtype == IRRUN_DYNAMIC || output->dtype == input->dtype || cast == CAST_ANY ||
        (cast == CAST_SAFE && cast_is_safe(output->dtype, input->dtype)))
        return true;
    fail(err, IRRUN_DATA, "--feed: output \"%s\" is %s, but input \"%s\" is %s", output->name,
         irrun_dtype_name(output->dtype), input->name, irrun_dtype_name(input->dtype));
    if (dtype_is_float(output->dtype) && !dtype_is_float(input->dtype))
        return fail_hint(
            err,
            "--feed=%s=%s:argmax feeds the index of the largest value; '--feed=%s=%s:sample(1)' "
            "draws one",
            feed->spec->out, feed->spec->in, feed->spec->out, feed->spec->in);
    return fail_hint(err, cast == CAST_NONE ? "--cast=none allows no conversion"
                                            : "--cast=any converts the numbers");
}

bool inputs_find_feeds(struct inputs *inputs, struct irrun_error *err)
{
    const struct feed_list *list = &inputs->options->feeds;
    for (size_t i = 0; i < list->n; i++) {
        const struct feed_spec *spec = &list->items[i];
        struct feed *feed = &inputs->feeds[i];
        feed->spec = spec;
        if (!irrun_model_find_output(inputs->model, spec->out, &feed->output, err) ||
            !irrun_model_find_input(inputs->model, spec->in, &feed->input, err) ||
            !check_name(inputs, irrun_model_input(inputs->model, feed->input)->name, err) ||
            !check_type(inputs, feed, err))
            return false;
        if (inputs->slots[feed->input].is_fed)
            return fail(err, IRRUN_USAGE, "--feed is given twice for input \"%s\"", spec->in);
        inputs->slots[feed->input].is_fed = true;
        if (spec->choice == FEED_SAMPLE && !add_draws(inputs, feed, err))
            return false;
    }
    return true;
}

/* ---- The first values ------------------------------------------------------------------------ */

/* Fails if a prompt may not have several records: with --key, or with resets within a sequence, a
 * prompt must have exactly one record. */
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
        if (!records_look_ahead(&feed->prompt, err) ||
            !records_next(&feed->prompt, &has_record, err))
            return false;
        if (!has_record)
            return inputs_fail_empty(&feed->prompt, err);
        if ((feed->prompt.state != RECORDS_REPEATED && !check_prompt(inputs, &feed->prompt, err)) ||
            !snapshot_copy(&first, &feed->prompt.record, err))
            return false;
        records_open_record(records, &feed->prompt.port, &first);
        text_add(&feed->prompt_path, "%s", records_path(&feed->prompt));
        records->path = feed->prompt_path.data;
        if (feed->prompt.state == RECORDS_REPEATED)
            records_close(&feed->prompt);
        if (!text_check(&feed->prompt_path, err))
            return false;
    }
    return true;
}

bool inputs_begin_feeds(struct inputs *inputs, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->options->feeds.n; i++) {
        struct feed *feed = &inputs->feeds[i];
        feed->draws.n = 0;
        struct records *records = &inputs->records[feed->input];
        records->options = inputs->options; /* for --cast */
        records->port = inputs_fed_port(inputs, feed->input);
        if (!snapshot_copy(&feed->initial, &records->record, err))
            return false;
    }
    return true;
}

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
        struct irrun_tensor *current = &inputs->records[feed->input].record;
        if (feed->initial.data && current->data) {
            free(feed->last.data);
            feed->last = *current;
            current->data = NULL;
        }
        free(feed->initial.data);
        feed->initial.data = NULL;
        records_close(&feed->prompt);
        text_free(&feed->prompt_path);
    }
}

bool inputs_are_all_fed(const struct inputs *inputs)
{
    size_t n = inputs->options->feeds.n;
    return n > 0 && n + inputs->n_counters == inputs->n;
}

void inputs_free_feeds(struct inputs *inputs)
{
    for (size_t i = 0; inputs->feeds && i < inputs->options->feeds.n; i++) {
        free(inputs->feeds[i].last.data);
        free(inputs->feeds[i].chosen.data);
        text_free(&inputs->feeds[i].draws_name);
        sampler_free(&inputs->feeds[i].sampler);
    }
    free(inputs->feeds);
}

/* ---- Before the first iteration -------------------------------------------------------------- */

static bool check_shape(const struct inputs *inputs, const struct feed *feed,
                        const struct irrun_tensor *output, struct irrun_error *err)
{
    const struct records_port port = inputs_fed_port(inputs, feed->input);
    char found[SHAPE_TEXT_BYTES], wanted[SHAPE_TEXT_BYTES];
    return partial_shape_admits(&port.shape, &output->shape) ||
           fail(err, IRRUN_DATA, "--feed: output \"%s\" is %s, but input \"%s\" is %s",
                irrun_model_output(inputs->model, feed->output)->name,
                shape_format(&output->shape, found), port.name,
                partial_shape_format(&port.shape, wanted));
}

bool inputs_check_feeds(const struct inputs *inputs, const struct irrun_tensor *const *values,
                        struct irrun_error *err)
{
    /* The values of a state or of the previous sequence may have other shapes. */
    if (inputs->options->state_in || inputs->options->reset.when == RESET_NEVER)
        return true;
    for (size_t i = 0; i < inputs->options->feeds.n; i++) {
        const struct feed *feed = &inputs->feeds[i];
        const struct irrun_tensor *output = values[feed->output];
        struct irrun_shape shape;
        if (!output || has_prompt(feed))
            continue;
        if (!(feed->spec->choice == FEED_WHOLE
                  ? check_shape(inputs, feed, output, err)
                  : inputs_check_choice(inputs, feed, output, &shape, err)))
            return false;
    }
    return true;
}

/* ---- The next values ------------------------------------------------------------------------- */

/* Finds the next value: the next record of -i or, after the last one, the output or the indices
 * chosen from it. */
static bool choose_next(struct inputs *inputs, struct feed *feed, const struct irrun_tensor *output,
                        int64_t key, struct irrun_error *err)
{
    bool has_record = has_prompt(feed), is_chosen = feed->spec->choice != FEED_WHOLE;
    if (has_record && !records_next(&feed->prompt, &has_record, err))
        return false;
    if (!has_record)
        records_close(&feed->prompt);
    if (!has_record && is_chosen && !inputs_choose(inputs, feed, output, key, err))
        return false;
    feed->next = has_record ? &feed->prompt.record : is_chosen ? &feed->chosen : output;
    return true;
}

bool inputs_choose_next(struct inputs *inputs, const struct irrun_tensor **values, size_t n,
                        int64_t key, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->options->feeds.n; i++) {
        struct feed *feed = &inputs->feeds[i];
        if (!choose_next(inputs, feed, values[feed->output], key, err))
            return false;
        values[n + i] = feed->next;
    }
    return true;
}

bool inputs_next_is_record(const struct inputs *inputs, size_t i)
{
    return inputs->feeds[i].next == &inputs->feeds[i].prompt.record;
}

bool inputs_feed_back(struct inputs *inputs, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->n_counters; i++)
        inputs->counters[i].before.n += inputs->counters[i].n_now;
    for (size_t i = 0; i < inputs->options->feeds.n; i++)
        if (!inputs_set_record(inputs, inputs->feeds[i].input, inputs->feeds[i].next, err))
            return false;
    return true;
}

/* ---- Variables ------------------------------------------------------------------------------- */

bool inputs_add_count(struct inputs *inputs, struct count *count, struct irrun_error *err)
{
    if (!GROW_ARRAY(inputs->counts, inputs->n_counts, inputs->counts_capacity, err))
        return false;
    inputs->counts[inputs->n_counts++] = count;
    return true;
}

/* Returns the count that is variable i; NULL if it is a fed input. */
static struct count *count_at(const struct inputs *inputs, size_t i)
{
    size_t n = inputs->options->feeds.n;
    return i < n ? NULL : inputs->counts[i - n];
}

size_t inputs_n_variables(const struct inputs *inputs)
{
    return inputs->options->feeds.n + inputs->n_counts;
}

const struct irrun_port *inputs_variable_port(const struct inputs *inputs, size_t i)
{
    const struct count *count = count_at(inputs, i);
    return count ? &count->port : irrun_model_input(inputs->model, inputs->feeds[i].input);
}

const struct irrun_tensor *inputs_variable(const struct inputs *inputs, size_t i)
{
    struct count *count = count_at(inputs, i);
    if (!count)
        return &inputs->records[inputs->feeds[i].input].record;
    count->value = (struct irrun_tensor){.dtype = IRRUN_I64, .data = &count->n};
    return &count->value;
}

bool inputs_variable_is_given(const struct inputs *inputs, size_t i)
{
    return !count_at(inputs, i) && inputs->feeds[i].has_source;
}

/* If --state-in gives the shape of the first value, sets the first value to zeros of that shape. */
static bool set_first_shape(struct inputs *inputs, struct feed *feed,
                            const struct irrun_tensor *value, struct irrun_error *err)
{
    bool *awaits_state = &inputs->slots[feed->input].awaits_state;
    if (!*awaits_state)
        return true;
    *awaits_state = false;
    free(feed->initial.data);
    if (!snapshot_copy(&feed->initial, value, err))
        return false;
    memset(feed->initial.data, 0, tensor_n_bytes(value));
    return true;
}

bool inputs_set_variable(struct inputs *inputs, size_t i, const struct irrun_tensor *value,
                         struct irrun_error *err)
{
    struct count *count = count_at(inputs, i);
    if (!count)
        return set_first_shape(inputs, &inputs->feeds[i], value, err) &&
               inputs_set_record(inputs, inputs->feeds[i].input, value, err);
    int64_t n = element_as_i64(value->dtype, value->data, 0);
    if (n < 0)
        return fail(err, IRRUN_DATA, "the count \"%s\" is below 0", count->port.name);
    count->n = n;
    return true;
}

bool inputs_reset_variables(struct inputs *inputs, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->n_counts; i++)
        inputs->counts[i]->n = 0;
    for (size_t i = 0; i < inputs->options->feeds.n; i++) {
        const struct feed *feed = &inputs->feeds[i];
        if (!inputs_set_record(inputs, feed->input, &feed->initial, err))
            return false;
    }
    return true;
}

bool inputs_keep_variables(struct inputs *inputs, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->n_counts; i++)
        inputs->counts[i]->n = inputs->counts[i]->n_last;
    for (size_t i = 0; i < inputs->options->feeds.n; i++) {
        const struct feed *feed = &inputs->feeds[i];
        if (feed->last.data && !feed->has_source &&
            !inputs_set_record(inputs, feed->input, &feed->last, err))
            return false;
    }
    return true;
}
