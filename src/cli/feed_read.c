/* Reads the records of a feed one by one, and casts them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/feed_parts.h"
#include "cli/warning.h"

static bool fail_remainder(struct feed *feed, size_t n_read, struct irrun_error *err)
{
    fail_at(err, IRRUN_DATA, feed_place(feed),
            "ends %zu numbers into record %" PRIu64 ", which takes %" PRId64, n_read,
            feed->n_records, feed->n_elements);
    return fail_hint(err, "--partial=pad fills the last record with zeros, --partial=drop leaves "
                          "it out");
}

/* The next piece of every row of an array in memory; what lacks at the end is left as it is. */
static void read_piece(struct feed *feed, void *target)
{
    struct feed_cut *cut = &feed->cut;
    const char *source = (const char *)feed->whole.data + cut->position_bytes;
    size_t left_bytes = cut->row_bytes - cut->position_bytes;
    size_t n_bytes = left_bytes < cut->piece_bytes ? left_bytes : cut->piece_bytes;
    for (size_t i = 0; i < cut->n_rows && n_bytes > 0; i++)
        memcpy((char *)target + i * cut->piece_bytes, source + i * cut->row_bytes, n_bytes);
    cut->position_bytes += n_bytes;
}

/* A record with fewer numbers than it takes: --partial. Only an endless one can be short by
 * surprise. */
static bool settle_remainder(struct feed *feed, void *target, size_t n_read, bool *has_record,
                             struct irrun_error *err)
{
    enum partial partial = feed->options ? feed->options->partial : PARTIAL_ERROR;
    size_t element_bytes = dtype_size(feed->source_dtype);
    *has_record = partial == PARTIAL_PAD && n_read > 0;
    if (n_read == 0 || partial == PARTIAL_DROP)
        return true;
    if (partial == PARTIAL_ERROR)
        return fail_remainder(feed, n_read, err);
    memset((char *)target + n_read * element_bytes, 0,
           ((size_t)feed->n_elements - n_read) * element_bytes);
    return true;
}

/* Whether a value is another one after its conversion; an i64 counts as the double next to it. */
static bool are_changed(const struct feed *feed, const void *source)
{
    for (size_t i = 0; i < (size_t)feed->n_elements; i++) {
        double was = element_as_f64(feed->source_dtype, source, i);
        double is = element_as_f64(feed->record.dtype, feed->record.data, i);
        if (was != is && !(isnan(was) && isnan(is)))
            return true;
    }
    return false;
}

void feed_convert(struct feed *feed, const void *source)
{
    convert_elements(feed->source_dtype, source, feed->record.dtype, feed->record.data,
                     (size_t)feed->n_elements);
    if (!feed->is_narrowed || !are_changed(feed, source))
        return;
    warn(feed->options, "values of %s are narrowed to %s (input \"%s\")",
         irrun_dtype_name(feed->source_dtype), irrun_dtype_name(feed->record.dtype),
         feed->port.name);
    feed->is_narrowed = false;
    feed->is_narrowing_told = true;
}

/* The first elements are looked at as they come; afterwards nothing is. */
static bool check_raw(struct feed *feed, const void *elements, size_t n, struct irrun_error *err)
{
    uint64_t n_before = feed->n_records * (uint64_t)feed->n_elements;
    feed->is_raw_checked = n_before < RAW_CHECK_ELEMENTS;
    return !feed->is_raw_checked || raw_check(feed, (size_t)n_before, elements, n, err);
}

/* Reads the next record of the present array; *has_record is false where an endless one ends. */
static bool read_record(struct feed *feed, bool *has_record, struct irrun_error *err)
{
    bool is_cast = feed->source_dtype != feed->record.dtype;
    void *target = is_cast ? feed->staging : feed->record.data;
    size_t n = (size_t)feed->n_elements, n_read = n;
    *has_record = true;
    if (feed->whole.data) {
        bool is_short = feed->cut.row_bytes - feed->cut.position_bytes < feed->cut.piece_bytes;
        if (is_short)
            memset(target, 0, n * dtype_size(feed->source_dtype));
        read_piece(feed, target);
    } else if (!reader_read(feed->reader, feed->source_dtype, target, n, &n_read, err)) {
        return false;
    }
    if (feed->is_raw_checked && !check_raw(feed, target, n_read, err))
        return false;
    if (n_read < n && (!settle_remainder(feed, target, n_read, has_record, err) || !*has_record))
        return err->code == IRRUN_OK;
    if (is_cast)
        feed_convert(feed, feed->staging);
    feed->n_left--;
    feed->n_records++;
    return true;
}

static bool next_record(struct feed *feed, bool *has_record, struct irrun_error *err)
{
    bool is_end = false;
    while (feed->n_left == 0) {
        if (!feed_take_array(feed, &is_end, err))
            return false;
        if (is_end) {
            *has_record = false;
            return true;
        }
        feed->state = FEED_STREAM;
    }
    return read_record(feed, has_record, err);
}

bool feed_next(struct feed *feed, bool *has_record, struct irrun_error *err)
{
    *has_record = true;
    feed->is_new_place = false;
    if (feed->state == FEED_REPEATED || feed->is_held) {
        feed->is_held = false;
        return true;
    }
    bool was_single = feed->state == FEED_SINGLE && feed->n_records == 1;
    if (!next_record(feed, has_record, err))
        return false;
    if (!*has_record && was_single)
        feed->state = FEED_REPEATED;
    return true;
}

/* Skips up to n records of the present array, of which there is at least one if it has an end. */
static bool skip_in_array(struct feed *feed, uint64_t n, uint64_t *n_skipped,
                          struct irrun_error *err)
{
    enum partial partial = feed->options ? feed->options->partial : PARTIAL_ERROR;
    size_t n_elements = (size_t)feed->n_elements, n_read = 0;
    if (n > (uint64_t)feed->n_left)
        n = (uint64_t)feed->n_left;
    if (feed->is_endless) /* of csv a record is as many whole lines as it takes */
        n = 1;
    if (n_elements > 0 && n > SIZE_MAX / n_elements)
        n = SIZE_MAX / n_elements;
    *n_skipped = n;
    if (feed->whole.data) {
        size_t left_bytes = feed->cut.row_bytes - feed->cut.position_bytes;
        size_t wanted_bytes = (size_t)n * feed->cut.piece_bytes;
        feed->cut.position_bytes += wanted_bytes < left_bytes ? wanted_bytes : left_bytes;
        return true;
    }
    if (!reader_skip(feed->reader, feed->source_dtype, (size_t)n * n_elements, &n_read, err))
        return false;
    if (feed->is_endless)
        *n_skipped = n_read / n_elements + (n_read % n_elements != 0 && partial == PARTIAL_PAD);
    return true;
}

bool feed_skip(struct feed *feed, uint64_t n, uint64_t *n_skipped, struct irrun_error *err)
{
    *n_skipped = 0;
    if (feed->is_held && n > 0) {
        feed->is_held = false;
        *n_skipped = 1;
    }
    while (*n_skipped < n) {
        uint64_t n_now;
        bool is_end = false;
        if (feed->n_left == 0 && !feed_take_array(feed, &is_end, err))
            return false;
        if (is_end)
            return true;
        if (feed->n_left == 0)
            continue;
        if (!skip_in_array(feed, n - *n_skipped, &n_now, err))
            return false;
        if (n_now == 0)
            return true;
        feed->n_left -= (int64_t)n_now;
        feed->n_records += n_now;
        *n_skipped += n_now;
    }
    return true;
}

bool feed_settle(struct feed *feed, struct irrun_error *err)
{
    bool is_end;
    if (feed->state != FEED_SINGLE)
        return true;
    if (!read_record(feed, &feed->is_held, err) || !feed_peek_array(feed, &is_end, err))
        return false;
    feed->state = is_end ? FEED_REPEATED : FEED_STREAM;
    return true;
}

bool feed_settle_one(struct feed *feed, bool *is_one, struct irrun_error *err)
{
    bool has_first, has_second = false;
    if (!feed_settle(feed, err))
        return false;
    *is_one = feed->state == FEED_REPEATED;
    if (*is_one)
        return true;
    if (!feed_next(feed, &has_first, err) || (has_first && !feed_next(feed, &has_second, err)))
        return false;
    *is_one = has_first && !has_second;
    feed->state = FEED_REPEATED;
    return true;
}

bool feed_rewind(struct feed *feed, struct irrun_error *err)
{
    bool is_end;
    if (feed->state == FEED_REPEATED)
        return true;
    if (feed->reader && !reader_can_rewind(feed->reader))
        return fail_at(err, IRRUN_DATA, feed_place(feed), "ended after %" PRIu64 " records",
                       feed->n_records);
    feed->n_records = 0;
    feed->has_pending = feed->is_held = feed->is_raw_checked = false;
    if (!feed->reader)
        feed_pend_whole(feed);
    else if (!reader_rewind(feed->reader, err))
        return false;
    if (!feed_take_array(feed, &is_end, err))
        return false;
    return !is_end || fail_at(err, IRRUN_DATA, feed_place(feed), "holds no array any more");
}
