/* --manifest: a file with a sequence on every line.
 *
 * KEY, then NAME=SRC or SRC, then >NAME=DST or >DST, separated by tabs; or only SRC, whose file
 * name is the key. Empty lines are skipped.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_MANIFEST_H
#define IRRUN_CLI_MANIFEST_H

#include "cli/sequence.h"

struct manifest;

/* Opens the file that the options name, or "-" = standard input. wait: what is done before the
 * next line makes the run wait; borrowed, may be NULL. IRRUN_NO_INPUT. */
bool manifest_open(const struct options *options, const struct reader_wait *wait,
                   struct manifest **manifest, struct irrun_error *err);
void manifest_close(struct manifest *manifest); /* NULL is allowed */

/* Reads the next line into the sequence, or only past it if it is not wanted. IRRUN_DATA with the
 * line's number if it cannot be understood. */
bool manifest_next(struct manifest *manifest, struct sequence *sequence, bool is_wanted,
                   bool *is_end, struct irrun_error *err);

#endif
