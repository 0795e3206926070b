/* The hints of --inspect. Finds outputs whose name, type and shape look like the next value of an
 * input, and inputs that text-generation models usually have.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/inspect.h"

#include <ctype.h>
#include <string.h>

#include "cli/bind.h"
#include "cli/usual_inputs.h"

#define STEM_BYTES 256
#define MAX_EXTRA_LETTERS 3 /* at the end of one of two similar names */

/* Returns whether the word only distinguishes an old value from a new one. */
static bool is_qualifier(const char *word, size_t length)
{
    static const char *const words[] = {"in",   "out",     "input",    "output",  "inp",  "new",
                                        "next", "prev",    "previous", "old",     "init", "initial",
                                        "cur",  "current", "past",     "present", "last", "final"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
            return true;
    return false;
}

/* Sets `stem` to the name in lower case without separators and qualifiers, such as "h" for
 * "h_last". If !has_numbers, also removes numbers. */
static void make_stem(const char *name, bool has_numbers, char stem[STEM_BYTES])
{
    size_t n = 0;
    while (*name != '\0' && n < STEM_BYTES - 1) {
        size_t length = 0, start = n;
        bool is_number = isdigit((unsigned char)*name);
        for (; isalnum((unsigned char)name[length]) &&
               is_number == !!isdigit((unsigned char)name[length]) && n < STEM_BYTES - 1;
             length++)
            stem[n++] = (char)tolower((unsigned char)name[length]);
        if (is_qualifier(stem + start, length) || (is_number && !has_numbers))
            n = start;
        name += length > 0 ? length : 1;
    }
    stem[n] = '\0';
}

/* Returns 3 if the names differ only in qualifiers, 2 if also in numbers, 1 if one name has a few
 * more letters at its end ("state", "stateN"), 0 if the names are not similar. */
static unsigned similarity(const char *a, const char *b)
{
    char x[STEM_BYTES], y[STEM_BYTES];
    make_stem(a, true, x);
    make_stem(b, true, y);
    if (x[0] != '\0' && strcmp(x, y) == 0)
        return 3;
    make_stem(a, false, x);
    make_stem(b, false, y);
    if (x[0] == '\0' || y[0] == '\0')
        return 0;
    size_t n = strlen(x), m = strlen(y), shorter = n < m ? n : m, longer = n < m ? m : n;
    if (strncmp(x, y, shorter) != 0)
        return 0;
    return longer == shorter ? 2 : longer - shorter <= MAX_EXTRA_LETTERS;
}

/* Returns whether a shape exists that matches both. */
static bool may_be_equal(const struct irrun_partial_shape *a, const struct irrun_partial_shape *b)
{
    if (a->is_rank_dynamic || b->is_rank_dynamic || a->rank != b->rank)
        return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->max[i] < b->min[i] || b->max[i] < a->min[i])
            return false;
    return true;
}

/* Returns whether a --feed already names this input or output. */
static bool is_fed(const struct irrun_model *model, const struct options *options, size_t index,
                   bool is_input)
{
    for (size_t i = 0; i < options->feeds.n; i++) {
        const struct feed_spec *feed = &options->feeds.items[i];
        if (is_input ? port_has_name(model, irrun_model_find_input, index, feed->in)
                     : port_has_name(model, irrun_model_find_output, index, feed->out))
            return true;
    }
    return false;
}

/* Returns the output that looks most like the next value of the input; NULL if no output does. */
static const struct irrun_port *find_next_value(const struct irrun_model *model,
                                                const struct options *options,
                                                const struct irrun_port *input)
{
    const struct irrun_port *best = NULL;
    unsigned most = 0;
    for (size_t i = 0; i < irrun_model_n_outputs(model); i++) {
        const struct irrun_port *output = irrun_model_output(model, i);
        unsigned similar = similarity(input->name, output->name);
        if (similar <= most || output->dtype != input->dtype ||
            !may_be_equal(&output->shape, &input->shape) || is_fed(model, options, i, false))
            continue;
        most = similar;
        best = output;
    }
    return best;
}

/* Adds a hint for the usual inputs of a text-generation model. Returns whether there are
 * any. */
static bool add_usual_inputs(const struct irrun_model *model, const struct options *options,
                             struct text *text)
{
    bool has_any = false;
    for (size_t i = 0; i < irrun_model_n_inputs(model); i++) {
        const char *usual = usual_input_options(model, i);
        if (!usual || is_fed(model, options, i, true))
            continue;
        text_add(text, "%s %s", has_any ? "" : "usual inputs of a text-generation model:", usual);
        has_any = true;
    }
    if (has_any)
        text_add_bytes(text, "", 1);
    return has_any;
}

size_t inspect_add_hints(const struct irrun_model *model, const struct irrun_analysis *analysis,
                         const struct options *options, struct text *text)
{
    size_t n_inputs = irrun_model_n_inputs(model), n = 0;
    /* With a single input or output, a feedback loop is unlikely. */
    for (size_t i = 0; i < n_inputs && n_inputs > 1 && irrun_model_n_outputs(model) > 1; i++) {
        const struct irrun_port *input = irrun_model_input(model, i);
        const struct irrun_port *output =
            is_fed(model, options, i, true) ? NULL : find_next_value(model, options, input);
        if (!output)
            continue;
        text_add(text, "output \"%s\" looks like the next value of \"%s\": --feed=%s=%s%c",
                 output->name, input->name, output->name, input->name, '\0');
        n++;
    }
    n += add_usual_inputs(model, options, text);
    if (analysis->takes_chunks) {
        text_add(text, "sequences can run in chunks of frames: --low-latency%c", '\0');
        n++;
    }
    return n;
}
