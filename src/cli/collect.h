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

/* A sequence in three steps. values: the model's outputs, in its order; in the first step they may
 * lack data, or be NULL. After collector_stop these return false, without an error, for later
 * sequences. */
bool collector_begin(struct collector *collector, struct backlog *backlog,
                     const struct sequence *sequence, const struct irrun_tensor *const *values,
                     bool is_stacked, struct irrun_error *err);
/* is_last: it is the one that --emit=last writes, and was given before as one of all. */
bool collector_take(struct collector *collector, struct backlog *backlog,
                    const struct sequence *sequence, const struct irrun_tensor *const *values,
                    uint64_t index, bool is_last, struct irrun_error *err);
bool collector_end(struct collector *collector, struct backlog *backlog,
                   const struct sequence *sequence, struct irrun_error *err);

/* The sequence failed: the records it gave before are written nevertheless. */
void collector_give_up(struct collector *collector, struct backlog *backlog,
                       const struct sequence *sequence);

/* The sequence failed, and the others are run: its turn is over. What it gave stays only in files
 * that it shares with others. */
void collector_leave_out(struct collector *collector, struct backlog *backlog,
                         const struct sequence *sequence);

/* Sends off what waits for pipes, if it is the turn of the sequence; NULL: there is no other
 * worker. */
bool collector_flush(struct collector *collector, const struct sequence *sequence,
                     struct irrun_error *err);

/* The outputs: for what any worker may ask, and for --checkpoint of the worker whose turn it is. */
struct outputs *collector_outputs(struct collector *collector);

/* A sequence that is not run takes its turn too. There is nothing of it to compare: no verdict. */
bool collector_skip(struct collector *collector, const struct sequence *sequence);

/* Sequence `index` failed: those after it need not continue. */
void collector_stop(struct collector *collector, uint64_t index);

/* After outputs_finish, the verdict of --expect: IRRUN_MISMATCH. None if a sequence was skipped. */
bool collector_judge(struct collector *collector, struct irrun_error *err);

/* An item for every output that was compared. */
void collector_report(const struct collector *collector, struct json *json);

#endif
