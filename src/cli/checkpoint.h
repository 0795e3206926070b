/* --checkpoint: saves the progress of a run in a file from which another process can resume it.
 *
 * The file is an npz. Its member "checkpoint" is text that identifies the run and lists the current
 * position in each output. The other members are the variables ("variable:ID").
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_CHECKPOINT_H
#define IRRUN_CLI_CHECKPOINT_H

#include "cli/model_identity.h"
#include "cli/snapshot.h"

/* The progress of a run. All zeros: the run has not started. */
struct checkpoint {
    bool is_found;     /* a file to resume from exists */
    bool is_finishing; /* all records are written, but output files still have temporary names */
    uint64_t n_iterations;             /* completed */
    struct writer_position *positions; /* [n_positions], one per output */
    size_t n_positions;
    struct snapshot variables;
};

void checkpoint_free(struct checkpoint *checkpoint);

/* Fails with IRRUN_USAGE if an option cannot be used together with --checkpoint. */
bool checkpoint_check(const struct options *options, struct irrun_error *err);

/* Sets *identity to a text that describes the run. The caller frees it. A run can resume only from
 * a checkpoint with the same text. Fails with IRRUN_USAGE if an input is not a regular file. */
bool checkpoint_identify(const struct model_identity *model, const struct irrun_session *session,
                         const struct options *options, char **identity, struct irrun_error *err);

/* Reads the file at options->checkpoint_path, if it exists. Fails with IRRUN_DATA if the file is
 * damaged or belongs to a different run; the message names the difference. */
bool checkpoint_read(const struct options *options, const char *identity,
                     const struct all_variables *variables, struct checkpoint *checkpoint,
                     struct irrun_error *err);

/* Writes the file. An old file is replaced only when the new one is complete. */
bool checkpoint_write(const struct options *options, const char *identity,
                      const struct all_variables *variables, const struct checkpoint *checkpoint,
                      struct irrun_error *err);

/* Removes the file at the end of the run. */
bool checkpoint_remove(const struct options *options, struct irrun_error *err);

#endif
