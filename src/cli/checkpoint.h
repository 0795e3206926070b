/* --checkpoint: how far a run has come, in a file from which another process resumes.
 *
 * An npz: member "checkpoint" is text that says of which run it is and where its outputs stand; the
 * others are the variables ("variable:ID").
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_CHECKPOINT_H
#define IRRUN_CLI_CHECKPOINT_H

#include "cli/model_identity.h"
#include "cli/snapshot.h"

/* Where a run stands. All zero = at its beginning. */
struct checkpoint {
    bool is_found;
    bool is_finishing;     /* every record is written: only the names of the outputs are missing */
    uint64_t n_iterations; /* done */
    struct writer_position *positions; /* [n_positions] of the destinations */
    size_t n_positions;
    struct snapshot variables;
};

void checkpoint_free(struct checkpoint *checkpoint);

/* IRRUN_USAGE if the options do not go with --checkpoint. */
bool checkpoint_check(const struct options *options, struct irrun_error *err);

/* What a checkpoint must have been made with: the text is malloc'ed, the caller's. IRRUN_USAGE for
 * inputs that are not regular files. */
bool checkpoint_identify(const struct model_identity *model, const struct irrun_session *session,
                         const struct options *options, char **identity, struct irrun_error *err);

/* Reads the file at options->checkpoint_path, if there is one. IRRUN_DATA if it is damaged, or of a
 * run that was another one, saying in what. */
bool checkpoint_read(const struct options *options, const char *identity,
                     const struct all_variables *variables, struct checkpoint *checkpoint,
                     struct irrun_error *err);

/* Writes it; the file appears complete or the old one stays. */
bool checkpoint_write(const struct options *options, const char *identity,
                      const struct all_variables *variables, const struct checkpoint *checkpoint,
                      struct irrun_error *err);

/* At the end of the run. */
bool checkpoint_remove(const struct options *options, struct irrun_error *err);

#endif
