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

/* Creates the sequences of the command line, and opens the files that hold several. wait: called
 * before the run has to wait for the next one; borrowed, may be NULL. is_list: lists all of them,
 * not only those of --shard, without their data, to look ahead; then the files must be regular. */
bool sequences_new(const struct options *options, const struct reader_wait *wait, bool is_list,
                   struct sequences **sequences, struct irrun_error *err);
void sequences_free(struct sequences *sequences); /* NULL is allowed */

/* Returns the next sequence, which the caller frees; at the end *has_one is false. Called by one
 * thread at a time. */
bool sequences_next(struct sequences *sequences, struct sequence *sequence, bool *has_one,
                    struct irrun_error *err);
void sequence_free(struct sequence *sequence);

/* Adds the line of the manifest to an error in a sequence that it describes. A wrong name there is
 * bad data, not bad usage. */
void sequence_locate(const struct sequence *sequence, struct irrun_error *err);

/* Returns the name of the file without directory and extension, in the arena. */
char *sequence_key_of_path(const char *path, struct arena *arena, struct irrun_error *err);

/* Whether there may be more than one. */
bool sequences_are_many(const struct options *options);

#endif
