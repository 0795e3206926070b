/* Passes the records of several workers to the outputs and to --expect, in the order of their
 * sequences.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/collect.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "cli/all_outputs.h"

/* A worker whose backlog reaches this size waits for its turn. */
#define BACKLOG_LIMIT_BYTES ((size_t)32 * 1024 * 1024)

struct collector {
    struct outputs *outputs;
    struct compare *compare; /* NULL: no --expect */
    size_t n_values;         /* per record, from all_outputs_count */
    bool writes_all, writes_last;
    bool has_skipped;      /* a sequence was skipped because its outputs exist */
    bool has_many_workers; /* collector_end flushes the outputs before it passes the turn */
    pthread_mutex_t lock;
    pthread_cond_t turn_changed;
    _Atomic uint64_t turn;       /* number of the sequence whose worker may write */
    _Atomic uint64_t stop_index; /* first sequence that failed; UINT64_MAX: none */
};

/* The header of a record in a backlog. A struct irrun_tensor and its padded bytes follow for each
 * output. */
struct kept_record {
    uint64_t index;
    bool is_begin, is_stacked; /* is_begin: from collector_begin; the tensors have no data */
    bool is_last;
};

static void resolve_emit(struct collector *collector, const struct options *options)
{
    bool has_end = options->n_iterations != NO_LIMIT || options->duration_s > 0;
    enum emit emit = options->emit != EMIT_DEFAULT ? options->emit : has_end ? EMIT_LAST : EMIT_ALL;
    bool writes = !outputs_are_none(collector->outputs);
    collector->writes_all = writes && emit == EMIT_ALL;
    collector->writes_last = writes && emit == EMIT_LAST;
}

bool collector_new(const struct irrun_model *model, const struct options *options,
                   struct collector **collector, struct irrun_error *err)
{
    struct collector *made = *collector = new_array(1, sizeof *made, err);
    if (!made)
        return false;
    made->n_values = all_outputs_count(model, options);
    made->has_many_workers = options->n_jobs > 1;
    atomic_init(&made->turn, 0);
    atomic_init(&made->stop_index, UINT64_MAX);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->turn_changed, NULL);
    if (!outputs_new(model, options, &made->outputs, err) ||
        !compare_new(model, options, &made->compare, err))
        return false;
    resolve_emit(made, options);
    return true;
}

void collector_free(struct collector *collector)
{
    if (!collector)
        return;
    outputs_free(collector->outputs);
    compare_free(collector->compare);
    pthread_cond_destroy(&collector->turn_changed);
    pthread_mutex_destroy(&collector->lock);
    free(collector);
}

bool collector_wants_all(const struct collector *collector)
{
    return collector->writes_all || collector->compare;
}

bool collector_writes_all(const struct collector *collector)
{
    return collector->writes_all;
}

bool collector_wants_last(const struct collector *collector)
{
    return collector->writes_last;
}

/* ---- Turns of sequences ---------------------------------------------------------------------- */

static bool is_turn_of(const struct collector *collector, const struct sequence *sequence)
{
    return atomic_load_explicit(&collector->turn, memory_order_acquire) == sequence->index;
}

/* Waits for the turn of the sequence. Returns false if an earlier sequence failed. */
static bool wait_for_turn(struct collector *collector, const struct sequence *sequence)
{
    pthread_mutex_lock(&collector->lock);
    while (!is_turn_of(collector, sequence) &&
           atomic_load(&collector->stop_index) >= sequence->index)
        pthread_cond_wait(&collector->turn_changed, &collector->lock);
    bool is_turn = is_turn_of(collector, sequence);
    pthread_mutex_unlock(&collector->lock);
    return is_turn;
}

static void pass_turn(struct collector *collector)
{
    pthread_mutex_lock(&collector->lock);
    atomic_fetch_add_explicit(&collector->turn, 1, memory_order_release);
    pthread_cond_broadcast(&collector->turn_changed);
    pthread_mutex_unlock(&collector->lock);
}

void collector_stop(struct collector *collector, uint64_t index)
{
    pthread_mutex_lock(&collector->lock);
    if (index < atomic_load(&collector->stop_index))
        atomic_store(&collector->stop_index, index);
    pthread_cond_broadcast(&collector->turn_changed);
    pthread_mutex_unlock(&collector->lock);
}

/* ---- The backlog ----------------------------------------------------------------------------- */

#define PIECE_ALIGNMENT ((size_t)16)

/* Appends bytes to the backlog, padded to PIECE_ALIGNMENT. */
static bool add_piece(struct backlog *backlog, const void *data, size_t size_bytes,
                      struct irrun_error *err)
{
    size_t needed;
    if (!checked_add(backlog->n_bytes, size_bytes, &needed) ||
        !checked_add(needed, PIECE_ALIGNMENT - 1, &needed))
        return fail_memory(err, SIZE_MAX);
    needed &= ~(PIECE_ALIGNMENT - 1); /* n_bytes is aligned too */
    if (!reserve_array((void **)&backlog->bytes, needed, &backlog->capacity, 1, err))
        return false;
    if (size_bytes > 0)
        memcpy(backlog->bytes + backlog->n_bytes, data, size_bytes);
    backlog->n_bytes = needed;
    return true;
}

/* Appends a record to the backlog, which is unchanged on failure. */
static bool keep_record(const struct collector *collector, struct backlog *backlog,
                        const struct kept_record *record, const struct irrun_tensor *const *values,
                        struct irrun_error *err)
{
    size_t n_before = backlog->n_bytes;
    bool is_kept = add_piece(backlog, record, sizeof *record, err);
    for (size_t i = 0; i < collector->n_values && is_kept; i++) {
        struct irrun_tensor header = {.dtype = IRRUN_DYNAMIC};
        if (values[i])
            header = *values[i];
        size_t size_bytes = record->is_begin || !values[i] ? 0 : tensor_n_bytes(&header);
        is_kept = add_piece(backlog, &header, sizeof header, err) &&
                  add_piece(backlog, header.data, size_bytes, err);
    }
    if (!is_kept)
        backlog->n_bytes = n_before;
    return is_kept;
}

/* Returns the bytes at *offset, and advances *offset. */
static const void *next_piece(const struct backlog *backlog, size_t *offset, size_t size_bytes)
{
    const void *piece = backlog->bytes + *offset;
    *offset += (size_bytes + PIECE_ALIGNMENT - 1) & ~(PIECE_ALIGNMENT - 1);
    return piece;
}

/* Passes a record to the outputs and to --expect. */
static bool forward_record(struct collector *collector, const struct kept_record *record,
                           const struct sequence *sequence,
                           const struct irrun_tensor *const *values, struct irrun_error *err)
{
    if (record->is_begin)
        return outputs_begin_sequence(collector->outputs, sequence, values, record->is_stacked,
                                      err);
    if (record->is_last)
        return outputs_write(collector->outputs, values, record->index, err);
    return (!collector->writes_all ||
            outputs_write(collector->outputs, values, record->index, err)) &&
           (!collector->compare || compare_iteration(collector->compare, values, err));
}

/* Passes the records of the backlog to the outputs and to --expect. */
static bool replay_backlog(struct collector *collector, struct backlog *backlog,
                           const struct sequence *sequence, struct irrun_error *err)
{
    size_t n = collector->n_values;
    if (backlog->n_bytes == 0)
        return true;
    struct irrun_tensor *tensors = new_array(n, sizeof *tensors, err);
    const struct irrun_tensor **values = new_array(n, sizeof(struct irrun_tensor *), err);
    bool is_forwarded = tensors && values;
    for (size_t offset = 0; is_forwarded && offset < backlog->n_bytes;) {
        struct kept_record record;
        memcpy(&record, next_piece(backlog, &offset, sizeof record), sizeof record);
        for (size_t i = 0; i < n; i++) {
            memcpy(&tensors[i], next_piece(backlog, &offset, sizeof *tensors), sizeof *tensors);
            bool is_known = tensors[i].dtype != IRRUN_DYNAMIC;
            size_t size_bytes = record.is_begin || !is_known ? 0 : tensor_n_bytes(&tensors[i]);
            tensors[i].data = (void *)(uintptr_t)next_piece(backlog, &offset, size_bytes);
            values[i] = is_known ? &tensors[i] : NULL;
        }
        is_forwarded = forward_record(collector, &record, sequence, values, err);
    }
    free(tensors);
    free(values);
    backlog->n_bytes = 0;
    return is_forwarded;
}

/* ---- Sequences ------------------------------------------------------------------------------- */

static bool forward_or_keep(struct collector *collector, struct backlog *backlog,
                            const struct sequence *sequence, const struct kept_record *record,
                            const struct irrun_tensor *const *values, struct irrun_error *err)
{
    if (!is_turn_of(collector, sequence)) {
        if (backlog->n_bytes < BACKLOG_LIMIT_BYTES)
            return atomic_load(&collector->stop_index) >= sequence->index &&
                   keep_record(collector, backlog, record, values, err);
        if (!wait_for_turn(collector, sequence))
            return false;
    }
    return (backlog->n_bytes == 0 || replay_backlog(collector, backlog, sequence, err)) &&
           forward_record(collector, record, sequence, values, err);
}

bool collector_begin(struct collector *collector, struct backlog *backlog,
                     const struct sequence *sequence, const struct irrun_tensor *const *values,
                     bool is_stacked, struct irrun_error *err)
{
    const struct kept_record record = {.is_begin = true, .is_stacked = is_stacked};
    backlog->n_bytes = 0;
    return forward_or_keep(collector, backlog, sequence, &record, values, err);
}

bool collector_add(struct collector *collector, struct backlog *backlog,
                   const struct sequence *sequence, const struct irrun_tensor *const *values,
                   uint64_t index, bool is_last, struct irrun_error *err)
{
    const struct kept_record record = {.index = index, .is_last = is_last};
    return forward_or_keep(collector, backlog, sequence, &record, values, err);
}

bool collector_end(struct collector *collector, struct backlog *backlog,
                   const struct sequence *sequence, struct irrun_error *err)
{
    if (!wait_for_turn(collector, sequence) || !replay_backlog(collector, backlog, sequence, err) ||
        !outputs_end_sequence(collector->outputs, err) ||
        (collector->has_many_workers && !outputs_flush(collector->outputs, err)))
        return false;
    pass_turn(collector);
    return true;
}

void collector_fail_sequence(struct collector *collector, struct backlog *backlog,
                             const struct sequence *sequence)
{
    struct irrun_error ignored = {.code = IRRUN_OK};
    if (backlog->n_bytes > 0 && wait_for_turn(collector, sequence))
        replay_backlog(collector, backlog, sequence, &ignored);
}

bool collector_drop_sequence(struct collector *collector, struct backlog *backlog,
                             const struct sequence *sequence, struct irrun_error *err)
{
    if (atomic_load(&collector->turn) > sequence->index)
        return true; /* its records were written */
    if (!wait_for_turn(collector, sequence))
        return false;
    if (!replay_backlog(collector, backlog, sequence, err) && err->code != IRRUN_MISMATCH &&
        err->code != IRRUN_DATA)
        return false;
    error_clear(err); /* the sequence has already failed */
    outputs_drop_sequence(collector->outputs, sequence);
    collector->has_skipped = true;
    pass_turn(collector);
    return true;
}

bool collector_flush(struct collector *collector, const struct sequence *sequence,
                     struct irrun_error *err)
{
    return (sequence && !is_turn_of(collector, sequence)) || outputs_flush(collector->outputs, err);
}

struct outputs *collector_outputs(struct collector *collector)
{
    return collector->outputs;
}

bool collector_skip(struct collector *collector, const struct sequence *sequence)
{
    if (!wait_for_turn(collector, sequence))
        return false;
    collector->has_skipped = true;
    pass_turn(collector);
    return true;
}

bool collector_finish_compare(struct collector *collector, struct irrun_error *err)
{
    return !collector->compare || collector->has_skipped || compare_finish(collector->compare, err);
}

void collector_report(const struct collector *collector, struct json *json)
{
    if (collector->compare && !collector->has_skipped)
        compare_report(collector->compare, json);
}
