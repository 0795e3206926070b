/* Destinations of outputs. Each -o, and each '>' in a manifest, is one destination or, with %n, one
 * per output.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_DESTINATION_H
#define IRRUN_CLI_DESTINATION_H

#include "cli/outputs.h"

struct destination {
    struct format_spec spec;
    char *path;                     /* spec.path with %n replaced; may still contain %k, %% */
    size_t first_output, n_outputs; /* indices for all_outputs_name */
    const char **names;             /* [n_outputs] */
    bool is_per_sequence;           /* one file per sequence: %k in the path, or from a manifest */
    const struct axis_spec *concat; /* NULL: records are not concatenated */
    struct writer *writer;          /* NULL: not open */
};

struct destination_list {
    const struct irrun_model *model;
    const struct options *options;
    bool is_from_manifest; /* for one sequence, from its line in a manifest */
    struct destination *items;
    size_t n, capacity;
};

/* Adds the destinations of one binding. Fails with IRRUN_USAGE if no output has the name, or if the
 * format cannot store all outputs. */
bool destination_add(struct destination_list *list, const struct binding *binding,
                     struct irrun_error *err);

/* Checks the outputs of --concat, and that every file can hold its sequences. Call it after the
 * last destination_add. */
bool destinations_check(struct destination_list *list, struct irrun_error *err);

/* Fails with IRRUN_USAGE if --concat names an axis that an output does not have, even if the output
 * is not written. values: the outputs of the model, NULL if the shape is not known yet. If there is
 * no destination, at least one output must have the axis. */
bool destinations_check_axes(const struct destination_list *list,
                             const struct irrun_tensor *const *values, struct irrun_error *err);

void destinations_free(struct destination_list *list); /* aborts open writers */

/* Returns whether the arrays of the file have keys, which should be unique (ark). */
bool destination_needs_keys(const struct destination *item);

/* Calls `visit` for every file of one sequence, or, if `sequence` is NULL, for every file that
 * sequences share. */
bool destinations_visit(const struct destination_list *list, const struct sequence *sequence,
                        output_path_fn *visit, void *context, struct irrun_error *err);

/* Returns whether nothing is written. */
bool destination_is_none(const struct destination_list *list, const struct destination *item);

#endif
