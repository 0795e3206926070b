/* The options that say what the inputs are: option_set_<id>.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/option_parts.h"

bool option_set_input(struct options *options, const char *value, struct irrun_error *err)
{
    struct binding binding;
    const char *source;
    return option_split_name(options, value, &binding.name, &source, err) &&
           format_parse_source(source, &binding.spec, err) &&
           OPTION_ADD(&options->inputs, &binding, err);
}

/* The numbers of "(x,y)"; n must be 2. */
static bool parse_pair(const char *text, double pair[2])
{
    size_t length = strlen(text);
    const char *comma = strchr(text, ',');
    if (length < 2 || text[0] != '(' || text[length - 1] != ')' || !comma)
        return false;
    return text_to_f64(text + 1, (size_t)(comma - text - 1), &pair[0]) &&
           text_to_f64(comma + 1, (size_t)(text + length - 1 - comma - 1), &pair[1]);
}

static bool parse_int_pair(const char *text, struct random_spec *spec)
{
    size_t length = strlen(text);
    const char *comma = strchr(text, ',');
    if (length < 2 || text[0] != '(' || text[length - 1] != ')' || !comma)
        return false;
    return text_to_i64(text + 1, (size_t)(comma - text - 1), &spec->low) &&
           text_to_i64(comma + 1, (size_t)(text + length - 1 - comma - 1), &spec->high) &&
           spec->low <= spec->high;
}

static bool parse_distribution(const char *text, struct random_spec *spec)
{
    static const struct {
        const char *word;
        enum random_kind kind;
        double a, b; /* what the bare word means */
    } words[] = {{"uniform", RANDOM_UNIFORM, -1, 1}, {"normal", RANDOM_NORMAL, 0, 1},
                 {"int", RANDOM_INT, 0, 0},          {"zeros", RANDOM_ZEROS, 0, 0},
                 {"ones", RANDOM_ONES, 0, 0},        {"arange", RANDOM_ARANGE, 0, 0}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].word);
        if (strncmp(text, words[i].word, length) != 0)
            continue;
        const char *rest = text + length;
        double pair[2] = {words[i].a, words[i].b};
        spec->kind = words[i].kind;
        if (spec->kind == RANDOM_INT)
            return parse_int_pair(rest, spec);
        bool takes_pair = spec->kind == RANDOM_UNIFORM || spec->kind == RANDOM_NORMAL;
        if (*rest != '\0' && !(takes_pair && parse_pair(rest, pair)))
            return false;
        spec->a = pair[0];
        spec->b = pair[1];
        if (!isfinite(spec->a) || !isfinite(spec->b))
            return false;
        return spec->kind == RANDOM_UNIFORM ? spec->a <= spec->b : spec->b >= 0 || !takes_pair;
    }
    return false;
}

bool option_set_random(struct options *options, const char *value, struct irrun_error *err)
{
    struct random_spec spec = {.kind = RANDOM_DEFAULT};
    const char *text = value;
    if (value && !option_split_name(options, value, &spec.name, &text, err))
        return false;
    if (value && !parse_distribution(text, &spec)) {
        fail(err, IRRUN_USAGE, "--random: '%s' is no distribution", text);
        return fail_hint(err, "uniform(a,b), normal(m,s), int(a,b), zeros, ones or arange, "
                              "with a <= b and s >= 0");
    }
    for (size_t i = 0; i < options->randoms.n; i++) {
        if (option_is_same_name(options->randoms.items[i].name, spec.name))
            return fail(err, IRRUN_USAGE, "--random is given twice for %s",
                        spec.name ? spec.name : "all inputs");
    }
    return OPTION_ADD(&options->randoms, &spec, err);
}

bool option_set_seed(struct options *options, const char *value, struct irrun_error *err)
{
    return option_parse_count("seed", value, &options->seed, err);
}

static bool parse_shape(const char *text, struct irrun_shape *shape)
{
    shape->rank = 0;
    for (const char *start = text; shape->rank < IRRUN_MAX_RANK; shape->rank++) {
        size_t length = strcspn(start, ",");
        int64_t *dim = &shape->dims[shape->rank];
        if (!text_to_i64(start, length, dim) || *dim < 0)
            return false;
        if (start[length] == '\0') {
            shape->rank++;
            return true;
        }
        start += length + 1;
    }
    return false;
}

bool option_set_shape(struct options *options, const char *value, struct irrun_error *err)
{
    struct shape_spec spec = {.shape = {.rank = 0}};
    const char *text;
    if (!option_split_name(options, value, &spec.name, &text, err))
        return false;
    spec.text = text;
    if (!parse_shape(text, &spec.shape)) {
        fail(err, IRRUN_USAGE, "--shape: '%s' is not NAME=D,D,...", value);
        return fail_hint(err, "dimensions are numbers with commas between: --shape=%s=1,512",
                         spec.name ? spec.name : "NAME");
    }
    return OPTION_ADD(&options->shapes, &spec, err);
}

bool option_set_axis(struct options *options, const char *value, struct irrun_error *err)
{
    return option_add_axis(options, "axis", value, &options->axes, true, err);
}

bool option_set_partial(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"error", "drop", "pad"};
    static const enum partial meanings[] = {PARTIAL_ERROR, PARTIAL_DROP, PARTIAL_PAD};
    size_t index;
    if (!option_choose_word("partial", value, words, sizeof words / sizeof words[0], &index, err))
        return false;
    options->partial = meanings[index];
    return true;
}

bool option_set_cast(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"none", "safe", "any"};
    static const enum cast meanings[] = {CAST_NONE, CAST_SAFE, CAST_ANY};
    size_t index;
    if (!option_choose_word("cast", value, words, sizeof words / sizeof words[0], &index, err))
        return false;
    options->cast = meanings[index];
    return true;
}

bool option_set_raw_check(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"auto", "never"};
    size_t index;
    if (!option_choose_word("raw-check", value, words, sizeof words / sizeof words[0], &index, err))
        return false;
    options->takes_any_raw = index == 1;
    return true;
}

bool option_set_feed(struct options *options, const char *value, struct irrun_error *err)
{
    struct loop_spec spec;
    if (!option_split_name(options, value, &spec.out, &spec.in, err))
        return false;
    if (!spec.out || *spec.in == '\0')
        return fail(err, IRRUN_USAGE, "--feed: '%s' is not OUT=IN", value);
    return OPTION_ADD(&options->loops, &spec, err);
}

bool option_set_until(struct options *options, const char *value, struct irrun_error *err)
{
    const char *number;
    if (!option_split_name(options, value, &options->until_name, &number, err))
        return false;
    options->until_text = number;
    bool is_number = text_to_f64(number, strlen(number), &options->until_value);
    if (options->until_name && is_number)
        return true;
    fail(err, IRRUN_USAGE, "--until: '%s' is not NAME=NUMBER", value);
    if (is_number)
        return fail_hint(err, "name the output: --until=NAME=%s", number);
    return fail_hint(err, "the sequence ends when the output is a number: --until=%s=1",
                     options->until_name ? options->until_name : number);
}

bool option_set_manifest(struct options *options, const char *value, struct irrun_error *err)
{
    options->manifest_path = value;
    return *value || fail(err, IRRUN_USAGE, "--manifest needs the name of a file, or -");
}

bool option_set_shard(struct options *options, const char *value, struct irrun_error *err)
{
    const char *slash = strchr(value, '/');
    int64_t index, n;
    if (!slash || !text_to_i64(value, (size_t)(slash - value), &index) ||
        !text_to_i64(slash + 1, strlen(slash + 1), &n) || index < 0 || index >= n)
        return fail(err, IRRUN_USAGE, "--shard: '%s' is not I/N with I from 0 to N - 1", value);
    options->shard = (uint64_t)index;
    options->n_shards = (uint64_t)n;
    return true;
}

/* More lanes than this would only be in each other's way. */
#define MAX_JOBS 1024

bool option_set_jobs(struct options *options, const char *value, struct irrun_error *err)
{
    int64_t n;
    if (!text_to_i64(value, strlen(value), &n) || n < 1 || n > MAX_JOBS)
        return fail(err, IRRUN_USAGE, "--jobs: '%s' is no number from 1 to %d", value, MAX_JOBS);
    options->n_jobs = (size_t)n;
    return true;
}
