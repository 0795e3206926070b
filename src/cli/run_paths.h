/* All files that a run reads and writes, in one table: which of them may be one file, and which
 * this process holds against others. Nothing else decides that.
 *
 * Devices, FIFOs and pipes may be used any number of times. --state-out may replace what --state-in
 * loaded for the same sequence.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RUN_PATHS_H
#define IRRUN_CLI_RUN_PATHS_H

#include "cli/outputs.h"
#include "cli/sequence.h"

struct run_paths;

/* Enters the files of the command line, and those of all sequences where they can be known before
 * the run: of a manifest and an archive that are regular files. IRRUN_USAGE, or IRRUN_DATA at the
 * place in the manifest or archive, if a file would be written that is written or read elsewhere
 * too. Borrows its arguments. */
bool run_paths_new(const struct irrun_model *model, const struct options *options,
                   const struct outputs *outputs, struct run_paths **paths,
                   struct irrun_error *err);

/* Enters the files of a sequence before it is run, if they were not known earlier. Called by one
 * thread at a time. Fails with IRRUN_DATA as above. */
bool run_paths_begin_sequence(struct run_paths *paths, const struct sequence *sequence,
                              struct irrun_error *err);

/* Reserves what the command line says will be written. IRRUN_CANT_CREATE if it cannot be, or
 * another process is writing it. */
bool run_paths_reserve(struct run_paths *paths, struct irrun_error *err);

void run_paths_free(struct run_paths *paths); /* gives up what is reserved; NULL is allowed */

#endif
