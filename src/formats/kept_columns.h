/* --keep-columns: copies text columns from the input table to the output table. The queue holds
 * rows that the reader has added and the writer has not written yet.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_KEPT_COLUMNS_H
#define IRRUN_FORMATS_KEPT_COLUMNS_H

#include "base/text.h"

/* Initialize with zeros, except for `wanted`. */
struct kept_columns {
    const char *wanted;  /* "A,B,...", or "all" */
    const char *path;    /* of the table whose reader adds rows; NULL: not opened yet */
    struct text heading; /* the row of headings, with '\n'; empty if the table has none */
    struct text rows;    /* rows that were read, each with '\n' at the end */
    size_t offset;       /* of the first row that is not written yet */
    struct slice row;    /* the row to write now; a view of `rows` */
};

void kept_columns_free(struct kept_columns *kept);

/* Appends a field to a row of csv, with quotes if necessary. `separator` is that of the file that
 * is read. */
void kept_columns_add(struct text *row, bool is_first, const char *field, size_t length,
                      char separator);

/* Sets `row` to the next row, before a record is written. */
void kept_columns_next(struct kept_columns *kept);

#endif
