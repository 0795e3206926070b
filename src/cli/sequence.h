/* Sequences of records, from the command line, archives or a manifest. Within a sequence, the
 * variables keep their values from each record to the next.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SEQUENCE_H
#define IRRUN_CLI_SEQUENCE_H

#include "cli/options.h"

/* A source that a sequence reads, or an array that was already read from an ark. */
struct sequence_input {
    struct binding binding;
    struct irrun_tensor array; /* malloc'ed, owned by the sequence; data NULL: read the binding */
};

struct sequence {
    const char *key; /* the name in text output and arks, and %k in file names */
    uint64_t index;  /* from 0, among the sequences that are run */
    uint64_t number; /* from 0, among all sequences, including those of other shards */
    struct sequence_input *inputs;
    size_t n_inputs;
    const struct binding *outputs; /* [n_outputs], from its line in a manifest */
    size_t n_outputs;              /* 0: uses the outputs of the command line */
    struct place place;            /* of its line in a manifest; file is NULL without a manifest */
    struct arena arena;            /* holds all members */
};

struct sequences;

/* Creates the sequences of the command line, and opens the files that list several. wait: called
 * before waiting for the next sequence; borrowed, may be NULL. is_list: lists the sequences of all
 * shards, without their data; the files must be regular. */
bool sequences_new(const struct options *options, const struct reader_wait *wait, bool is_list,
                   struct sequences **sequences, struct irrun_error *err);
void sequences_free(struct sequences *sequences); /* accepts NULL */

/* Returns the next sequence, which the caller frees; at the end *has_one is false. Called by one
 * thread at a time. */
bool sequences_next(struct sequences *sequences, struct sequence *sequence, bool *has_one,
                    struct irrun_error *err);
void sequence_free(struct sequence *sequence);

/* Adds the line of the manifest to an error of its sequence. IRRUN_USAGE without a file,
 * such as a wrong name, becomes IRRUN_DATA. */
void sequence_locate(const struct sequence *sequence, struct irrun_error *err);

/* Returns the name of the file without directory and extension, in the arena. */
char *sequence_key_of_path(const char *path, struct arena *arena, struct irrun_error *err);

/* Returns whether there may be more than one sequence. */
bool sequences_are_many(const struct options *options);

#endif
