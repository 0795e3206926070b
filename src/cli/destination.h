/* Where outputs go: every -o, or '>' of a manifest, as one destination or, with %n, several.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_DESTINATION_H
#define IRRUN_CLI_DESTINATION_H

#include "cli/outputs.h"

struct destination {
    struct format_spec spec;
    char *path;         /* spec.path with %n filled in; %k and %% are still there */
    size_t *output_ids; /* outputs of the model, in the writer's order */
    const char **names;
    size_t n_outputs;
    bool is_per_sequence; /* ends with the sequence: the path has a %k, or a manifest named it */
    const struct axis_spec *concat; /* NULL: records are not joined */
    struct writer *writer;          /* NULL: not open */
};

struct destination_list {
    const struct irrun_model *model;
    const struct options *options;
    bool is_of_sequence; /* from a line of a manifest */
    struct destination *items;
    size_t n, capacity;
};

/* Adds what one binding says. IRRUN_USAGE for a name the model does not have, or a format that
 * cannot hold all outputs. */
bool destination_add(struct destination_list *list, const struct binding *binding,
                     struct irrun_error *err);

/* Checks all destinations, after the last is added: --concat, and several sequences in one file. */
bool destinations_check(struct destination_list *list, struct irrun_error *err);

/* Fails with IRRUN_USAGE if --concat names an axis that an output does not have, whether or not the
 * output is written. values: the outputs of the model, NULL where the shape is not known yet.
 * Without a destination, at least one output must have the axis. */
bool destinations_check_axes(const struct destination_list *list,
                             const struct irrun_tensor *const *values, struct irrun_error *err);

void destinations_free(struct destination_list *list); /* aborts what is open */

/* Returns the path with all fields replaced by their values. The caller frees it. */
bool destination_path(const struct destination *item, const char *key, char **path,
                      struct irrun_error *err);

/* Whether the file is read by keys, each of which it should hold once. */
bool destination_needs_keys(const struct destination *item);

/* Calls `take` with every file that several sequences share, or with those of one sequence. */
bool destinations_visit(const struct destination_list *list, const struct sequence *sequence,
                        output_path_fn *take, void *context, struct irrun_error *err);

/* Whether nothing is written there. */
bool destination_is_none(const struct destination_list *list, const struct destination *item);

#endif
