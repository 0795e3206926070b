/* The queue of text rows for --keep-columns.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/kept_columns.h"

#include <string.h>

/* Written rows are removed from memory when they take this many bytes. */
#define WRITTEN_BYTES ((size_t)1 << 16)

void kept_columns_free(struct kept_columns *kept)
{
    text_free(&kept->heading);
    text_free(&kept->rows);
}

void kept_columns_add(struct text *row, bool is_first, const char *field, size_t length,
                      char separator)
{
    /* In a file with tabs, a field may begin with a quote that is not closed. */
    bool is_open = length > 0 && field[0] == '"' && (length == 1 || field[length - 1] != '"');
    bool has_comma = length > 0 && field[0] != '"' && memchr(field, ',', length);
    bool needs_quotes = separator != ',' && (is_open || has_comma);
    if (!is_first)
        text_add_bytes(row, ",", 1);
    if (!needs_quotes) {
        text_add_bytes(row, field, length);
        return;
    }
    text_add_bytes(row, "\"", 1);
    for (size_t i = 0; i < length; i++)
        text_add_bytes(row, field[i] == '"' ? "\"\"" : &field[i], field[i] == '"' ? 2 : 1);
    text_add_bytes(row, "\"", 1);
}

void kept_columns_next(struct kept_columns *kept)
{
    struct text *rows = &kept->rows;
    if (kept->offset > WRITTEN_BYTES) {
        rows->length -= kept->offset;
        memmove(rows->data, rows->data + kept->offset, rows->length);
        kept->offset = 0;
    }
    const char *start = rows->data ? rows->data + kept->offset : NULL;
    const char *end = start ? memchr(start, '\n', rows->length - kept->offset) : NULL;
    kept->row = (struct slice){start, end ? end : start};
    kept->offset += end ? (size_t)(end - start) + 1 : 0;
}
