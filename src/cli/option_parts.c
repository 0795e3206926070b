/* Pieces of which the options' functions are made: names, counts, words, lists.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/option_parts.h"

#include <string.h>

#include "base/text.h"

bool option_add_item(void **items, size_t *n, size_t *capacity, size_t item_bytes, const void *item,
                     struct irrun_error *err)
{
    if (!grow_array(items, *n, capacity, item_bytes, err))
        return false;
    memcpy((char *)*items + (*n)++ * item_bytes, item, item_bytes);
    return true;
}

/* Splits "NAME=REST" at the first '='; *name is NULL if there is none. */
bool option_split_name(struct options *options, const char *value, const char **name,
                       const char **rest, struct irrun_error *err)
{
    const char *equals = strchr(value, '=');
    *name = NULL;
    *rest = value;
    if (!equals)
        return true;
    if (equals == value)
        return fail(err, IRRUN_USAGE, "'%s' has no name before '='", value);
    *name = arena_strndup(&options->arena, value, (size_t)(equals - value), err);
    *rest = equals + 1;
    return *name != NULL;
}

bool option_is_same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool option_parse_count(const char *option, const char *value, uint64_t *count,
                        struct irrun_error *err)
{
    int64_t number;
    if (!text_to_i64(value, strlen(value), &number) || number < 0)
        return fail(err, IRRUN_USAGE, "--%s: '%s' is no whole number from 0 up", option, value);
    *count = (uint64_t)number;
    return true;
}

/* The index of value among n words; otherwise an error that lists them. */
bool option_choose_word(const char *option, const char *value, const char *const *words, size_t n,
                        size_t *index, struct irrun_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(value, words[i]) == 0) {
            *index = i;
            return true;
        }
    }
    fail(err, IRRUN_USAGE, "--%s takes", option);
    for (size_t i = 0; i < n; i++)
        fail_more(err, "%s %s", i == 0 ? "" : i + 1 < n ? "," : " or", words[i]);
    fail_more(err, ", not '%s'", value);
    const char *near = nearest_word(value, words, n);
    return near ? fail_hint(err, "did you mean --%s=%s?", option, near) : false;
}

bool option_set_npz(const char *option, const char *value, const char **path,
                    struct irrun_error *err)
{
    struct format_spec spec;
    struct irrun_error ignored;
    *path = value;
    if (*value == '\0')
        return fail(err, IRRUN_USAGE, "--%s needs the name of a file", option);
    error_clear(&ignored);
    if (!format_parse_destination(value, &spec, &ignored) ||
        (spec.format->has_names && spec.path == value))
        return true;
    size_t stem = strlen(spec.path);
    while (stem > 0 && spec.path[stem] != '.' && spec.path[stem] != '/')
        stem--;
    if (spec.path[stem] != '.' || stem == 0)
        stem = strlen(spec.path);
    fail(err, IRRUN_USAGE, "--%s: '%s' is %s by its name, but holds an npz", option, value,
         spec.format->name);
    return fail_hint(err, "write --%s=%.*s.npz", option, (int)stem, spec.path);
}

bool option_set_action(struct options *options, enum action action, const char *name,
                       struct irrun_error *err)
{
    if (options->action_name && options->action != action)
        return fail(err, IRRUN_USAGE, "--%s and --%s exclude each other", options->action_name,
                    name);
    options->action = action;
    options->action_name = name;
    return true;
}

/* Adds [NAME=]K[:CHUNK] to a list. */
bool option_add_axis(struct options *options, const char *option, const char *value,
                     struct axis_list *list, bool has_chunk, struct irrun_error *err)
{
    struct axis_spec spec = {.chunk = 0};
    const char *text;
    if (!option_split_name(options, value, &spec.name, &text, err))
        return false;
    const char *colon = has_chunk ? strchr(text, ':') : NULL;
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    bool is_number = text_to_i64(text, length, &spec.axis);
    /* --axis=512 is told from the model's shape which axis was meant. */
    bool may_be_length = has_chunk && !colon && spec.axis > 0;
    if (!is_number || spec.axis < -IRRUN_MAX_RANK ||
        (spec.axis >= IRRUN_MAX_RANK && !may_be_length)) {
        fail(err, IRRUN_USAGE, "--%s: '%.*s' is no axis", option, (int)length, text);
        return fail_hint(err, "axes are numbers, from 0 on or backwards from -1: --%s=%s%s0",
                         option, spec.name ? spec.name : "", spec.name ? "=" : "");
    }
    if (colon && (!text_to_i64(colon + 1, strlen(colon + 1), &spec.chunk) || spec.chunk < 1))
        return fail(err, IRRUN_USAGE, "--%s: '%s' is no length of a slice", option, colon + 1);
    for (size_t i = 0; i < list->n; i++) {
        if (option_is_same_name(list->items[i].name, spec.name))
            return fail(err, IRRUN_USAGE, "--%s is given twice for %s", option,
                        spec.name ? spec.name : "all");
    }
    return OPTION_ADD(list, &spec, err);
}
