/* Checks that a run does not write a file that it also reads or writes elsewhere, and locks the
 * files that it writes.
 *
 * Devices, FIFOs and pipes may be used any number of times. --state-out may replace the file that
 * --state-in loaded for the same sequence.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RUN_PATHS_H
#define IRRUN_CLI_RUN_PATHS_H

#include "cli/outputs.h"
#include "cli/sequence.h"

struct run_paths;

/* Adds the files of the command line, and those of all sequences if they are known before the run,
 * from a manifest or an archive that is a regular file. Fails with IRRUN_USAGE, or with
 * IRRUN_DATA at the place in the manifest or archive, if a file is written that is also written or
 * read elsewhere. Borrows its arguments. */
bool run_paths_new(const struct irrun_model *model, const struct options *options,
                   const struct outputs *outputs, struct run_paths **paths,
                   struct irrun_error *err);

/* Adds the files of a sequence before it is run, if they were not known before. Called by one
 * thread at a time. Fails with IRRUN_DATA as above. */
bool run_paths_begin_sequence(struct run_paths *paths, const struct sequence *sequence,
                              struct irrun_error *err);

/* Reserves the files of the command line that will be written. Fails with IRRUN_CANT_CREATE if a
 * file cannot be created, or if another process is writing it. */
bool run_paths_reserve(struct run_paths *paths, struct irrun_error *err);

void run_paths_free(struct run_paths *paths); /* releases reserved files; accepts NULL */

#endif
