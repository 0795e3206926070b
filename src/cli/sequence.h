/* Sequences: records that belong together and share the variables; where they come from, and in
 * which order.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SEQUENCE_H
#define IRRUN_CLI_SEQUENCE_H

#include "cli/options.h"

/* What a sequence reads: a source, or an array of an ark that is in memory already. */
struct sequence_input {
    struct binding binding;
    struct irrun_tensor array; /* malloc'ed, the sequence's; data NULL: the binding is to be read */
};

struct sequence {
    const char *key; /* what text output and ark call it, and %k in names */
    uint64_t index;  /* from 0, among those that are run */
    uint64_t number; /* from 0, among all, --shard or not */
    struct sequence_input *inputs;
    size_t n_inputs;
    const struct binding *outputs; /* those of its line of a manifest … */
    size_t n_outputs;              /* … 0: those of the command line */
    struct place place;            /* of that line; file NULL if there is none */
    struct arena arena;            /* of all this */
};

struct sequences;

/* The sequences that the command line asks for. Opens what holds several of them. wait: what is
 * done before the next one makes the run wait; borrowed, may be NULL. is_list: without their data,
 * and not only those of --shard, to look ahead: what is read must be regular files. */
bool sequences_new(const struct options *options, const struct reader_wait *wait, bool is_list,
                   struct sequences **sequences, struct irrun_error *err);
void sequences_free(struct sequences *sequences); /* NULL is allowed */

/* The next one, the caller's to free; at the end *has_one is false. For one thread at a time. */
bool sequences_next(struct sequences *sequences, struct sequence *sequence, bool *has_one,
                    struct irrun_error *err);
void sequence_free(struct sequence *sequence);

/* What went wrong in a sequence that a manifest describes: its line is the place, and a wrong name
 * there is bad data, not bad usage. */
void sequence_locate(const struct sequence *sequence, struct irrun_error *err);

/* The file's name without directory and extension, in the arena. */
char *sequence_key_of_path(const char *path, struct arena *arena, struct irrun_error *err);

/* Whether there may be more than one. */
bool sequences_are_many(const struct options *options);

#endif
