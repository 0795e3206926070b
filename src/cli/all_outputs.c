/* Finds outputs of the model and inputs of --feed by name. Explains mistakes in --feed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/all_outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bind.h"

/* Improves the error for a --feed whose IN names no input: if the text before a colon names an
 * input, reports the text after the colon. A number after the colon, alone or after a word such as
 * sample, is probably a temperature. */
static bool fail_input(const struct irrun_model *model, const struct feed_spec *feed,
                       struct irrun_error *err)
{
    char name[256];
    size_t input;
    struct irrun_error ignored;
    for (const char *colon = strchr(feed->in, ':'); colon; colon = strchr(colon + 1, ':')) {
        const char *number = strpbrk(colon, "0123456789.");
        bool is_sample = strchr("sS0123456789.", colon[1]) || strncmp(colon, ":temp", 5) == 0;
        int length = snprintf(name, sizeof name, "%.*s", (int)(colon - feed->in), feed->in);
        if (length >= (int)sizeof name || !irrun_model_find_input(model, name, &input, &ignored))
            continue;
        error_clear(err);
        fail(err, IRRUN_USAGE, "--feed: '%s' is neither :argmax nor :sample(T,K,P)", colon);
        if (!is_sample || (number && !(strtod(number, NULL) > 0)))
            return fail_hint(err, "write --feed=%s=%s:argmax", feed->out, name);
        return fail_hint(err, "write '--feed=%s=%s:sample(%.*s)'", feed->out, name,
                         number ? (int)strspn(number, "0123456789.") : 1, number ? number : "1");
    }
    return false;
}

/* Improves the error for a --feed whose OUT names no output, if OUT and IN are swapped. */
static bool fail_output(const struct irrun_model *model, const struct feed_spec *feed,
                        struct irrun_error *err)
{
    size_t index;
    struct irrun_error ignored;
    if (!irrun_model_find_input(model, feed->out, &index, &ignored) ||
        !irrun_model_find_output(model, feed->in, &index, &ignored))
        return false;
    error_clear(err);
    fail(err, IRRUN_USAGE, "--feed=OUT=IN: \"%s\" is an input, \"%s\" an output", feed->out,
         feed->in);
    const char *quote = strchr(feed->choice_text, '(') ? "'" : "";
    return fail_hint(err, "write %s--feed=%s=%s%s%s", quote, feed->in, feed->out, feed->choice_text,
                     quote);
}

bool all_outputs_check_feeds(const struct irrun_model *model, const struct options *options,
                             struct irrun_error *err)
{
    size_t index;
    for (size_t i = 0; i < options->feeds.n; i++) {
        const struct feed_spec *feed = &options->feeds.items[i];
        if (!irrun_model_find_output(model, feed->out, &index, err))
            return fail_output(model, feed, err);
        if (!irrun_model_find_input(model, feed->in, &index, err))
            return fail_input(model, feed, err);
    }
    return true;
}

size_t all_outputs_count(const struct irrun_model *model, const struct options *options)
{
    return irrun_model_n_outputs(model) + options->feeds.n;
}

bool all_outputs_find(const struct irrun_model *model, const struct options *options,
                      const char *name, size_t *index, struct irrun_error *err)
{
    struct irrun_error ignored;
    size_t input;
    if (irrun_model_find_output(model, name, index, err))
        return true;
    for (size_t i = 0; i < options->feeds.n; i++) {
        *index = irrun_model_n_outputs(model) + i;
        if (irrun_model_find_input(model, options->feeds.items[i].in, &input, &ignored) &&
            port_has_name(model, irrun_model_find_input, input, name)) {
            error_clear(err);
            return true;
        }
    }
    return false;
}

const char *all_outputs_name(const struct irrun_model *model, const struct options *options,
                             size_t index)
{
    struct irrun_error ignored;
    size_t n = irrun_model_n_outputs(model), input = 0;
    if (index < n)
        return irrun_model_output(model, index)->name;
    const char *name = options->feeds.items[index - n].in;
    return irrun_model_find_input(model, name, &input, &ignored)
               ? irrun_model_input(model, input)->name
               : name;
}
