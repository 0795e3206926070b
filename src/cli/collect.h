/* Collects the results of the workers, and writes and compares them in the order of the sequences.
 *
 * The first unfinished sequence has the turn: its results are written immediately. Workers of later
 * sequences keep their records in memory, up to a limit, and then wait. The bytes of the outputs
 * and their order therefore do not depend on --jobs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_COLLECT_H
#define IRRUN_CLI_COLLECT_H

#include "cli/compare.h"
#include "cli/json.h"
#include "cli/outputs.h"

struct collector;

/* The records that one worker keeps until its turn. All zeros: none. */
struct backlog {
    unsigned char *bytes;
    size_t n_bytes, capacity;
};

bool collector_new(const struct irrun_model *model, const struct options *options,
                   struct collector **collector, struct irrun_error *err);
void collector_free(struct collector *collector); /* removes unfinished files; accepts NULL */

/* Return which records the collector needs. */
bool collector_wants_all(const struct collector *collector);  /* all are written or compared */
bool collector_wants_last(const struct collector *collector); /* the last one is written */
bool collector_writes_all(const struct collector *collector); /* all are written */

/* Begins a sequence. values: all outputs of the model, in the order of the model; an output may be
 * NULL or lack data. Returns false without an error, as collector_add does, if collector_stop has
 * stopped the sequence. */
bool collector_begin(struct collector *collector, struct backlog *backlog,
                     const struct sequence *sequence, const struct irrun_tensor *const *values,
                     bool is_stacked, struct irrun_error *err);
/* Adds a record. is_last: the record is the last one for --emit=last; it is only written, because
 * it has already been compared. */
bool collector_add(struct collector *collector, struct backlog *backlog,
                   const struct sequence *sequence, const struct irrun_tensor *const *values,
                   uint64_t index, bool is_last, struct irrun_error *err);
bool collector_end(struct collector *collector, struct backlog *backlog,
                   const struct sequence *sequence, struct irrun_error *err);

/* Ends a sequence that failed. Its earlier records are still written. */
void collector_fail_sequence(struct collector *collector, struct backlog *backlog,
                             const struct sequence *sequence);

/* Ends a sequence that failed while others continue. Its records are kept only in files that it
 * shares with other sequences. Fails if a record cannot be written. Returns false without an error
 * if an earlier sequence stopped the run. */
bool collector_drop_sequence(struct collector *collector, struct backlog *backlog,
                             const struct sequence *sequence, struct irrun_error *err);

/* Flushes pipes if the sequence has the turn. sequence: NULL if there is only one worker. */
bool collector_flush(struct collector *collector, const struct sequence *sequence,
                     struct irrun_error *err);

/* Returns the outputs. Any worker may query them; only the worker whose turn it is may use them
 * for --checkpoint. */
struct outputs *collector_outputs(struct collector *collector);

/* Skips a sequence that is not run. --expect then reports no difference, since this sequence is not
 * compared. Returns false without an error if an earlier sequence stopped the run. */
bool collector_skip(struct collector *collector, const struct sequence *sequence);

/* Stops all sequences after number `index`, which failed. */
void collector_stop(struct collector *collector, uint64_t index);

/* Fails with IRRUN_MISMATCH if an output differs from --expect and no sequence was skipped. Call it
 * after outputs_finish. */
bool collector_finish_compare(struct collector *collector, struct irrun_error *err);

/* Adds an item to the report for every output that was compared. */
void collector_report(const struct collector *collector, struct json *json);

#endif
