/* What comes out of the workers, in the order of the sequences: writes it and compares it.
 *
 * One sequence at a time has its turn: what its worker gives goes straight on. A worker whose turn
 * has not come keeps its records in memory, up to a limit; then it waits. So neither bytes nor
 * order depend on --jobs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_COLLECT_H
#define IRRUN_CLI_COLLECT_H

#include "cli/compare.h"
#include "cli/json.h"
#include "cli/outputs.h"

struct collector;

/* What one worker keeps until its turn. All zero = nothing. */
struct backlog {
    unsigned char *bytes;
    size_t n_bytes, capacity;
};

bool collector_new(const struct irrun_model *model, const struct options *options,
                   struct collector **collector, struct irrun_error *err);
void collector_free(struct collector *collector); /* removes what is unfinished; NULL is allowed */

/* Whether the records between the first and the last of a sequence are of any use. */
bool collector_wants_all(const struct collector *collector);
bool collector_wants_last(const struct collector *collector);
bool collector_writes_all(const struct collector *collector);

/* Write a sequence in three steps. values: the outputs of the model, in its order; in the first
 * step they may have no data, or be NULL. After collector_stop they return false for later
 * sequences, without an error. */
bool collector_begin(struct collector *collector, struct backlog *backlog,
                     const struct sequence *sequence, const struct irrun_tensor *const *values,
                     bool is_stacked, struct irrun_error *err);
/* Takes a record. is_last: it is the record that --emit=last writes, and was taken before as one of
 * all. */
bool collector_take(struct collector *collector, struct backlog *backlog,
                    const struct sequence *sequence, const struct irrun_tensor *const *values,
                    uint64_t index, bool is_last, struct irrun_error *err);
bool collector_end(struct collector *collector, struct backlog *backlog,
                   const struct sequence *sequence, struct irrun_error *err);

/* Ends a sequence that failed. The records that it gave before are written nevertheless. */
void collector_give_up(struct collector *collector, struct backlog *backlog,
                       const struct sequence *sequence);

/* Ends the turn of a sequence that failed while the others are run. Its records stay only in files
 * that it shares with others. */
void collector_leave_out(struct collector *collector, struct backlog *backlog,
                         const struct sequence *sequence);

/* Sends off what waits for pipes, if it is the turn of the sequence; NULL: there is no other
 * worker. */
bool collector_flush(struct collector *collector, const struct sequence *sequence,
                     struct irrun_error *err);

/* Returns the outputs, for what any worker may ask, and for --checkpoint of the worker that has its
 * turn. */
struct outputs *collector_outputs(struct collector *collector);

/* Passes the turn of a sequence that is not run. Then --expect has no verdict, because nothing of
 * the sequence can be compared. */
bool collector_skip(struct collector *collector, const struct sequence *sequence);

/* Stops the sequences after `index`, which failed. */
void collector_stop(struct collector *collector, uint64_t index);

/* Gives the verdict of --expect, after outputs_finish: fails with IRRUN_MISMATCH if an output
 * differs. There is no verdict if a sequence was skipped. */
bool collector_judge(struct collector *collector, struct irrun_error *err);

/* Adds an item for every output that was compared. */
void collector_report(const struct collector *collector, struct json *json);

#endif
