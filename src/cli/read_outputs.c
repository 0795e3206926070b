/* Collects the names of the outputs that options read. Several options may name the same output.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/run.h"

#include <string.h>

static bool is_none(const struct binding *binding)
{
    return strcmp(binding->spec.format->name, "none") == 0;
}

/* Returns whether an option reads all outputs, without naming them. */
static bool reads_all(const struct options *options)
{
    const struct binding_list *outputs = &options->outputs, *expected = &options->expected;
    bool is_all = options->manifest_path || options->batch > 1 || options->concats.n > 0 ||
                  outputs->n + expected->n == 0;
    for (size_t i = 0; i < outputs->n; i++)
        is_all |= !outputs->items[i].name && !is_none(&outputs->items[i]);
    for (size_t i = 0; i < expected->n; i++)
        is_all |= !expected->items[i].name;
    return is_all;
}

static size_t list_written_outputs(const struct options *options, bool are_none, const char **names)
{
    const struct binding_list *outputs = &options->outputs;
    size_t n = 0;
    for (size_t i = 0; i < outputs->n; i++)
        if (outputs->items[i].name && is_none(&outputs->items[i]) == are_none)
            names[n++] = outputs->items[i].name;
    return n;
}

static size_t list_fed_outputs(const struct options *options, bool are_whole, const char **names)
{
    const struct feed_list *feeds = &options->feeds;
    size_t n = 0;
    for (size_t i = 0; i < feeds->n; i++)
        if ((feeds->items[i].choice == FEED_WHOLE) == are_whole)
            names[n++] = feeds->items[i].out;
    return n;
}

const char **set_read_outputs(const struct options *options, struct irrun_options *model_options,
                              struct irrun_error *err)
{
    const struct binding_list *expected = &options->expected;
    const char **names =
        new_array(options->outputs.n + expected->n + options->feeds.n + 1, sizeof(char *), err);
    if (!names || reads_all(options))
        return names;
    model_options->unread = names;
    model_options->n_unread = list_written_outputs(options, true, names);
    model_options->read_last = model_options->unread + model_options->n_unread;
    model_options->n_read_last = list_fed_outputs(options, false, names + model_options->n_unread);
    model_options->read = model_options->read_last + model_options->n_read_last;
    const char **read = names + model_options->n_unread + model_options->n_read_last;
    size_t n = list_written_outputs(options, false, read);
    n += list_fed_outputs(options, true, read + n);
    for (size_t i = 0; i < expected->n; i++)
        read[n++] = expected->items[i].name;
    if (options->until_name)
        read[n++] = options->until_name;
    model_options->n_read = n;
    return names;
}
