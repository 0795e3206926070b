/* A table of the files that a run reads and writes, which finds conflicts between them. run_paths.h
 * adds the files.
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
    PATH_KEYED, /* one array, named by its key, of a file that several sequences write */
    PATH_REPORT,
    PATH_GRAPH,
    PATH_TAP_ALL,
    PATH_TAP_RECORDS,
    PATH_TRACE,
    PATH_STATE_OUT,
    PATH_CHECKPOINT,
    PATH_UNFINISHED, /* the file .partial of an output or checkpoint */
    PATH_STANDARD_OUTPUT
};

/* A file that the run uses, and the sequence that uses it. */
struct path_use {
    enum path_kind kind;
    const char *path;                /* "-": standard input or output */
    const char *key;                 /* for PATH_KEYED */
    const struct sequence *sequence; /* NULL: the command line */
};

/* Stores digests: neither paths nor sequences are kept. */
struct path_table {
    const struct options *options;
    struct digest_set seen;
    bool is_many;      /* there are several sequences */
    bool is_ahead;     /* all sequences are added before the first one runs */
    bool adds_reads;   /* also add the files that sequences read, because some sequences write */
    bool has_writes;   /* a file is written */
    bool has_conflict; /* a conflict was found */
};

bool path_kind_is_written(enum path_kind kind);

/* Adds the use of a file; ignores devices and pipes. A file that is written must not be in the
 * table yet, and a file that is read must not be written. Fails with IRRUN_USAGE, or IRRUN_DATA at
 * the place of the sequence; the message names the other use. */
bool path_table_add(struct path_table *table, const struct path_use *use, struct irrun_error *err);

#endif
