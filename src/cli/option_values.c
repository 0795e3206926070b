/* What each option does with its argument: option_set_<id> for every row of options.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/option_values.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

/* ---- Pieces ------------------------------------------------------------------------------------ */

static bool add_item(void **items, size_t *n, size_t *capacity, size_t item_bytes, const void *item,
                     struct irrun_error *err)
{
    if (!grow_array(items, *n, capacity, item_bytes, err))
        return false;
    memcpy((char *)*items + (*n)++ * item_bytes, item, item_bytes);
    return true;
}

#define ADD(list, item, err)                                                                       \
    add_item((void **)&(list)->items, &(list)->n, &(list)->capacity, sizeof *(list)->items,        \
             (item), (err))

/* Splits "NAME=REST" at the first '='; *name is NULL if there is none. */
static bool split_name(struct options *options, const char *value, const char **name,
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

static bool is_same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool parse_count(const char *option, const char *value, uint64_t *count,
                        struct irrun_error *err)
{
    int64_t number;
    if (!text_to_i64(value, strlen(value), &number) || number < 0)
        return fail(err, IRRUN_USAGE, "--%s: '%s' is no whole number from 0 up", option, value);
    *count = (uint64_t)number;
    return true;
}

/* The index of value among n words; otherwise an error that lists them. */
static bool choose_word(const char *option, const char *value, const char *const *words, size_t n,
                        size_t *index, struct irrun_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(value, words[i]) == 0) {
            *index = i;
            return true;
        }
    }
    fail(err, IRRUN_USAGE, "--%s: '%s' is none of", option, value);
    for (size_t i = 0; i < n; i++)
        fail_more(err, "%s %s", i == 0 ? "" : ",", words[i]);
    const char *near = nearest_word(value, words, n);
    return near ? fail_hint(err, "did you mean --%s=%s?", option, near) : false;
}

static bool set_action(struct options *options, enum action action, const char *name,
                       struct irrun_error *err)
{
    if (options->action_name && options->action != action)
        return fail(err, IRRUN_USAGE, "--%s and --%s exclude each other", options->action_name,
                    name);
    options->action = action;
    options->action_name = name;
    return true;
}

/* ---- Inputs ------------------------------------------------------------------------------------ */

bool option_set_input(struct options *options, const char *value, struct irrun_error *err)
{
    struct binding binding;
    const char *source;
    return split_name(options, value, &binding.name, &source, err) &&
           format_parse_source(source, &binding.spec, err) && ADD(&options->inputs, &binding, err);
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
    if (value && !split_name(options, value, &spec.name, &text, err))
        return false;
    if (value && !parse_distribution(text, &spec)) {
        fail(err, IRRUN_USAGE, "--random: '%s' is no distribution", text);
        return fail_hint(err, "uniform(a,b), normal(m,s), int(a,b), zeros, ones or arange, "
                              "with a <= b and s >= 0");
    }
    for (size_t i = 0; i < options->randoms.n; i++) {
        if (is_same_name(options->randoms.items[i].name, spec.name))
            return fail(err, IRRUN_USAGE, "--random is given twice for %s",
                        spec.name ? spec.name : "all inputs");
    }
    return ADD(&options->randoms, &spec, err);
}

bool option_set_seed(struct options *options, const char *value, struct irrun_error *err)
{
    return parse_count("seed", value, &options->seed, err);
}

bool option_set_axis(struct options *options, const char *value, struct irrun_error *err)
{
    struct axis_spec spec = {.chunk = 0};
    const char *text;
    if (!split_name(options, value, &spec.name, &text, err))
        return false;
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    if (!text_to_i64(text, length, &spec.axis) || spec.axis < -IRRUN_MAX_RANK ||
        spec.axis >= IRRUN_MAX_RANK)
        return fail(err, IRRUN_USAGE, "--axis: '%.*s' is no axis", (int)length, text);
    if (colon && (!text_to_i64(colon + 1, strlen(colon + 1), &spec.chunk) || spec.chunk < 1))
        return fail(err, IRRUN_USAGE, "--axis: '%s' is no length of a slice", colon + 1);
    for (size_t i = 0; i < options->axes.n; i++) {
        if (is_same_name(options->axes.items[i].name, spec.name))
            return fail(err, IRRUN_USAGE, "--axis is given twice for %s",
                        spec.name ? spec.name : "all inputs");
    }
    return ADD(&options->axes, &spec, err);
}

/* ---- Running ----------------------------------------------------------------------------------- */

bool option_set_iterations(struct options *options, const char *value, struct irrun_error *err)
{
    options->has_iterations = true;
    return parse_count("iterations", value, &options->n_iterations, err);
}

bool option_set_reset(struct options *options, const char *value, struct irrun_error *err)
{
    struct reset_policy *reset = &options->reset;
    int64_t every;
    options->is_reset_given = true;
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
        fail(err, IRRUN_USAGE, "--reset: '%s' does not say when", value);
        return fail_hint(err, "never, sequence, iteration, if:NAME, or a number from 1 up");
    }
    return true;
}

bool option_set_gemm(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"auto", "plain", "cblas"};
    static const enum irrun_gemm meanings[] = {IRRUN_GEMM_AUTO, IRRUN_GEMM_PLAIN, IRRUN_GEMM_CBLAS};
    size_t index;
    if (!choose_word("gemm", value, words, sizeof words / sizeof words[0], &index, err))
        return false;
    options->gemm = meanings[index];
    return true;
}

bool option_set_simd(struct options *options, const char *value, struct irrun_error *err)
{
    const char *words[IRRUN_SIMD_AVX512 + 1];
    size_t index;
    for (int simd = IRRUN_SIMD_AUTO; simd <= IRRUN_SIMD_AVX512; simd++)
        words[simd] = irrun_simd_name((enum irrun_simd)simd);
    if (!choose_word("simd", value, words, sizeof words / sizeof words[0], &index, err))
        return false;
    options->simd = (enum irrun_simd)index;
    return true;
}

bool option_set_no_fuse(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->keeps_ops = true;
    return true;
}

/* ---- Outputs and checks ------------------------------------------------------------------------ */

bool option_set_output(struct options *options, const char *value, struct irrun_error *err)
{
    struct binding binding;
    const char *destination;
    return split_name(options, value, &binding.name, &destination, err) &&
           format_parse_destination(destination, &binding.spec, err) &&
           ADD(&options->outputs, &binding, err);
}

bool option_set_emit(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"all", "last", "none"};
    static const enum emit meanings[] = {EMIT_ALL, EMIT_LAST, EMIT_NONE};
    size_t index;
    if (!choose_word("emit", value, words, sizeof words / sizeof words[0], &index, err))
        return false;
    options->emit = meanings[index];
    return true;
}

bool option_set_expect(struct options *options, const char *value, struct irrun_error *err)
{
    struct binding binding;
    const char *source;
    return split_name(options, value, &binding.name, &source, err) &&
           format_parse_source(source, &binding.spec, err) &&
           ADD(&options->expected, &binding, err);
}

static bool set_tolerance(struct options *options, const char *option, const char *value,
                          struct tolerance_list *list, struct irrun_error *err)
{
    struct tolerance tolerance;
    const char *text;
    if (!split_name(options, value, &tolerance.name, &text, err))
        return false;
    if (!text_to_f64(text, strlen(text), &tolerance.value) || !(tolerance.value >= 0))
        return fail(err, IRRUN_USAGE, "--%s: '%s' is no number from 0 up", option, text);
    for (size_t i = 0; i < list->n; i++) {
        if (is_same_name(list->items[i].name, tolerance.name) &&
            list->items[i].value != tolerance.value)
            return fail(err, IRRUN_USAGE, "--%s is given twice for %s", option,
                        tolerance.name ? tolerance.name : "all outputs");
    }
    return ADD(list, &tolerance, err);
}

bool option_set_atol(struct options *options, const char *value, struct irrun_error *err)
{
    return set_tolerance(options, "atol", value, &options->atols, err);
}

bool option_set_rtol(struct options *options, const char *value, struct irrun_error *err)
{
    return set_tolerance(options, "rtol", value, &options->rtols, err);
}

/* ---- Measuring, actions, general --------------------------------------------------------------- */

bool option_set_stats(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->wants_stats = true;
    return true;
}

bool option_set_check(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value;
    return set_action(options, ACTION_CHECK, "check", err);
}

/* Actions whose text has one form so far. */
static bool accept_text(const char *option, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"text"};
    size_t index;
    return !value || choose_word(option, value, words, 1, &index, err);
}

bool option_set_inspect(struct options *options, const char *value, struct irrun_error *err)
{
    return accept_text("inspect", value, err) &&
           set_action(options, ACTION_INSPECT, "inspect", err);
}

bool option_set_supported_ops(struct options *options, const char *value, struct irrun_error *err)
{
    return accept_text("supported-ops", value, err) &&
           set_action(options, ACTION_SUPPORTED_OPS, "supported-ops", err);
}

bool option_set_list_kernels(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value;
    return set_action(options, ACTION_LIST_KERNELS, "list-kernels", err);
}

bool option_set_quiet(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->is_quiet = true;
    return true;
}

bool option_set_verbose(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value, (void)err;
    options->is_verbose = true;
    return true;
}

bool option_set_help(struct options *options, const char *value, struct irrun_error *err)
{
    static const char *const words[] = {"all"};
    size_t index;
    if (!value)
        return set_action(options, ACTION_HELP, "help", err);
    return choose_word("help", value, words, 1, &index, err) &&
           set_action(options, ACTION_HELP_ALL, "help", err);
}

bool option_set_version(struct options *options, const char *value, struct irrun_error *err)
{
    (void)value;
    return set_action(options, ACTION_VERSION, "version", err);
}
