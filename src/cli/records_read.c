/* Reads records one by one, and converts their types.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/records_internal.h"
#include "cli/warning.h"

bool records_are_staged(const struct records *records)
{
    const struct records_cut *cut = &records->cut;
    bool is_dropped = records->options && records->options->partial == PARTIAL_DROP;
    return records->source_dtype != records->record.dtype ||
           (records->is_unsized && (is_dropped || cut->step_bytes < cut->piece_bytes));
}

static bool fail_remainder(struct records *records, size_t n_read, struct irrun_error *err)
{
    fail_at(err, IRRUN_DATA, records_place(records),
            "ends %zu number%s into record %" PRIu64 ", which takes %" PRId64, n_read,
            n_read == 1 ? "" : "s", records->n_records, records->n_elements);
    return fail_hint(err, "--partial=pad pads the last record with zeros, --partial=drop drops it");
}

/* Reads the next piece of every row of an array in memory. Elements outside a row are zeros. */
static void read_piece(struct records *records, char *target)
{
    struct records_cut *cut = &records->cut;
    const char *source = records->whole.data;
    int64_t start = cut->position_bytes, row_bytes = (int64_t)cut->row_bytes;
    int64_t from = start > 0 ? start : 0, to = start + (int64_t)cut->piece_bytes;
    bool is_inside = start >= 0 && to <= row_bytes;
    to = to < row_bytes ? to : row_bytes;
    if (!is_inside)
        memset(target, 0, cut->n_rows * cut->piece_bytes);
    for (size_t i = 0; i < cut->n_rows && from < to; i++)
        memcpy(target + i * cut->piece_bytes + (from - start), source + i * cut->row_bytes + from,
               (size_t)(to - from));
    cut->position_bytes += (int64_t)cut->step_bytes;
}

/* Handles a record with too few numbers according to --partial. Only arrays of unknown length can
 * end inside a record. */
static bool handle_short_record(struct records *records, void *target, size_t n_read,
                                bool *has_record, struct irrun_error *err)
{
    enum partial partial = records->options ? records->options->partial : PARTIAL_ERROR;
    size_t element_bytes = dtype_size(records->source_dtype);
    *has_record = partial == PARTIAL_PAD && n_read > 0;
    if (n_read == 0 || partial == PARTIAL_DROP)
        return true;
    if (partial == PARTIAL_ERROR)
        return fail_remainder(records, n_read, err);
    memset((char *)target + n_read * element_bytes, 0,
           ((size_t)records->n_elements - n_read) * element_bytes);
    return true;
}

/* Returns whether the conversion changed a value; i64 is compared as double. */
static bool conversion_changes_value(const struct records *records, const void *source)
{
    for (size_t i = 0; i < (size_t)records->n_elements; i++) {
        double was = element_as_f64(records->source_dtype, source, i);
        double is = element_as_f64(records->record.dtype, records->record.data, i);
        if (was != is && !(isnan(was) && isnan(is)))
            return true;
    }
    return false;
}

void records_convert(struct records *records, const void *source)
{
    convert_elements(records->source_dtype, source, records->record.dtype, records->record.data,
                     (size_t)records->n_elements);
    if (!records->must_check_narrowing || !conversion_changes_value(records, source))
        return;
    warn(records->options, "values of %s are narrowed to %s (input \"%s\")",
         irrun_dtype_name(records->source_dtype), irrun_dtype_name(records->record.dtype),
         records->port.name);
    records->must_check_narrowing = false;
    records->has_warned = true;
}

static bool check_raw(struct records *records, const void *elements, size_t n,
                      struct irrun_error *err)
{
    uint64_t n_before = records->n_raw_checked;
    records->n_raw_checked += n;
    records->must_check_raw = n_before < RAW_CHECK_ELEMENTS;
    return !records->must_check_raw || raw_check(records, (size_t)n_before, elements, n, err);
}

/* Reads the next slice from a sequential source. `target` holds the previous slice, which may
 * overlap it. *n_read is the number of elements before the end of the source, or 0 if none of them
 * is new. */
static bool read_next_slice(struct records *records, char *target, size_t *n_read,
                            struct irrun_error *err)
{
    struct records_cut *cut = &records->cut;
    enum irrun_dtype dtype = records->source_dtype;
    size_t size_bytes = dtype_size(dtype), kept_bytes = 0, n_new, n_skipped;
    if (!cut->has_begun) {
        kept_bytes = (size_t)-cut->position_bytes;
        memset(target, 0, kept_bytes);
    } else if (cut->step_bytes < cut->piece_bytes) {
        kept_bytes = cut->piece_bytes - cut->step_bytes;
        memmove(target, target + cut->step_bytes, kept_bytes);
    } else if (cut->step_bytes > cut->piece_bytes &&
               !reader_skip(records->reader, dtype,
                            (cut->step_bytes - cut->piece_bytes) / size_bytes, &n_skipped, err)) {
        return false;
    }
    cut->has_begun = true;
    size_t n_kept = kept_bytes / size_bytes;
    if (!reader_read(records->reader, dtype, target + kept_bytes,
                     (size_t)records->n_elements - n_kept, &n_new, err) ||
        (records->must_check_raw && !check_raw(records, target + kept_bytes, n_new, err)))
        return false;
    *n_read = n_new > 0 ? n_kept + n_new : 0;
    return true;
}

/* Reads the next record of the current array. *has_record is false at the end of an array of
 * unknown length. */
static bool read_record(struct records *records, bool *has_record, struct irrun_error *err)
{
    bool is_staged = records_are_staged(records);
    void *target = is_staged ? records->staging : records->record.data;
    size_t n = (size_t)records->n_elements, n_read = n;
    *has_record = true;
    if (records->whole.data)
        read_piece(records, target);
    else if (!read_next_slice(records, target, &n_read, err))
        return false;
    if (n_read < n &&
        (!handle_short_record(records, target, n_read, has_record, err) || !*has_record))
        return err->code == IRRUN_OK;
    if (is_staged)
        records_convert(records, records->staging);
    records->n_left--;
    records->n_records++;
    return true;
}

static bool next_record(struct records *records, bool *has_record, struct irrun_error *err)
{
    bool is_end = false;
    while (records->n_left == 0) {
        if (!records_start_array(records, &is_end, err))
            return false;
        if (is_end) {
            *has_record = false;
            return true;
        }
        records->state = RECORDS_STREAM;
    }
    return read_record(records, has_record, err);
}

bool records_next(struct records *records, bool *has_record, struct irrun_error *err)
{
    *has_record = true;
    records->is_moved = false;
    if (records->state == RECORDS_REPEATED || records->is_read_ahead) {
        records->is_read_ahead = false;
        return true;
    }
    bool was_single = records->state == RECORDS_SINGLE && records->n_records == 1;
    if (!next_record(records, has_record, err))
        return false;
    if (!*has_record && was_single)
        records->state = RECORDS_REPEATED;
    return true;
}

/* Skips up to n records of the current array, which has at least one record unless its length is
 * unknown. */
static bool skip_in_array(struct records *records, uint64_t n, uint64_t *n_skipped,
                          struct irrun_error *err)
{
    enum partial partial = records->options ? records->options->partial : PARTIAL_ERROR;
    size_t n_elements = (size_t)records->n_elements, n_read = 0;
    const struct records_cut *cut = &records->cut;
    bool is_one = false, has_lead = cut->position_bytes < 0 && !cut->has_begun;
    records->must_check_raw = false;
    /* Slices overlap, have gaps between them, or begin before the array. */
    if (!records->whole.data && (cut->step_bytes != cut->piece_bytes || has_lead)) {
        bool is_read = read_record(records, &is_one, err);
        *n_skipped = is_one;
        return is_read;
    }
    if (n > (uint64_t)records->n_left)
        n = (uint64_t)records->n_left;
    if (records->is_unsized) /* a csv record is read as whole lines */
        n = 1;
    if (n_elements > 0 && n > SIZE_MAX / n_elements)
        n = SIZE_MAX / n_elements;
    *n_skipped = n;
    if (records->whole.data) {
        records->cut.position_bytes += (int64_t)(n * records->cut.step_bytes);
    } else if (!reader_skip(records->reader, records->source_dtype, (size_t)n * n_elements, &n_read,
                            err)) {
        return false;
    }
    if (records->is_unsized)
        *n_skipped = n_read / n_elements + (n_read % n_elements != 0 && partial == PARTIAL_PAD);
    records->n_left -= (int64_t)*n_skipped;
    records->n_records += *n_skipped;
    return true;
}

bool records_skip(struct records *records, uint64_t n, uint64_t *n_skipped, struct irrun_error *err)
{
    *n_skipped = 0;
    if (records->is_read_ahead && n > 0) {
        records->is_read_ahead = false;
        *n_skipped = 1;
    }
    while (*n_skipped < n) {
        uint64_t n_now;
        bool is_end = false;
        if (records->n_left == 0 && !records_start_array(records, &is_end, err))
            return false;
        if (is_end)
            return true;
        if (records->n_left == 0)
            continue;
        if (!skip_in_array(records, n - *n_skipped, &n_now, err))
            return false;
        if (n_now == 0)
            return true;
        *n_skipped += n_now;
    }
    return true;
}

bool records_look_ahead(struct records *records, struct irrun_error *err)
{
    bool is_end;
    if (records->state != RECORDS_SINGLE)
        return true;
    if (!read_record(records, &records->is_read_ahead, err) ||
        !records_peek_array(records, &is_end, err))
        return false;
    records->state = is_end ? RECORDS_REPEATED : RECORDS_STREAM;
    return true;
}

bool records_rewind(struct records *records, struct irrun_error *err)
{
    bool is_end;
    if (records->state == RECORDS_REPEATED)
        return true;
    if (records->reader && !reader_can_rewind(records->reader)) {
        fail_at(err, IRRUN_DATA, records_place(records),
                "cannot be read again (ended after %" PRIu64 " records)", records->n_records);
        return fail_hint(err, "records are repeated from a file, but not from a pipe");
    }
    records->n_records = records->n_raw_checked = 0;
    records->has_pending = records->is_read_ahead = records->must_check_raw = false;
    if (!records->reader)
        records_queue_whole(records);
    else if (!reader_rewind(records->reader, err))
        return false;
    if (!records_start_array(records, &is_end, err))
        return false;
    return !is_end ||
           fail_at(err, IRRUN_DATA, records_place(records), "no longer contains an array");
}
