/* Pieces of which the functions in option_inputs.c, option_run.c and option_outputs.c are made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_OPTION_PARTS_H
#define IRRUN_CLI_OPTION_PARTS_H

#include "cli/option_values.h"

/* Appends a copy of *item to a list { items, n, capacity }. */
#define OPTION_ADD(list, item, err)                                                                \
    option_add_item((void **)&(list)->items, &(list)->n, &(list)->capacity, sizeof *(list)->items, \
                    (item), (err))
bool option_add_item(void **items, size_t *n, size_t *capacity, size_t item_bytes, const void *item,
                     struct irrun_error *err);

/* Splits "NAME=REST" at the first '='; *name is NULL if there is none. */
bool option_split_name(struct options *options, const char *value, const char **name,
                       const char **rest, struct irrun_error *err);

bool option_is_same_name(const char *a, const char *b); /* either may be NULL */

/* A whole number from 0 up. */
bool option_parse_count(const char *option, const char *value, uint64_t *count,
                        struct irrun_error *err);

/* The index of value among n words; otherwise an error that lists them. */
bool option_choose_word(const char *option, const char *value, const char *const *words, size_t n,
                        size_t *index, struct irrun_error *err);

/* Adds [NAME=]K, or [NAME=]K:CHUNK, to a list. */
bool option_add_axis(struct options *options, const char *option, const char *value,
                     struct axis_list *list, bool has_chunk, struct irrun_error *err);

/* The name of a file, of an npz if its ending says what it is. */
bool option_set_npz(const char *option, const char *value, const char **path,
                    struct irrun_error *err);

/* Actions exclude each other. */
bool option_set_action(struct options *options, enum action action, const char *name,
                       struct irrun_error *err);

#endif
