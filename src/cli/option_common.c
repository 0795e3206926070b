/* Setters that several options share, and functions for all setters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/option_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

/* The limit of CHUNK, HOP and LEAD, so that their sums with the lengths of arrays do not
 * overflow. */
#define MAX_SLICE (INT64_MAX / 8)

static void *member_of(struct options *options, const struct option_row *row)
{
    return (char *)options + row->member;
}

/* ---- Helpers --------------------------------------------------------------------------------- */

/* When the length of the list is 0 or a power of two, copies the list to an array of twice its
 * size. */
bool option_add_item(struct options *options, void **items, size_t *n, size_t item_bytes,
                     const void *item, struct irrun_error *err)
{
    if ((*n & (*n - 1)) == 0) {
        void *grown = arena_alloc_array(&options->arena, 2 * *n + 1, item_bytes, err);
        if (!grown)
            return false;
        if (*n > 0)
            memcpy(grown, *items, *n * item_bytes);
        *items = grown;
    }
    memcpy((char *)*items + (*n)++ * item_bytes, item, item_bytes);
    return true;
}

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

bool option_hint_blank(const char *word, const char *next, struct irrun_error *err)
{
    char path[1024], whole[1200], quoted[TEXT_QUOTED_BYTES];
    for (const char *start = word, *mark; start; start = mark ? mark + 1 : NULL) {
        mark = strpbrk(start, "=:");
        if (snprintf(path, sizeof path, "%s %s", start, next) >= (int)sizeof path ||
            access(path, F_OK) != 0)
            continue;
        snprintf(whole, sizeof whole, "%s %s", word, next);
        return access(start, F_OK) != 0 &&
               !replace_hint(err, "quote a name with blanks: %s", text_shell_quote(whole, quoted));
    }
    return false;
}

bool option_choose_word(const struct option_row *row, const char *words, const char *value,
                        size_t *index, struct irrun_error *err)
{
    char copy[128], *rest = copy;
    const char *list[16];
    size_t n = 0;
    snprintf(copy, sizeof copy, "%s", words);
    while (rest && n < sizeof list / sizeof list[0]) {
        list[n] = strsep(&rest, "|");
        *index = n;
        if (strcmp(value, list[n++]) == 0)
            return true;
    }
    fail(err, IRRUN_USAGE, "--%s takes", row->name);
    for (size_t i = 0; i < n; i++)
        fail_append(err, "%s %s", i == 0 ? "" : i + 1 < n ? "," : " or", list[i]);
    fail_append(err, ", not '%s'", value);
    const char *nearest = nearest_word(value, list, n);
    return nearest ? fail_hint(err, "did you mean --%s=%s?", row->name, nearest) : false;
}

/* ---- One value ------------------------------------------------------------------------------- */

bool option_set_flag(struct options *options, const struct option_row *row, const char *value,
                     struct irrun_error *err)
{
    (void)value, (void)err;
    *(bool *)member_of(options, row) = true;
    return true;
}

bool option_set_word(struct options *options, const struct option_row *row, const char *value,
                     struct irrun_error *err)
{
    size_t index;
    if (!option_choose_word(row, row->metavar, value, &index, err))
        return false;
    *(unsigned *)member_of(options, row) = (unsigned)index;
    return true;
}

/* Sets a bool: true for the second of two words, false for the first word or without a value. */
bool option_set_bool(struct options *options, const struct option_row *row, const char *value,
                     struct irrun_error *err)
{
    size_t index = 0;
    if (value && !option_choose_word(row, row->metavar, value, &index, err))
        return false;
    *(bool *)member_of(options, row) = index == 1;
    return true;
}

/* Units that users write after a number, for options with this metavar; "" matches any. */
static const struct {
    const char *metavar, *names;
    double factor;
} units[] = {{"BYTES", "k,K,kB,KB,KiB,Kib", 0x1p10},
             {"BYTES", "m,M,MB,MiB,Mib", 0x1p20},
             {"BYTES", "g,G,GB,GiB,Gib", 0x1p30},
             {"BYTES", "t,T,TB,TiB,Tib", 0x1p40},
             {"SEC", "s,sec", 1},
             {"SEC", "m,min", 60},
             {"SEC", "h", 3600},
             {"SEC", "ms", 1e-3},
             {"", "%", 1e-2},
             {"", "k,K,kHz", 1e3},
             {"", "m,M", 1e6},
             {"", "g,G,GHz", 1e9},
             {"", "Hz", 1}};

void option_hint_unit(const struct option_row *row, const char *value, struct irrun_error *err)
{
    struct options scratch = {.action = ACTION_RUN};
    struct irrun_error ignored = {.code = IRRUN_OK};
    char text[64];
    double number;
    size_t name = strcspn(value, "="), start = value[name] ? name + 1 : 0;
    size_t end = start + strspn(value + start, "0123456789.eE");
    if (!text_to_f64(value + start, end - start, &number))
        return;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        bool is_unit = !value[end] || text_list_has(units[i].names, value + end);
        double factor = value[end] ? units[i].factor : 1;
        snprintf(text, sizeof text, "%.*s%.15g", (int)start, value, number * factor);
        if (is_unit && strncmp(row->metavar, units[i].metavar, strlen(units[i].metavar)) == 0 &&
            row->set(&scratch, row, text, &ignored)) {
            replace_hint(err, "write --%s=%s", row->name, text);
            break;
        }
    }
    options_free(&scratch);
}

bool option_set_count(struct options *options, const struct option_row *row, const char *value,
                      struct irrun_error *err)
{
    int64_t number;
    if (text_to_i64(value, strlen(value), &number) && number >= row->least && number <= row->most) {
        *(uint64_t *)member_of(options, row) = (uint64_t)number;
        return true;
    }
    fail(err, IRRUN_USAGE, "--%s must be a whole number from %" PRId64, row->name, row->least);
    if (row->most < INT64_MAX)
        fail_append(err, " to %" PRId64, row->most);
    fail_append(err, "%s, not '%s'", row->most < INT64_MAX ? "" : " up", value);
    int64_t least = strcmp(row->metavar, "BYTES") == 0 ? 1000000000
                    : row->least > 0                   ? row->least
                                                       : 1;
    return fail_hint(err, "for example --%s=%" PRId64, row->name, least);
}

bool option_set_positive(struct options *options, const struct option_row *row, const char *value,
                         struct irrun_error *err)
{
    double *number = member_of(options, row);
    return (text_to_f64(value, strlen(value), number) && isfinite(*number) && *number > 0) ||
           fail(err, IRRUN_USAGE, "--%s must be a number above 0, not '%s'", row->name, value);
}

bool option_set_share(struct options *options, const struct option_row *row, const char *value,
                      struct irrun_error *err)
{
    double *share = member_of(options, row);
    return (text_to_f64(value, strlen(value), share) && *share >= 0 && *share <= 1) ||
           fail(err, IRRUN_USAGE, "--%s must be a number from 0 to 1, not '%s'", row->name, value);
}

bool option_set_path(struct options *options, const struct option_row *row, const char *value,
                     struct irrun_error *err)
{
    *(const char **)member_of(options, row) = value;
    const char *what = strcmp(row->metavar, "DIR") == 0    ? "a directory"
                       : strcmp(row->metavar, "NAME") == 0 ? "an input"
                                                           : "a file";
    return *value || fail(err, IRRUN_USAGE, "--%s needs the name of %s%s", row->name, what,
                          strchr(row->metavar, '|') ? ", or -" : "");
}

bool option_set_npz(struct options *options, const struct option_row *row, const char *value,
                    struct irrun_error *err)
{
    struct format_spec spec;
    struct irrun_error ignored = {.code = IRRUN_OK};
    bool is_known = format_parse_destination(value, &spec, &ignored);
    bool is_npz = is_known && spec.format->has_names;
    if (!option_set_path(options, row, is_npz ? spec.path : value, err))
        return false;
    if (spec.format && spec.format->has_names && !*spec.path) /* npz: */
        return format_parse_destination(value, &spec, err);
    if (is_npz || !is_known)
        return true;
    size_t stem = strlen(spec.path);
    while (stem > 0 && spec.path[stem] != '.' && spec.path[stem] != '/')
        stem--;
    if (spec.path[stem] != '.' || stem == 0)
        stem = strlen(spec.path);
    fail(err, IRRUN_USAGE, "--%s: '%s' is %s by its name, but must be an npz file", row->name,
         value, spec.format->name);
    if (row == &option_rows[OPTION_ID_state_in])
        return fail_hint(err, "--state-out=FILE.npz writes a state");
    return fail_hint(err, "write --%s=%.*s.npz", row->name, (int)stem, spec.path);
}

bool option_set_action(struct options *options, const struct option_row *row, const char *value,
                       struct irrun_error *err)
{
    size_t index = 0;
    if (options->action_name)
        return fail(err, IRRUN_USAGE, "--%s and --%s cannot be used together", options->action_name,
                    row->name);
    if (value && !option_choose_word(row, row->metavar, value, &index, err))
        return false;
    options->action = (enum action)(value ? row->most + (int64_t)index : row->least);
    options->action_name = row->name;
    return true;
}

bool option_set_string(struct options *options, const struct option_row *row, const char *value,
                       struct irrun_error *err)
{
    struct tap_list *list = member_of(options, row);
    return OPTION_ADD(options, list, &value, err);
}

/* ---- [NAME=]VALUE ---------------------------------------------------------------------------- */

typedef bool parse_spec_fn(const char *text, struct format_spec *spec, struct irrun_error *err);

/* Rejects a=csv:-,b=csv:-, where all text after the first '=' would be one file name. */
static bool check_single_file(const struct option_row *row, const char *value, const char *file,
                              parse_spec_fn *parse, struct irrun_error *err)
{
    struct irrun_error ignored = {.code = IRRUN_OK};
    struct format_spec spec;
    char first[TEXT_QUOTED_BYTES];
    if (parse(file, &spec, &ignored) && (spec.format->is_generated || access(spec.path, F_OK) == 0))
        return true;
    for (const char *comma = strchr(file, ','); comma; comma = strchr(comma + 1, ',')) {
        const char *equals = strchr(comma, '='), *next = equals ? equals + 1 : comma + 1;
        snprintf(first, sizeof first, "%.*s", (int)(comma - file), file);
        bool is_file = parse == format_parse_source && access(next, F_OK) == 0;
        if (!parse(next, &spec, &ignored) || (!equals && spec.path == next && !is_file) ||
            !parse(first, &spec, &ignored))
            continue;
        fail(err, IRRUN_USAGE, "--%s takes one file, but '%s' names several", row->name, value);
        if (!equals && strcmp(row->name, "input") == 0)
            return fail_hint(err,
                             "for two inputs -i NAME=%s -i NAME=%s; for two sequences: "
                             "printf '%%s\\n' %s %s | irrun ... --manifest=-",
                             first, comma + 1, first, comma + 1);
        return fail_hint(err, "write --%s=%.*s --%s=%s", row->name, (int)(comma - value), value,
                         row->name, comma + 1);
    }
    return true;
}

static bool add_binding(struct options *options, const struct option_row *row, const char *value,
                        parse_spec_fn *parse, struct irrun_error *err)
{
    struct binding_list *list = member_of(options, row);
    struct binding binding;
    const char *file;
    if (!option_split_name(options, value, &binding.name, &file, err) ||
        !check_single_file(row, value, file, parse, err))
        return false;
    if (!parse(file, &binding.spec, err))
        return strcmp(row->name, "expect") == 0 && file_is_directory(file) &&
               replace_hint(err, "--expect=NAME=FILE compares output NAME with a file");
    return OPTION_ADD(options, list, &binding, err);
}

bool option_set_source(struct options *options, const struct option_row *row, const char *value,
                       struct irrun_error *err)
{
    return add_binding(options, row, value, format_parse_source, err);
}

bool option_set_destination(struct options *options, const struct option_row *row,
                            const char *value, struct irrun_error *err)
{
    return add_binding(options, row, value, format_parse_destination, err);
}

/* Parses ":CHUNK[:HOP[:LEAD]]". */
static bool parse_slices(const struct option_row *row, const char *text, struct axis_spec *spec,
                         struct irrun_error *err)
{
    static const char *const names[] = {"CHUNK", "HOP", "LEAD"};
    int64_t *const numbers[] = {&spec->chunk, &spec->hop, &spec->lead};
    for (size_t i = 0; *text == ':'; i++) {
        size_t length = strcspn(++text, ":");
        if (i == 3)
            return fail(err, IRRUN_USAGE, "--%s: nothing may follow LEAD, but ':%s' does",
                        row->name, text);
        if (!text_to_i64(text, length, numbers[i]) || *numbers[i] < (i < 2) ||
            *numbers[i] > MAX_SLICE)
            return fail(err, IRRUN_USAGE, "--%s: %s must be a whole number from %d up, not '%.*s'",
                        row->name, names[i], i < 2, (int)length, text);
        text += length;
    }
    return true;
}

/* Parses [NAME=]K or, if the metavar of the option has colons, [NAME=]K[:CHUNK[:HOP[:LEAD]]]. */
bool option_set_axis(struct options *options, const struct option_row *row, const char *value,
                     struct irrun_error *err)
{
    struct axis_list *list = member_of(options, row);
    struct axis_spec spec = {.chunk = 0};
    const char *text;
    if (!option_split_name(options, value, &spec.name, &text, err))
        return false;
    bool has_chunk = strchr(row->metavar, ':') != NULL;
    const char *colon = has_chunk ? strchr(text, ':') : NULL;
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    bool is_number = text_to_i64(text, length, &spec.axis);
    /* --axis=512 may mean a slice length. A later check, which knows the shapes of the model, then
     * suggests the right axis. */
    bool may_be_length = has_chunk && !colon && spec.axis > 0;
    if (!is_number || spec.axis < -IRRUN_MAX_RANK ||
        (spec.axis >= IRRUN_MAX_RANK && !may_be_length)) {
        fail(err, IRRUN_USAGE, "--%s: '%.*s' is not an axis", row->name, (int)length, text);
        return fail_hint(err, "axes are counted from 0, or backwards from -1: --%s=%s%s0",
                         row->name, spec.name ? spec.name : "", spec.name ? "=" : "");
    }
    return (!colon || parse_slices(row, colon, &spec, err)) &&
           OPTION_ADD(options, list, &spec, err);
}

bool option_set_tolerance(struct options *options, const struct option_row *row, const char *value,
                          struct irrun_error *err)
{
    struct tolerance_list *list = member_of(options, row);
    struct tolerance tolerance;
    const char *text;
    if (!option_split_name(options, value, &tolerance.name, &text, err))
        return false;
    if (!text_to_f64(text, strlen(text), &tolerance.value) || !(tolerance.value >= 0))
        return fail(err, IRRUN_USAGE, "--%s must be a number from 0 up, not '%s'", row->name, text);
    return OPTION_ADD(options, list, &tolerance, err);
}
