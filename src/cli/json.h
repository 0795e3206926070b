/* Writes JSON: commas, strings and numbers. NaN and infinities become null.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_JSON_H
#define IRRUN_CLI_JSON_H

#include <stdint.h>

#include "base/text.h"

/* Zeros except for `text`: an empty document. */
struct json {
    struct text *text;
    bool has_items; /* the open object or array has an item, so a comma is needed */
};

/* Write the parts of a document. key is NULL in an array, and for the outermost object. */
void json_open(struct json *json, const char *key, char bracket);        /* '{' or '[' */
void json_close(struct json *json, char bracket);                        /* '}' or ']' */
void json_string(struct json *json, const char *key, const char *value); /* NULL: null */
void json_number(struct json *json, const char *key, double value);
void json_count(struct json *json, const char *key, uint64_t value);
void json_integer(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);

/* Prints the document to standard output, and frees its text. */
bool json_print(struct json *json, struct irrun_error *err);

#endif
