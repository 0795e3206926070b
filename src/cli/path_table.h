/* The table of the files that a run reads and writes: a file that is there already and may not be
 * is a finding. The run says which there are (run_paths.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_PATH_TABLE_H
#define IRRUN_CLI_PATH_TABLE_H

#include "base/digest_set.h"
#include "cli/sequence.h"

enum path_kind {
    PATH_MODEL,
    PATH_WEIGHTS,
    PATH_MANIFEST,
    PATH_INPUT,
    PATH_EXPECTED,
    PATH_REFERENCE,
    PATH_STATE_IN,
    PATH_OUTPUT,
    PATH_KEYED, /* an array of an output that several sequences share: the file, and the key */
    PATH_REPORT,
    PATH_TAP_ALL,
    PATH_TAP_RECORDS,
    PATH_TRACE,
    PATH_STATE_OUT,
    PATH_CHECKPOINT,
    PATH_UNFINISHED, /* of an output or checkpoint */
    PATH_STANDARD_OUTPUT
};

/* A file that the run uses, and who asks for it. */
struct path_use {
    enum path_kind kind;
    const char *path;                /* "-": standard input or output */
    const char *key;                 /* of PATH_KEYED */
    const struct sequence *sequence; /* NULL: the command line */
};

/* Holds digests: neither paths nor sequences are kept. */
struct path_table {
    const struct options *options;
    struct digest_set seen;
    bool is_many;      /* sequences */
    bool is_ahead;     /* they are all entered before the first is run */
    bool enters_reads; /* what sequences read: some of them write files of their own */
    bool has_writes;   /* any file */
    bool has_conflict; /* found one */
};

bool path_kind_is_written(enum path_kind kind);

/* Enters the use of a file; of what is none, a device or a pipe, nothing. What is written may not
 * be in the table already, nor may what was entered as written be read: IRRUN_USAGE, or IRRUN_DATA
 * at the place of the sequence, with the other place. */
bool path_table_enter(struct path_table *table, const struct path_use *use,
                      struct irrun_error *err);

#endif
