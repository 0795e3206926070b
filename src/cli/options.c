/* Parses the command line by the rules of getopt_long, but without abbreviations. option_common.c
 * and option_own.c set the options; option_unknown.c gives hints for unknown options.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/option_internal.h"

/* The targets in options.def. A member of the wrong type does not compile. */
#define TYPE_OF(member) (((struct options *)0)->member)
#define OFFSET(type, member) _Generic(TYPE_OF(member), type : offsetof(struct options, member))

#define FLAG(to) .set = option_set_flag, .member = OFFSET(bool, to)
#define WORD(to)                                                                                   \
    .set = _Generic(TYPE_OF(to), bool                                                              \
                    : option_set_bool, unsigned                                                    \
                    : option_set_word),                                                            \
    .member = offsetof(struct options, to)
#define COUNT(to, least_, most_)                                                                   \
    .set = option_set_count, .member = OFFSET(uint64_t, to), .least = least_, .most = most_
#define POSITIVE(to) .set = option_set_positive, .member = OFFSET(double, to)
#define SHARE(to) .set = option_set_share, .member = OFFSET(double, to)
#define PATH(to) .set = option_set_path, .member = OFFSET(const char *, to)
#define NPZ(to) .set = option_set_npz, .member = OFFSET(const char *, to)
#define ACTION(bare, first) .set = option_set_action, .least = ACTION_##bare, .most = ACTION_##first
#define STRING(to) .set = option_set_string, .member = OFFSET(struct tap_list, to)
#define SOURCE(to) .set = option_set_source, .member = OFFSET(struct binding_list, to)
#define DESTINATION(to) .set = option_set_destination, .member = OFFSET(struct binding_list, to)
#define AXIS(to) .set = option_set_axis, .member = OFFSET(struct axis_list, to)
#define TOLERANCE(to) .set = option_set_tolerance, .member = OFFSET(struct tolerance_list, to)
#define OWN(id) .set = option_set_##id

const struct option_row option_rows[N_OPTIONS] = {
#define OPTION(id, name, letter, argument, metavar, repeats, group, help, ...)                     \
    {name, letter, OPTION_##argument, metavar, OPTION_##repeats, OPTION_##group, help, __VA_ARGS__},
#include "cli/options.def"
#undef OPTION
};

struct parser {
    struct options *options;
    char **words;                /* the words after the current one; NULL ends them */
    char *next_words[N_OPTIONS]; /* the word after an option without a value, or NULL */
    struct irrun_error *err;
};

enum option_id option_find(const char *name, size_t length)
{
    enum option_id id = 0;
    while (id < N_OPTIONS && (strncmp(option_rows[id].name, name, length) != 0 ||
                              option_rows[id].name[length] != '\0'))
        id++;
    return id;
}

/* Returns the length of NAME in the NAME=VALUE of a NAMED option; 0 without a name, and for other
 * options. */
static size_t name_length(const struct option_row *row, const char *value)
{
    size_t length = strcspn(value, "=");
    return row->repeats == OPTION_NAMED && value[length] == '=' ? length : 0;
}

/* Returns the value that was given for the same option and name, or NULL. */
static const char *find_given(const struct options *options, enum option_id id, const char *value)
{
    const struct option_row *row = &option_rows[id];
    size_t length = name_length(row, value);
    for (size_t i = 0; i < options->given.n && row->repeats != OPTION_MANY; i++) {
        const struct given_option *given = &options->given.items[i];
        if (given->id == id && name_length(row, given->value) == length &&
            strncmp(given->value, value, length) == 0)
            return given->value;
    }
    return NULL;
}

bool option_is_given(const struct options *options, enum option_id id)
{
    for (size_t i = 0; i < options->given.n; i++)
        if (options->given.items[i].id == id)
            return true;
    return false;
}

bool options_exclude(const struct options *options, const char *name, const enum option_id *others,
                     size_t n, struct irrun_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (option_is_given(options, others[i]))
            return fail(err, IRRUN_USAGE, "--%s and --%s cannot be used together", name,
                        option_rows[others[i]].name);
    return true;
}

bool options_draw_profile(const struct options *options)
{
    return option_is_given(options, OPTION_ID_dot) && option_is_given(options, OPTION_ID_profile);
}

bool options_time_ops(const struct options *options)
{
    return options->trace_path || option_is_given(options, OPTION_ID_profile);
}

/* Sets an option. value: NULL if it has none. */
static bool set_option(struct parser *parser, enum option_id id, const char *value)
{
    const struct option_row *row = &option_rows[id];
    struct options *options = parser->options;
    const struct given_option given = {id, value ? value : ""};
    char word[64];
    const char *before = find_given(options, id, given.value);
    if (before)
        return strcmp(before, given.value) == 0 ||
               fail(parser->err, IRRUN_USAGE, "--%s is given twice: '%s' and '%s'", row->name,
                    before, given.value) ||
               (row->repeats == OPTION_NAMED && name_length(row, given.value) == 0 &&
                fail_hint(parser->err, "--%s=NAME=... applies to one of them", row->name));
    if (!value)
        parser->next_words[id] = parser->words[0];
    if (!OPTION_ADD(options, &options->given, &given, parser->err))
        return false;
    if (row->set(options, row, value, parser->err))
        return true;
    option_hint_unit(row, given.value, parser->err);
    snprintf(word, sizeof word, "%s=%s", row->name, given.value);
    const char *hint = option_find_foreign(word, strlen(word));
    if (hint)
        replace_hint(parser->err, "%s", hint);
    if (value && parser->words[0])
        option_hint_blank(value, parser->words[0], parser->err);
    return false;
}

enum option_id option_find_letter(char letter)
{
    enum option_id id = 0;
    while (id < N_OPTIONS && option_rows[id].letter != letter)
        id++;
    return id;
}

/* Returns whether the word looks like an option, rather than a negative number or `-`. */
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && !strchr("0123456789.", word[1]);
}

/* Returns whether a word that looks like an option is an option of irrun. */
static bool is_known_option(const char *word)
{
    return (word[1] == '-' ? option_find(word + 2, strcspn(word + 2, "="))
                           : option_find_letter(word[1])) < N_OPTIONS;
}

/* Sets an option. value: the value in the same word; NULL: it may be the next word. */
static bool parse_value(struct parser *parser, enum option_id id, const char *value)
{
    const struct option_row *row = &option_rows[id];
    if (row->argument == OPTION_VALUE && !value) {
        char quoted[TEXT_QUOTED_BYTES];
        const char *next = *parser->words;
        if (!next || is_option(next)) {
            fail(parser->err, IRRUN_USAGE, "--%s needs a value: --%s=%s", row->name, row->name,
                 row->metavar);
            return next && !is_known_option(next) &&
                   fail_hint(parser->err, "if it is %s: --%s=%s", next, row->name,
                             text_shell_quote(next, quoted));
        }
        value = *parser->words++;
    }
    return set_option(parser, id, value);
}

static bool parse_long(struct parser *parser, const char *word)
{
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    enum option_id id = option_find(name, length);
    if (id == N_OPTIONS)
        return option_fail_unknown(word, name, length, parser->words[0], parser->err);
    if (option_rows[id].argument == OPTION_FLAG && value)
        return fail(parser->err, IRRUN_USAGE, "--%s takes no value", option_rows[id].name);
    return parse_value(parser, id, value);
}

/* Parses a word of short options. The last letter may be followed by its value. */
static bool parse_letters(struct parser *parser, const char *word)
{
    int length = (int)strcspn(word, "=");
    if (length > 2 && option_find(word + 1, (size_t)length - 1) < N_OPTIONS) {
        fail(parser->err, IRRUN_USAGE, "unknown option %.*s", length, word);
        return fail_hint(parser->err, "did you mean -%.*s?", length, word);
    }
    if (length > 2 && option_find_foreign(word + 1, (size_t)length - 1))
        return option_fail_unknown(word, word + 1, (size_t)length - 1, parser->words[0],
                                   parser->err);
    for (const char *letter = word + 1; *letter; letter++) {
        enum option_id id = option_find_letter(*letter);
        if (id == N_OPTIONS)
            return option_fail_unknown(word, letter, 1, parser->words[0], parser->err);
        if (letter[1] == '=' && letter[2] != '\0' && option_rows[id].argument == OPTION_VALUE) {
            char quoted[TEXT_QUOTED_BYTES];
            fail(parser->err, IRRUN_USAGE, "-%c takes its value without '='", *letter);
            return fail_hint(parser->err, "write -%c %s", *letter,
                             text_shell_quote(letter + 2, quoted));
        }
        if (option_rows[id].argument == OPTION_VALUE)
            return parse_value(parser, id, letter[1] ? letter + 1 : NULL);
        if (!parse_value(parser, id, NULL))
            return false;
    }
    return true;
}

/* Parses the options, and moves the n operands to the start of `words`. */
static bool parse_words(struct parser *parser, char **words, int *n)
{
    bool has_ended = false, is_posix = getenv("POSIXLY_CORRECT") != NULL;
    for (*n = 0; *parser->words;) {
        char *word = *parser->words++;
        if (!has_ended && strcmp(word, "--") == 0) {
            has_ended = true;
        } else if (has_ended || word[0] != '-' || word[1] == '\0') {
            words[(*n)++] = word;
            has_ended |= is_posix;
        } else if (!(word[1] == '-' ? parse_long(parser, word) : parse_letters(parser, word))) {
            return false;
        }
    }
    return true;
}

/* Sets options from environment variables, unless the command line gives the same option. */
static bool parse_environment(struct parser *parser)
{
    static const struct {
        const char *name;
        enum option_id id;
    } variables[] = {{"IRRUN_GEMM", OPTION_ID_gemm},
                     {"IRRUN_PRECISION", OPTION_ID_precision},
                     {"IRRUN_SANDBOX", OPTION_ID_sandbox},
                     {"IRRUN_SIMD", OPTION_ID_simd}};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i].name);
        enum option_id id = variables[i].id;
        if (value && *value != '\0' && !option_is_given(parser->options, id) &&
            !set_option(parser, id, value))
            return fail_append(parser->err, " (from the environment: %s)", variables[i].name);
    }
    return true;
}

/* Checks that at most one file is standard input. */
static bool check_standard_input(const struct options *options, struct irrun_error *err)
{
    size_t n = options->model_path && strcmp(options->model_path, "-") == 0;
    n += options->manifest_path && strcmp(options->manifest_path, "-") == 0;
    n += options->state_in && strcmp(options->state_in, "-") == 0;
    n += options->diff_reference && strcmp(options->diff_reference, "-") == 0;
    for (size_t i = 0; i < options->inputs.n; i++)
        n += strcmp(options->inputs.items[i].spec.path, "-") == 0;
    for (size_t i = 0; i < options->expected.n; i++)
        n += strcmp(options->expected.items[i].spec.path, "-") == 0;
    return n <= 1 || fail(err, IRRUN_USAGE, "standard input ('-') can be read only once");
}

static bool check_combinations(const struct options *options, struct irrun_error *err)
{
    for (size_t i = 0; i < options->inputs.n; i++)
        if (options->manifest_path && !options->inputs.items[i].spec.format->is_generated) {
            fail(err, IRRUN_USAGE,
                 "--manifest and -i cannot be used together, except for -i value:, count: and "
                 "ones:");
            return fail_hint(err, "a line of the manifest names it: KEY<tab>%s",
                             options->inputs.items[i].spec.text);
        }
    struct format_spec list;
    struct irrun_error ignored = {.code = IRRUN_OK};
    const char *path = options->manifest_path;
    if (path && format_parse_source(path, &list, &ignored) && !list.format->is_generated &&
        strcmp(list.format->name, "csv") != 0)
        return fail(err, IRRUN_USAGE, "--manifest takes a list of files, not %s data",
                    list.format->name) ||
               format_hint_list(err, path);
    bool is_divided = options->n_jobs > 1 || options->n_shards > 1;
    if (options->reset.when == RESET_NEVER && is_divided)
        return fail(err, IRRUN_USAGE, "--reset=never cannot be used with --jobs or --shard");
    if (options->low_latency && options->partial == PARTIAL_PAD) {
        fail(err, IRRUN_USAGE, "--low-latency and --partial=pad cannot be used together");
        return fail_hint(err, "the padding would change the state; use --partial=drop");
    }
    if (options->stops_at_nan && options_time_ops(options))
        return fail(err, IRRUN_USAGE, "--%s and --fail-on-nan cannot be used together",
                    options->trace_path ? "trace" : "profile");
    if (options_draw_profile(options) && options->model_path &&
        strcmp(options->model_path, "-") == 0)
        return fail(err, IRRUN_USAGE,
                    "--dot with --profile reads the model twice, so the model cannot be '-'");
    return check_standard_input(options, err);
}

bool options_parse(int argc, char **argv, struct options *options, struct irrun_error *err)
{
    char **words = argv + (argc > 0);
    struct parser parser = {.options = options, .words = words, .err = err};
    int n;
    *options = (struct options){.reset = {.when = RESET_SEQUENCE, .text = "sequence"},
                                .n_iterations = NO_LIMIT,
                                .cast = CAST_SAFE,
                                .emit = EMIT_DEFAULT,
                                .n_shards = 1,
                                .n_jobs = 1,
                                .max_keys = 65536,
                                .batch = 1,
                                .checkpoint_every = 1000};
    if (!option_check_characters(words, err) || !parse_words(&parser, words, &n) ||
        !parse_environment(&parser))
        return false;
    if (options_draw_profile(options))
        options->action = ACTION_RUN;
    return operands_parse(options, parser.next_words, n, words, err) &&
           check_combinations(options, err);
}

void options_free(struct options *options)
{
    if (options->kept)
        kept_columns_free(options->kept);
    arena_free(&options->arena);
}
