/* Writes JSON. Does not check that brackets match, or that objects have keys.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_quoted(struct text *text, const char *string)
{
    text_add_bytes(text, "\"", 1);
    while (*string) {
        char escaped[TEXT_JSON_BYTES];
        string = text_to_json(string, escaped);
        text_add_bytes(text, escaped, strlen(escaped));
    }
    text_add_bytes(text, "\"", 1);
}

static void begin_item(struct json *json, const char *key)
{
    if (json->has_items)
        text_add_bytes(json->text, ",", 1);
    json->has_items = true;
    if (!key)
        return;
    add_quoted(json->text, key);
    text_add_bytes(json->text, ":", 1);
}

void json_open(struct json *json, const char *key, char bracket)
{
    begin_item(json, key);
    text_add_bytes(json->text, &bracket, 1);
    json->has_items = false;
}

void json_close(struct json *json, char bracket)
{
    text_add_bytes(json->text, &bracket, 1);
    json->has_items = true;
}

void json_string(struct json *json, const char *key, const char *value)
{
    begin_item(json, key);
    if (value)
        add_quoted(json->text, value);
    else
        text_add(json->text, "null");
}

void json_number(struct json *json, const char *key, double value)
{
    char number[TEXT_NUMBER_BYTES];
    begin_item(json, key);
    if (isfinite(value))
        text_add_bytes(json->text, number, text_from_f64(value, number));
    else
        text_add(json->text, "null");
}

void json_count(struct json *json, const char *key, uint64_t value)
{
    begin_item(json, key);
    text_add(json->text, "%" PRIu64, value);
}

void json_integer(struct json *json, const char *key, int64_t value)
{
    begin_item(json, key);
    text_add(json->text, "%" PRId64, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
    begin_item(json, key);
    text_add(json->text, "%s", value ? "true" : "false");
}

bool json_print(struct json *json, struct irrun_error *err)
{
    bool is_complete = text_check(json->text, err);
    if (is_complete)
        puts(json->text->data);
    text_free(json->text);
    return is_complete;
}
