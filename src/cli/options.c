/* Parses the command line with getopt_long and closes its traps: abbreviations, an optional
 * argument set apart by a blank, options given twice. What an option means is in option_inputs.c,
 * option_run.c and option_outputs.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/operands.h"
#include "cli/option_values.h"

const struct option_row option_rows[N_OPTIONS] = {
#define OPTION(id, name, letter, argument, metavar, repeats, group, help)                          \
    {name,           letter, OPTION_##argument, metavar, OPTION_##repeats,                         \
     OPTION_##group, help,   option_set_##id},
#include "cli/options.def"
#undef OPTION
};

/* getopt's values for long options: above every letter. */
#define LONG_BASE 256

struct parser {
    struct options *options;
    char **argv;
    const char *seen[N_OPTIONS]; /* the value an option was given, "" for none; NULL: not given */
    char
        *next_words[N_OPTIONS]; /* the word behind an option that stands without a value; or NULL */
    struct irrun_error *err;
};

const char *nearest_word(const char *word, const char *const *words, size_t n)
{
    unsigned limit = strlen(word) < 4 ? 1 : 2;
    const char *nearest = NULL;
    for (size_t i = 0; i < n; i++) {
        unsigned distance = text_distance(word, words[i], limit);
        bool is_likely = distance < 2 || word[0] == words[i][0];
        if (distance <= limit && is_likely) {
            nearest = words[i];
            limit = distance - (distance > 0);
        }
    }
    return nearest;
}

static const char *nearest_option(const char *name)
{
    const char *names[N_OPTIONS];
    for (size_t i = 0; i < N_OPTIONS; i++)
        names[i] = option_rows[i].name;
    return nearest_word(name, names, N_OPTIONS);
}

/* Whether `word` is "--name" or "--name=…". */
static bool is_spelled_out(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0 &&
           (word[2 + length] == '\0' || word[2 + length] == '=');
}

static bool fail_abbreviation(struct parser *parser, const char *word, size_t length)
{
    struct irrun_error *err = parser->err;
    fail(err, IRRUN_USAGE, "'%.*s' is cut short: options are to be written in full", (int)length,
         word);
    for (size_t i = 0, n = 0; i < N_OPTIONS; i++) {
        if (strncmp(option_rows[i].name, word + 2, length - 2) == 0) {
            char list[sizeof err->hint];
            memcpy(list, err->hint, sizeof list);
            err->hint[0] = '\0';
            fail_hint(err, "%s%s--%s", list, n++ == 0 ? "" : ", ", option_rows[i].name);
        }
    }
    return false;
}

/* Habits from other programs: -m model.xml, --model=, -d CPU. */
static bool hint_habit(struct parser *parser, const char *name, const char *word)
{
    const char *equals = strchr(word, '=');
    const char *value = equals ? equals + 1 : parser->argv[optind];
    bool is_model = strcmp(name, "m") == 0 || strcmp(name, "model") == 0;
    if (is_model)
        return fail_hint(parser->err, "the model stands alone: irrun %s",
                         value && *value != '-' ? value : "MODEL.xml");
    if (strcmp(name, "d") == 0 || strcmp(name, "device") == 0)
        return fail_hint(parser->err, "irrun runs on the CPU: leave it out");
    return false;
}

/* An option that getopt does not know, or finds ambiguous. */
static bool fail_unknown(struct parser *parser, const char *word)
{
    struct irrun_error *err = parser->err;
    bool is_long = strncmp(word, "--", 2) == 0;
    size_t length = strcspn(word, "="), n_dashes = is_long ? 2 : 1;
    for (size_t i = 0; i < N_OPTIONS && is_long; i++) {
        if (strncmp(option_rows[i].name, word + 2, length - 2) == 0)
            return fail_abbreviation(parser, word, length);
    }
    if (is_long)
        fail(err, IRRUN_USAGE, "irrun has no %.*s", (int)length, word);
    else
        fail(err, IRRUN_USAGE, "irrun has no -%c", optopt);
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length - n_dashes), word + n_dashes);
    hint_habit(parser, name, word);
    const char *near = nearest_option(name);
    return near ? fail_hint(err, "did you mean --%s?", near)
                : fail_hint(err, "irrun --help=all lists them");
}

static bool fail_argument(struct parser *parser, int result, const char *word)
{
    if (result == '?' && optopt < LONG_BASE)
        return fail_unknown(parser, word);
    if (result == '?')
        return fail(parser->err, IRRUN_USAGE, "--%s takes no value",
                    option_rows[optopt - LONG_BASE].name);
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (optopt == (int)i + LONG_BASE || optopt == option_rows[i].letter)
            return fail(parser->err, IRRUN_USAGE, "--%s needs a value: --%s=%s",
                        option_rows[i].name, option_rows[i].name, option_rows[i].metavar);
    }
    return fail(parser->err, IRRUN_INTERNAL, "getopt asks for a value of an unknown option");
}

static bool note_given(struct parser *parser, enum option_id id, const char *value)
{
    struct given_list *given = &parser->options->given;
    if (!grow_array((void **)&given->items, given->n, &given->capacity, sizeof *given->items,
                    parser->err))
        return false;
    given->items[given->n++] = (struct given_option){id, value};
    return true;
}

static bool apply(struct parser *parser, enum option_id id, const char *value)
{
    const struct option_row *row = &option_rows[id];
    const char *now = value ? value : "";
    if (row->repeats == OPTION_ONCE && parser->seen[id]) {
        if (strcmp(parser->seen[id], now) == 0)
            return true;
        return fail(parser->err, IRRUN_USAGE, "--%s is given twice: '%s' and '%s'", row->name,
                    parser->seen[id], now);
    }
    parser->seen[id] = now;
    return note_given(parser, id, now) && row->set(parser->options, value, parser->err);
}

/* The word getopt took its last option from. In the middle of a cluster of letters optind has not
 * moved on yet. */
static const char *last_word(char **argv, int result)
{
    bool is_letter = result == '?' && optopt > 0 && optopt < LONG_BASE;
    const char *next = argv[optind];
    if (is_letter && next && next[0] == '-' && next[1] != '-' && strchr(next, optopt))
        return next;
    bool is_argument = optind >= 2 && optarg && optarg == argv[optind - 1];
    return argv[optind - 1 - is_argument];
}

/* "-input": a long option with one dash, which getopt takes for letters. */
static bool has_one_dash(const char *word)
{
    char name[64];
    size_t length = strcspn(word, "=");
    if (word[0] != '-' || word[1] == '-' || length - 1 >= sizeof name)
        return false;
    memcpy(name, word + 1, length - 1);
    name[length - 1] = '\0';
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (length > 2 && strcmp(option_rows[i].name, name) == 0)
            return true;
    }
    return false;
}

static bool take_option(struct parser *parser, int result)
{
    const char *word = last_word(parser->argv, result);
    if (has_one_dash(word)) {
        int length = (int)strcspn(word, "=");
        fail(parser->err, IRRUN_USAGE, "'%.*s' has one dash", length, word);
        return fail_hint(parser->err, "did you mean -%.*s?", length, word);
    }
    if (result == '?' || result == ':') {
        if (strncmp(word, "--", 2) == 0 && optopt >= LONG_BASE &&
            !is_spelled_out(word, option_rows[optopt - LONG_BASE].name))
            return fail_abbreviation(parser, word, strcspn(word, "="));
        return fail_argument(parser, result, word);
    }
    enum option_id id = 0;
    while (id < N_OPTIONS && result != (int)id + LONG_BASE && result != option_rows[id].letter)
        id++;
    if (result >= LONG_BASE && !is_spelled_out(word, option_rows[id].name))
        return fail_abbreviation(parser, word, strcspn(word, "="));
    if (option_rows[id].argument != OPTION_VALUE && !optarg)
        parser->next_words[id] = parser->argv[optind];
    return apply(parser, id, optarg);
}

/* ":" first: getopt then tells a missing argument from an unknown option. */
static void make_tables(struct option *longs, char *shorts)
{
    char *end = shorts;
    *end++ = ':';
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct option_row *row = &option_rows[i];
        longs[i] = (struct option){.name = row->name,
                                   .has_arg = row->argument == OPTION_FLAG    ? no_argument
                                              : row->argument == OPTION_VALUE ? required_argument
                                                                              : optional_argument,
                                   .val = LONG_BASE + (int)i};
        if (row->letter == '\0')
            continue;
        *end++ = row->letter;
        if (row->argument == OPTION_VALUE)
            *end++ = ':';
    }
    longs[N_OPTIONS] = (struct option){.name = NULL};
    *end = '\0';
}

/* The command line wins over the environment. */
static bool take_environment(struct parser *parser)
{
    static const struct {
        const char *name;
        enum option_id id;
    } variables[] = {{"IRRUN_GEMM", OPTION_ID_gemm}, {"IRRUN_SIMD", OPTION_ID_simd}};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i].name);
        enum option_id id = variables[i].id;
        if (value && *value != '\0' && !parser->seen[id] &&
            !(note_given(parser, id, value) &&
              option_rows[id].set(parser->options, value, parser->err)))
            return fail_more(parser->err, " (from the environment: %s)", variables[i].name);
    }
    return true;
}

/* Only one thing can read standard input. */
static bool check_standard_input(const struct options *options, struct irrun_error *err)
{
    size_t n = options->model_path && strcmp(options->model_path, "-") == 0;
    n += options->manifest_path && strcmp(options->manifest_path, "-") == 0;
    for (size_t i = 0; i < options->inputs.n; i++)
        n += strcmp(options->inputs.items[i].spec.path, "-") == 0;
    for (size_t i = 0; i < options->expected.n; i++)
        n += strcmp(options->expected.items[i].spec.path, "-") == 0;
    return n <= 1 || fail(err, IRRUN_USAGE, "standard input ('-') can be read only once");
}

/* Options that do not go together. */
static bool check_together(const struct options *options, struct irrun_error *err)
{
    if (options->manifest_path && options->inputs.n > 0)
        return fail(err, IRRUN_USAGE, "--manifest and -i exclude each other");
    bool is_divided = options->n_jobs > 1 || options->n_shards > 1;
    if (options->reset.when == RESET_NEVER && is_divided)
        return fail(err, IRRUN_USAGE,
                    "--reset=never needs the sequences one after the other: no --jobs, no --shard");
    return check_standard_input(options, err);
}

bool options_parse(int argc, char **argv, struct options *options, struct irrun_error *err)
{
    struct option longs[N_OPTIONS + 1];
    char shorts[2 * N_OPTIONS + 2];
    struct parser parser = {.options = options, .argv = argv, .err = err};
    *options = (struct options){.reset = {.when = RESET_SEQUENCE, .text = "sequence"},
                                .n_shards = 1,
                                .n_jobs = 1,
                                .checkpoint_every = 1000};
    make_tables(longs, shorts);
    opterr = 0;
    for (;;) {
        int result = getopt_long(argc, argv, shorts, longs, NULL);
        if (result == -1)
            break;
        if (!take_option(&parser, result))
            return false;
    }
    return take_environment(&parser) &&
           operands_take(options, parser.next_words, argc - optind, argv + optind, err) &&
           check_together(options, err);
}

void options_free(struct options *options)
{
    free(options->given.items);
    free(options->inputs.items);
    free(options->randoms.items);
    free(options->axes.items);
    free(options->shapes.items);
    free(options->loops.items);
    free(options->concats.items);
    free(options->taps.items);
    free(options->outputs.items);
    free(options->expected.items);
    free(options->atols.items);
    free(options->rtols.items);
    arena_free(&options->arena);
}
