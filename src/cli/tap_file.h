/* --tap-all and --tap-records: write every tensor of the last iteration, or of all iterations, to
 * one npz.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_TAP_FILE_H
#define IRRUN_CLI_TAP_FILE_H

#include "base/arena.h"

/* A file with all outputs of the model, including traced ones. */
struct tap_file;

/* Returns unique names for all outputs of the model, in the arena. Repeated names get the suffixes
 * "~2", "~3" …, except suffixes that would give the name of a different output. */
bool tap_file_names(const struct irrun_model *model, struct arena *arena, const char ***names,
                    struct irrun_error *err);

/* Opens a file for the outputs that have values after a run of the session. is_stacked: the file
 * gets several records. */
bool tap_file_open(const char *path, const struct irrun_model *model,
                   const struct irrun_session *session, bool is_stacked, bool is_synced,
                   struct tap_file **file, struct irrun_error *err);

/* Adds the outputs of the last run as a record. */
bool tap_file_add(struct tap_file *file, const struct irrun_session *session,
                  struct irrun_error *err);

/* Finishes the file and gives it its final name. Accepts NULL. */
bool tap_file_finish(struct tap_file *file, struct irrun_error *err);
void tap_file_free(struct tap_file *file); /* removes an unfinished file; accepts NULL */

#endif
