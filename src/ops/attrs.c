/* Parses the attributes of a layer's <data> into the attribute struct of its op.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/attrs.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "ops/op.h"

/* Cuts text in messages to 200 bytes. */
#define SHOWN "%.200s"

/* The attribute that is being parsed, and what its messages need. */
struct attr_parser {
    const struct op_def *def;
    const struct attr_def *attr;
    const char *value;
    struct arena *arena;
    const char *layer_name;
    struct place place;
    struct irrun_error *err;
};

static bool fail_value(const struct attr_parser *parser, const char *why)
{
    fail_at(parser->err, IRRUN_DATA, parser->place,
            "%s \"" SHOWN "\": attribute %s is \"" SHOWN "\": %s", parser->def->type,
            parser->layer_name, parser->attr->name, parser->value, why);
    return fail_hint(parser->err, "fix %s in the layer's <data>", parser->attr->name);
}

static struct slice value_of(const struct attr_parser *parser)
{
    return slice_trim((struct slice){parser->value, parser->value + strlen(parser->value)});
}

/* Removes the blanks and brackets around a list, and counts its items. */
static bool strip_list(const struct attr_parser *parser, struct slice *list, uint32_t *n)
{
    *list = value_of(parser);
    bool is_open = list->at < list->end && list->at[0] == '[';
    bool is_closed = list->at < list->end && list->end[-1] == ']';
    if (is_open != is_closed || (is_open && slice_length(*list) < 2))
        return fail_value(parser, "expected a list whose brackets match");
    if (is_open)
        *list = slice_trim((struct slice){list->at + 1, list->end - 1});
    size_t n_items = list->at < list->end;
    for (const char *at = list->at; at < list->end; at++)
        n_items += *at == ',';
    if (n_items > UINT32_MAX)
        return fail_value(parser, "expected a shorter list");
    *n = (uint32_t)n_items;
    return true;
}

static struct slice next_item(struct slice *list)
{
    const char *comma = memchr(list->at, ',', slice_length(*list));
    struct slice item = {list->at, comma ? comma : list->end};
    list->at = comma ? comma + 1 : list->end;
    return slice_trim(item);
}

typedef bool read_item_fn(const struct attr_parser *parser, struct slice item, void *to);

/* Reads the items of a list, of item_bytes each; NULL on failure. */
static void *read_list(const struct attr_parser *parser, uint32_t *n, size_t item_bytes,
                       read_item_fn *read_item)
{
    struct slice list;
    if (!strip_list(parser, &list, n))
        return NULL;
    char *items = arena_alloc_array(parser->arena, *n, item_bytes, parser->err);
    for (uint32_t i = 0; items && i < *n; i++)
        if (!read_item(parser, next_item(&list), items + i * item_bytes))
            return NULL;
    return items;
}

static bool read_int_item(const struct attr_parser *parser, struct slice item, void *to)
{
    return text_to_i64(item.at, slice_length(item), to) ||
           fail_value(parser, "expected whole numbers separated by commas");
}

static bool read_float_item(const struct attr_parser *parser, struct slice item, void *to)
{
    return text_to_f64(item.at, slice_length(item), to) ||
           fail_value(parser, "expected numbers separated by commas");
}

static bool read_string_item(const struct attr_parser *parser, struct slice item, void *to)
{
    if (item.at == item.end)
        return fail_value(parser, "expected words separated by commas");
    const char *copy = arena_strndup(parser->arena, item.at, slice_length(item), parser->err);
    *(const char **)to = copy;
    return copy != NULL;
}

/* Fills `field`, a list of this type. */
#define READ_LIST(type, read_item)                                                                 \
    ((((type *)field)->items = read_list(parser, &((type *)field)->n,                              \
                                         sizeof *((type *)field)->items, read_item)) != NULL)

/* Returns the index of the value in "word|word…", ignoring case; -1 if no word matches. */
static int find_choice(const struct attr_parser *parser, const char *choice)
{
    struct slice word = value_of(parser);
    for (int index = 0;; index++) {
        size_t length = strcspn(choice, "|");
        if (length == slice_length(word) && strncasecmp(choice, word.at, length) == 0)
            return index;
        if (choice[length] == '\0')
            return -1;
        choice += length + 1;
    }
}

static bool read_bool(const struct attr_parser *parser, bool *field)
{
    int index = find_choice(parser, "false|true|0|1");
    *field = index % 2 == 1;
    return index >= 0 || fail_value(parser, "expected true or false");
}

static bool read_choice(const struct attr_parser *parser, int *field)
{
    *field = find_choice(parser, parser->attr->choices);
    if (*field >= 0)
        return true;
    char expected[300];
    snprintf(expected, sizeof expected, "expected one of %s", parser->attr->choices);
    return fail_value(parser, expected);
}

static bool read_shape(const struct attr_parser *parser, struct irrun_partial_shape *field)
{
    const char *why = "";
    return partial_shape_parse(parser->value, field, &why) || fail_value(parser, why);
}

static bool read_static_shape(const struct attr_parser *parser, struct irrun_shape *field)
{
    struct irrun_partial_shape partial;
    const char *why = "";
    if (!partial_shape_parse(parser->value, &partial, &why))
        return fail_value(parser, why);
    return partial_shape_to_shape(&partial, field) ||
           fail_value(parser, "expected dimensions that are whole numbers");
}

static bool read_value(const struct attr_parser *parser, void *field)
{
    const char *value = parser->value;
    switch (parser->attr->kind) {
    case ATTR_KIND_INT:
        return text_to_i64(value, strlen(value), field) ||
               fail_value(parser, "expected a whole number");
    case ATTR_KIND_FLOAT:
        return text_to_f64(value, strlen(value), field) || fail_value(parser, "expected a number");
    case ATTR_KIND_BOOL:
        return read_bool(parser, field);
    case ATTR_KIND_STRING:
        return (*(const char **)field = arena_strdup(parser->arena, value, parser->err)) != NULL;
    case ATTR_KIND_INTS:
        return READ_LIST(struct i64_list, read_int_item);
    case ATTR_KIND_FLOATS:
        return READ_LIST(struct f64_list, read_float_item);
    case ATTR_KIND_STRINGS:
        return READ_LIST(struct string_list, read_string_item);
    case ATTR_KIND_DTYPE:
        return dtype_parse(value, field) ||
               fail_value(parser, "expected an element type such as f32");
    case ATTR_KIND_SHAPE:
        return read_shape(parser, field);
    case ATTR_KIND_STATIC_SHAPE:
        return read_static_shape(parser, field);
    case ATTR_KIND_CHOICE:
        return read_choice(parser, field);
    }
    return fail(parser->err, IRRUN_INTERNAL, "attribute %s has no kind", parser->attr->name);
}

const char *attrs_find(const char *const *pairs, const char *name)
{
    for (; pairs && pairs[0]; pairs += 2)
        if (strcmp(pairs[0], name) == 0)
            return pairs[1];
    return NULL;
}

bool attrs_read(const struct op_def *def, const char *const *pairs, void *attrs,
                struct arena *arena, const char *layer_name, struct place place,
                struct irrun_error *err)
{
    struct attr_parser parser = {
        .def = def, .arena = arena, .layer_name = layer_name, .place = place, .err = err};
    for (uint32_t i = 0; i < def->n_attrs; i++) {
        const struct attr_def *attr = parser.attr = &def->attrs[i];
        parser.value = attrs_find(pairs, attr->name);
        if (!parser.value)
            parser.value = attr->default_text;
        if (!parser.value) {
            fail_at(err, IRRUN_DATA, place, "%s \"" SHOWN "\": attribute %s is missing", def->type,
                    layer_name, attr->name);
            return fail_hint(err, "write %s=\"...\" in the layer's <data>", attr->name);
        }
        if (!read_value(&parser, (unsigned char *)attrs + attr->offset))
            return false;
    }
    return true;
}
