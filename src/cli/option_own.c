/* Setters that only one option uses (OWN in options.def).
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/option_internal.h"

/* Splits "(x,y)". Sets *comma to the end of x, *end to the end of y. */
static bool split_pair(const char *text, const char **comma, const char **end)
{
    size_t length = strlen(text);
    *comma = strchr(text, ',');
    *end = text + length - 1;
    return length >= 2 && text[0] == '(' && **end == ')' && *comma;
}

static bool parse_pair(const char *text, double pair[2])
{
    const char *comma, *end;
    return split_pair(text, &comma, &end) &&
           text_to_f64(text + 1, (size_t)(comma - text - 1), &pair[0]) &&
           text_to_f64(comma + 1, (size_t)(end - comma - 1), &pair[1]);
}

static bool parse_int_pair(const char *text, struct random_spec *spec)
{
    const char *comma, *end;
    return split_pair(text, &comma, &end) &&
           text_to_i64(text + 1, (size_t)(comma - text - 1), &spec->low) &&
           text_to_i64(comma + 1, (size_t)(end - comma - 1), &spec->high) &&
           spec->low <= spec->high;
}

static bool parse_distribution(const char *text, struct random_spec *spec)
{
    static const struct {
        const char *word;
        enum random_kind kind;
        double a, b; /* defaults, for the word without parameters */
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
        if (!isfinite(spec->a) || !isfinite(spec->b) ||
            (spec->kind == RANDOM_UNIFORM && !isfinite(spec->b - spec->a)))
            return false;
        return spec->kind == RANDOM_UNIFORM ? spec->a <= spec->b : spec->b >= 0 || !takes_pair;
    }
    return false;
}

bool option_set_random(struct options *options, const struct option_row *row, const char *value,
                       struct irrun_error *err)
{
    struct random_spec spec = {.kind = RANDOM_DEFAULT};
    const char *text = value;
    if (value && !option_split_name(options, value, &spec.name, &text, err))
        return false;
    if (value && !parse_distribution(text, &spec)) {
        fail(err, IRRUN_USAGE, "--%s: '%s' is not a distribution", row->name, text);
        return fail_hint(err, "uniform(a,b), normal(m,s), int(a,b), zeros, ones or arange, "
                              "with a <= b and s >= 0");
    }
    return OPTION_ADD(options, &options->randoms, &spec, err);
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

/* Returns the shape that was probably meant, such as "1,3" for "[1,3]" or "1x3"; otherwise, an
 * example. */
static const char *guess_shape(const char *text, char out[64])
{
    size_t n = 0;
    for (; n < 60 && *text; text++) {
        if (text_is_digit(*text))
            out[n++] = *text;
        else if (n > 0 && out[n - 1] != ',' && text[strcspn(text, "0123456789")] != '\0')
            out[n++] = ',';
        if (!text_is_digit(*text) && !strchr("[](){}x* ,", *text))
            n = 60;
    }
    out[n] = '\0';
    struct irrun_shape shape = {.rank = 0};
    return n < 60 && parse_shape(out, &shape) ? out : "1,512";
}

bool option_set_shape(struct options *options, const struct option_row *row, const char *value,
                      struct irrun_error *err)
{
    struct shape_spec spec = {.shape = {.rank = 0}};
    char guess[64];
    const char *text;
    if (!option_split_name(options, value, &spec.name, &text, err))
        return false;
    spec.text = text;
    if (!parse_shape(text, &spec.shape)) {
        fail(err, IRRUN_USAGE, "--%s: '%s' is not NAME=D,D,...", row->name, value);
        return fail_hint(err,
                         "dimensions are numbers separated by commas, at most %d: --shape=%s=%s",
                         IRRUN_MAX_RANK, spec.name ? spec.name : "NAME", guess_shape(text, guess));
    }
    return OPTION_ADD(options, &options->shapes, &spec, err);
}

static bool check_columns(const struct option_row *row, const char *text, struct irrun_error *err)
{
    size_t length = strlen(text);
    return (length > 0 && text[0] != ',' && text[length - 1] != ',' && !strstr(text, ",,")) ||
           fail(err, IRRUN_USAGE, "--%s: '%s' is not A,B,...", row->name, text);
}

bool option_set_columns(struct options *options, const struct option_row *row, const char *value,
                        struct irrun_error *err)
{
    struct columns_spec spec;
    if (!option_split_name(options, value, &spec.name, &spec.text, err))
        return false;
    return check_columns(row, spec.text, err) && OPTION_ADD(options, &options->columns, &spec, err);
}

bool option_set_keep_columns(struct options *options, const struct option_row *row,
                             const char *value, struct irrun_error *err)
{
    if (!check_columns(row, value, err))
        return false;
    if (!options->kept)
        options->kept = arena_alloc(&options->arena, sizeof *options->kept, err);
    if (options->kept)
        options->kept->wanted = value;
    return options->kept != NULL;
}

/* Parses "T)", "T,K)" or "T,K,P)". */
static bool parse_sampling(const char *text, struct sampling *sampling)
{
    size_t lengths[3] = {0}, n = 0;
    const char *parts[3] = {text};
    int64_t top_k = 0;
    for (const char *at = text; n < 3; at += lengths[n - 1] + 1) {
        parts[n] = at;
        lengths[n] = strcspn(at, ",)");
        if (at[lengths[n++]] != ',')
            break;
    }
    *sampling = (struct sampling){.top_p = 1};
    if (strcmp(parts[n - 1] + lengths[n - 1], ")") != 0 ||
        !text_to_f64(parts[0], lengths[0], &sampling->temperature) ||
        !(sampling->temperature > 0) || isinf(sampling->temperature) ||
        (n > 1 && (!text_to_i64(parts[1], lengths[1], &top_k) || top_k < 0)) ||
        (n > 2 && !text_to_f64(parts[2], lengths[2], &sampling->top_p)))
        return false;
    sampling->top_k = (uint64_t)top_k;
    return sampling->top_p > 0 && sampling->top_p <= 1;
}

/* Parses ":argmax" or ":sample(T,K,P)" after IN. Any other text is part of the name. */
static bool parse_choice(const struct option_row *row, const char *text, struct feed_spec *spec,
                         struct irrun_error *err)
{
    static const char sample[] = ":sample";
    size_t n_sample = sizeof sample - 1;
    if (strcmp(text, ":argmax") == 0)
        spec->choice = FEED_ARGMAX;
    if (strncmp(text, sample, n_sample) != 0 || (text[n_sample] != '(' && text[n_sample] != '\0'))
        return true;
    spec->choice = FEED_SAMPLE;
    if (text[n_sample] == '(' && parse_sampling(text + n_sample + 1, &spec->sampling))
        return true;
    fail(err, IRRUN_USAGE, "--%s: '%s' is not :sample(T,K,P), with T above 0 and P up to 1",
         row->name, text);
    return fail_hint(err, "':sample(0.8,40,0.9)': temperature 0.8, top-k 40, top-p 0.9; "
                          ":argmax takes the most probable index");
}

bool option_set_feed(struct options *options, const struct option_row *row, const char *value,
                     struct irrun_error *err)
{
    struct feed_spec spec = {.choice_text = ""};
    if (!option_split_name(options, value, &spec.out, &spec.in, err))
        return false;
    const char *colon = strrchr(spec.in, ':');
    if (colon && !parse_choice(row, colon, &spec, err))
        return false;
    if (spec.choice != FEED_WHOLE) {
        spec.choice_text = colon;
        spec.in = arena_strndup(&options->arena, spec.in, (size_t)(colon - spec.in), err);
    }
    if (!spec.in)
        return false;
    if (!spec.out || *spec.in == '\0')
        return fail(err, IRRUN_USAGE, "--%s: '%s' is not OUT=IN", row->name, value);
    return OPTION_ADD(options, &options->feeds, &spec, err);
}

bool option_set_until(struct options *options, const struct option_row *row, const char *value,
                      struct irrun_error *err)
{
    const char *number;
    if (!option_split_name(options, value, &options->until_name, &number, err))
        return false;
    options->until_text = number;
    bool is_number =
        text_to_f64(number, strlen(number), &options->until_value) && !isnan(options->until_value);
    if (options->until_name && is_number)
        return true;
    fail(err, IRRUN_USAGE, "--%s: '%s' is not NAME=NUMBER", row->name, value);
    if (is_number)
        return fail_hint(err, "name the output: --until=NAME=%s", number);
    if (strlen(number) == 1)
        return fail_hint(err, "a character is given by its number: --until=%s=%d",
                         options->until_name ? options->until_name : "NAME",
                         (unsigned char)*number);
    /* sum==6, sum>6 */
    int n_name = (int)strcspn(value, "=<>!");
    number = value + n_name + strspn(value + n_name, "=<>!");
    is_number =
        text_to_f64(number, strlen(number), &options->until_value) && !isnan(options->until_value);
    return fail_hint(err, "the sequence ends when the output equals the number: --until=%.*s=%s",
                     n_name > 0 ? n_name : 4, n_name > 0 ? value : "NAME",
                     is_number ? number : "1");
}

bool option_set_shard(struct options *options, const struct option_row *row, const char *value,
                      struct irrun_error *err)
{
    const char *slash = strchr(value, '/');
    int64_t index, n;
    if (!slash || !text_to_i64(value, (size_t)(slash - value), &index) ||
        !text_to_i64(slash + 1, strlen(slash + 1), &n) || index < 0 || index >= n) {
        fail(err, IRRUN_USAGE, "--%s: '%s' is not I/N with I from 0 to N - 1", row->name, value);
        return fail_hint(err, "--%s=0/4 is the first of four shards, --%s=3/4 the last", row->name,
                         row->name);
    }
    options->shard = (uint64_t)index;
    options->n_shards = (uint64_t)n;
    return true;
}

bool option_set_reset(struct options *options, const struct option_row *row, const char *value,
                      struct irrun_error *err)
{
    struct reset_policy *reset = &options->reset;
    int64_t every;
    reset->text = value ? value : "iteration";
    if (!value || strcmp(value, "iteration") == 0) {
        reset->when = RESET_ITERATION;
    } else if (strcmp(value, "sequence") == 0) {
        reset->when = RESET_SEQUENCE;
    } else if (strcmp(value, "never") == 0) {
        reset->when = RESET_NEVER;
    } else if (strncmp(value, "if:", 3) == 0 && value[3] != '\0') {
        reset->when = RESET_IF;
        reset->name = value + 3;
    } else if (text_to_i64(value, strlen(value), &every) && every > 0) {
        reset->when = RESET_EVERY;
        reset->every = (uint64_t)every;
    } else {
        fail(err, IRRUN_USAGE, "--%s: unknown value '%s'", row->name, value);
        return fail_hint(err, "use never, sequence, iteration, if:NAME, or a number from 1 up");
    }
    return true;
}

bool option_set_threads(struct options *options, const struct option_row *row, const char *value,
                        struct irrun_error *err)
{
    int64_t n = IRRUN_THREADS_AUTO;
    bool is_number = text_to_i64(value, strlen(value), &n) && n >= 1 && n < IRRUN_THREADS_AUTO;
    if (!is_number && strcmp(value, "auto") != 0)
        return fail(err, IRRUN_USAGE, "--%s must be a whole number from 1 up, or auto, not '%s'",
                    row->name, value);
    options->n_threads = (unsigned)n;
    return true;
}

/* Rejects -r 16000: in other programs -r is the rate. Here it would name a report, and the rate
 * would not be checked. */
bool option_set_report(struct options *options, const struct option_row *row, const char *value,
                       struct irrun_error *err)
{
    if (*value && value[strspn(value, "0123456789")] == '\0') {
        fail(err, IRRUN_USAGE, "--%s (-r) takes a file, and '%s' looks like a rate", row->name,
             value);
        return fail_hint(err, "--rate=%s; for a report of that name: --report=./%s", value, value);
    }
    options->report_path = value;
    return *value || fail(err, IRRUN_USAGE, "--%s needs the name of a file, or -", row->name);
}

bool option_set_simd(struct options *options, const struct option_row *row, const char *value,
                     struct irrun_error *err)
{
    struct text words = {0};
    size_t index;
    text_add(&words, "auto");
    for (size_t i = 0; irrun_simd_level(i); i++)
        text_add(&words, "|%s", irrun_simd_level(i));
    bool is_known =
        text_check(&words, err) && option_choose_word(row, words.data, value, &index, err);
    text_free(&words);
    options->simd = value;
    return is_known;
}

bool option_set_deadline(struct options *options, const struct option_row *row, const char *value,
                         struct irrun_error *err)
{
    size_t length = strcspn(value, ",");
    bool is_number = text_to_f64(value, length, &options->deadline_s);
    options->fails_if_late = strcmp(value + length, ",fail") == 0;
    if (is_number && options->deadline_s > 0 && options->deadline_s <= 1e9 &&
        (value[length] == '\0' || options->fails_if_late))
        return true;
    fail(err, IRRUN_USAGE, "--%s: '%s' is not SEC[,fail] with seconds above 0", row->name, value);
    return fail_hint(err, "--deadline=0.02 counts the results that come later than 20 ms");
}

bool option_set_fail_on_nan(struct options *options, const struct option_row *row,
                            const char *value, struct irrun_error *err)
{
    size_t index;
    options->stops_at_nan = true;
    options->allows_inf = value != NULL;
    return !value || option_choose_word(row, row->metavar, value, &index, err);
}

bool option_set_low_latency(struct options *options, const struct option_row *row,
                            const char *value, struct irrun_error *err)
{
    if (value && *value == '\0')
        return fail(err, IRRUN_USAGE, "--%s= names no op", row->name);
    options->low_latency = value ? value : "";
    return true;
}
