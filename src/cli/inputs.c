/* Keeps the records of all inputs in step. Sources are bound in inputs_open.c, cutting and casting
 * is feed.c's, whether an iteration runs is lane.c's.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/inputs_parts.h"
#include "cli/warning.h"

bool inputs_new(const struct irrun_model *model, const struct options *options,
                const struct reader_wait *wait, struct inputs **inputs, struct irrun_error *err)
{
    struct inputs *made = *inputs = new_array(1, sizeof *made, err);
    if (!made)
        return false;
    made->model = model;
    made->options = options;
    made->wait = wait;
    made->n = irrun_model_n_inputs(model);
    size_t n = made->n + 1;
    made->feeds = new_array(n, sizeof *made->feeds, err);
    made->slots = new_array(n, sizeof *made->slots, err);
    made->loops = new_array(options->loops.n, sizeof *made->loops, err);
    made->streams = new_array(n, sizeof(struct feed *), err);
    return made->feeds && made->slots && made->loops && made->streams &&
           inputs_find_names(made, err);
}

void inputs_free(struct inputs *inputs)
{
    if (!inputs)
        return;
    inputs_close(inputs);
    free(inputs->feeds);
    free(inputs->slots);
    free(inputs->loops);
    free(inputs->streams);
    free(inputs);
}

void inputs_close(struct inputs *inputs)
{
    bool is_whole = inputs->feeds && inputs->slots;
    for (size_t i = 0; is_whole && i <= inputs->n; i++) {
        feed_close(&inputs->feeds[i]);
        inputs->slots[i].is_filled = false;
    }
    archives_close(&inputs->archives);
    inputs->n_streams = 0;
    inputs->n_records = 0;
    inputs->was_given = false;
    inputs->reset_feed = NULL;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Tells the session where the input's record lies. */
static bool bind_feed(struct inputs *inputs, struct irrun_session *session, const struct feed *feed,
                      struct irrun_error *err)
{
    size_t index = (size_t)(feed - inputs->feeds);
    char text[SHAPE_TEXT_BYTES];
    if (feed == inputs->reset_feed && shape_n_elements(&feed->record.shape) != 1)
        return fail(err, IRRUN_DATA, "--reset=if:%s is %s, but should be one number",
                    inputs->options->reset.name, shape_format(&feed->record.shape, text));
    return index == inputs->n || irrun_session_set_input(session, index, &feed->record, err);
}

/* A feed is left undecided between one record and many only where nothing hangs on it. */
static bool settle_feeds(struct inputs *inputs, bool must_look_ahead, struct irrun_error *err)
{
    size_t n_open = 0;
    for (size_t i = 0; i <= inputs->n; i++)
        n_open += inputs->slots[i].is_filled && inputs->feeds[i].state != FEED_REPEATED;
    for (size_t i = 0; i <= inputs->n; i++) {
        struct feed *feed = &inputs->feeds[i];
        if (!inputs->slots[i].is_filled || feed->state != FEED_SINGLE)
            continue;
        bool may_wait = feed->reader && !reader_can_rewind(feed->reader);
        if ((must_look_ahead || n_open > 1 || !may_wait) && !feed_settle(feed, err))
            return false;
    }
    for (size_t i = 0; i <= inputs->n; i++) {
        if (inputs->slots[i].is_filled && inputs->feeds[i].state != FEED_REPEATED)
            inputs->streams[inputs->n_streams++] = &inputs->feeds[i];
    }
    return true;
}

bool inputs_open(struct inputs *inputs, const struct sequence *sequence,
                 struct irrun_session *session, bool must_look_ahead, struct irrun_error *err)
{
    inputs_close(inputs);
    if (!inputs_fill(inputs, sequence, err) || !settle_feeds(inputs, must_look_ahead, err))
        return false;
    for (size_t i = 0; i <= inputs->n; i++) {
        if (inputs->slots[i].is_filled && !bind_feed(inputs, session, &inputs->feeds[i], err))
            return false;
    }
    return true;
}

static bool fail_counts(const struct feed *longer, const struct feed *shorter,
                        struct irrun_error *err)
{
    return fail(err, IRRUN_DATA,
                "%s \"%s\" (%s) has %" PRIu64 " records, but %s \"%s\" (%s) has more",
                shorter->port.what, shorter->port.name, feed_path(shorter), shorter->n_records,
                longer->port.what, longer->port.name, feed_path(longer));
}

static void drop_stream(struct inputs *inputs, size_t i)
{
    inputs->streams[i] = inputs->streams[--inputs->n_streams];
}

bool inputs_next(struct inputs *inputs, struct irrun_session *session, bool *has_record,
                 struct irrun_error *err)
{
    const struct feed *ended = NULL, *going = NULL;
    for (size_t i = 0; i < inputs->n_streams; i++) {
        struct feed *feed = inputs->streams[i];
        bool has_one;
        if (!feed_next(feed, &has_one, err))
            return false;
        if (feed->state == FEED_REPEATED) {
            drop_stream(inputs, i--);
            continue;
        }
        if (has_one)
            going = feed;
        else
            ended = feed;
        if (feed->is_new_place && has_one && !bind_feed(inputs, session, feed, err))
            return false;
    }
    if (ended && going)
        return fail_counts(going, ended, err);
    *has_record = going || (!ended && !inputs->was_given);
    inputs->was_given |= !ended;
    inputs->n_records += *has_record;
    return true;
}

bool inputs_rewind(struct inputs *inputs, struct irrun_session *session, struct irrun_error *err)
{
    inputs->was_given = false;
    for (size_t i = 0; i < inputs->n_streams; i++) {
        struct feed *feed = inputs->streams[i];
        if (feed->n_records == 0)
            return fail(err, IRRUN_DATA, "%s \"%s\": %s holds no record", feed->port.what,
                        feed->port.name, feed_path(feed));
        if (!feed_rewind(feed, err))
            return false;
        if (feed->is_new_place && !bind_feed(inputs, session, feed, err))
            return false;
    }
    return true;
}

static bool skip_records(struct feed *feed, uint64_t n, struct irrun_error *err)
{
    uint64_t n_skipped, n_rest;
    if (!feed_skip(feed, n, &n_skipped, err))
        return false;
    if (n_skipped == n)
        return true;
    if (n_skipped == 0)
        return fail(err, IRRUN_DATA, "%s \"%s\": %s holds no record", feed->port.what,
                    feed->port.name, feed_path(feed));
    return feed_rewind(feed, err) && feed_skip(feed, n % n_skipped, &n_rest, err);
}

bool inputs_skip(struct inputs *inputs, struct irrun_session *session, uint64_t n,
                 struct irrun_error *err)
{
    inputs->was_given = n > 0;
    for (size_t i = 0; i < inputs->n_streams; i++) {
        if (!skip_records(inputs->streams[i], n, err) ||
            !bind_feed(inputs, session, inputs->streams[i], err))
            return false;
    }
    return true;
}

const struct irrun_tensor *inputs_record(const struct inputs *inputs, size_t index)
{
    return &inputs->feeds[index].record;
}

bool inputs_are_stacked(const struct inputs *inputs)
{
    return inputs->n_streams > 0;
}

bool inputs_set(struct inputs *inputs, struct irrun_session *session, size_t index,
                const struct irrun_tensor *value, struct irrun_error *err)
{
    struct feed *feed = &inputs->feeds[index];
    return feed_set(feed, value, err) &&
           (!feed->is_new_place || bind_feed(inputs, session, feed, err));
}

size_t inputs_fed(const struct inputs *inputs, size_t i)
{
    return inputs->loops[i].input;
}

bool inputs_feed_back(struct inputs *inputs, struct irrun_session *session,
                      const struct irrun_tensor *const *values, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->options->loops.n; i++) {
        const struct loop *loop = &inputs->loops[i];
        if (!inputs_set(inputs, session, loop->input, values[loop->output], err))
            return false;
    }
    return true;
}

bool inputs_ask_for_reset(const struct inputs *inputs)
{
    const struct irrun_tensor *record = &inputs->reset_feed->record;
    return element_as_f64(record->dtype, record->data, 0) != 0;
}

void inputs_warn_empty(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n_streams; i++) {
        const struct feed *feed = inputs->streams[i];
        if (feed->is_endless && feed->n_records == 0 && reader_is_file(feed->reader))
            warn(inputs->options, "%s \"%s\": %s holds no record", feed->port.what, feed->port.name,
                 feed_path(feed));
    }
}

void inputs_tell(const struct inputs *inputs)
{
    for (size_t i = 0; i <= inputs->n; i++) {
        const struct feed *feed = &inputs->feeds[i];
        char shape[SHAPE_TEXT_BYTES];
        if (inputs->slots[i].is_filled)
            tell(inputs->options, "%s \"%s\": %s %s from %s, %s", feed->port.what, feed->port.name,
                 irrun_dtype_name(feed->source_dtype), shape_format(&feed->record.shape, shape),
                 feed_path(feed),
                 feed->state == FEED_REPEATED ? "the same in every iteration" : "record by record");
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
        const struct feed *feed = inputs->streams[i];
        if (!feed->is_endless)
            n = (uint64_t)feed->n_left + feed->is_held;
    }
    return inputs->n_streams == 0 ? 1 : n;
}

static uint64_t count_frames(const struct feed *feed, const struct axis_spec *axis)
{
    int64_t k = axis->axis < 0 ? axis->axis + feed->record.shape.rank : axis->axis;
    return k >= 0 && k < feed->record.shape.rank ? (uint64_t)feed->record.shape.dims[k] : 0;
}

uint64_t inputs_n_frames(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++) {
        if (inputs->slots[i].is_filled && inputs->feeds[i].axis)
            return count_frames(&inputs->feeds[i], inputs->feeds[i].axis);
    }
    /* --random fills them all: the first that has the axis. */
    for (size_t i = 0; i < inputs->n && inputs->common_axis; i++) {
        uint64_t n = count_frames(&inputs->feeds[i], inputs->common_axis);
        if (n > 0)
            return n;
    }
    return 0;
}
