/* --manifest: reads sequences from a file with one sequence per line.
 *
 * A line is KEY, then fields NAME=SRC or SRC, then fields >NAME=DST or >DST, separated by tabs; or
 * only SRC, and then its file name is the key. Empty lines are skipped.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_MANIFEST_H
#define IRRUN_CLI_MANIFEST_H

#include "cli/sequence.h"

struct manifest;

/* Opens the manifest; "-" is standard input. wait: called before the run waits for the next line;
 * borrowed, may be NULL. Fails with IRRUN_NO_INPUT. */
bool manifest_open(const struct options *options, const struct reader_wait *wait,
                   struct manifest **manifest, struct irrun_error *err);
void manifest_close(struct manifest *manifest); /* accepts NULL */

/* Reads the next line into the sequence, or skips it if !is_wanted. Fails with IRRUN_DATA and the
 * line number if the line is invalid. */
bool manifest_next(struct manifest *manifest, struct sequence *sequence, bool is_wanted,
                   bool *is_end, struct irrun_error *err);

#endif
