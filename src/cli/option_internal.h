/* The setters of options. option_common.c defines those that several options share, option_own.c
 * those of a single option (OWN in options.def).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_OPTION_INTERNAL_H
#define IRRUN_CLI_OPTION_INTERNAL_H

#include "cli/options.h"

option_set_fn option_set_flag, option_set_word, option_set_bool, option_set_count,
    option_set_positive, option_set_share, option_set_path, option_set_npz, option_set_action,
    option_set_string, option_set_source, option_set_destination, option_set_axis,
    option_set_tolerance;

option_set_fn option_set_columns, option_set_keep_columns, option_set_low_latency,
    option_set_random, option_set_shape, option_set_feed, option_set_until, option_set_shard,
    option_set_reset, option_set_threads, option_set_report, option_set_simd, option_set_deadline,
    option_set_fail_on_nan;

/* Appends a copy of *item to a list { items, n } in the arena. */
#define OPTION_ADD(options, list, item, err)                                                       \
    option_add_item((options), (void **)&(list)->items, &(list)->n, sizeof *(list)->items, (item), \
                    (err))
bool option_add_item(struct options *options, void **items, size_t *n, size_t item_bytes,
                     const void *item, struct irrun_error *err);

/* Splits "NAME=REST" at the first '='; *name is NULL if there is none. */
bool option_split_name(struct options *options, const char *value, const char **name,
                       const char **rest, struct irrun_error *err);

/* If there is no file `word` (after a NAME= or FORMAT: prefix), but a file "word next", adds a hint
 * to quote the name and returns true. */
bool option_hint_blank(const char *word, const char *next, struct irrun_error *err);

/* Sets *index to the position of `value` in a list such as "auto|never". If the list does not
 * contain the value, fails with an error that lists the words. */
bool option_choose_word(const struct option_row *row, const char *words, const char *value,
                        size_t *index, struct irrun_error *err);

/* Return the option with this letter, or with this name; N_OPTIONS: none. In options.c. */
enum option_id option_find_letter(char letter);
enum option_id option_find(const char *name, size_t length);

/* If the value is a number with a unit, such as 20ms or 1%, replaces the hint of the error with
 * the number that the option takes. */
void option_hint_unit(const struct option_row *row, const char *value, struct irrun_error *err);

/* Fails because of `word`, which holds the unknown option `name` of `length` bytes, with a hint.
 * next: the next word, or NULL. In option_unknown.c. */
bool option_fail_unknown(const char *word, const char *name, size_t length, const char *next,
                         struct irrun_error *err);

/* Fails if a word contains an en or em dash instead of the hyphens of an option, or a curly quote
 * before a value, as in pasted commands. In option_unknown.c. */
bool option_check_characters(char **words, struct irrun_error *err);

/* Returns the hint for an option of another program, or NULL. In option_unknown.c. */
const char *option_find_foreign(const char *name, size_t length);

/* Parses the n operands, the model and its weights. next_words: for each option that was given
 * without a value, the word after it, or NULL. Fails with IRRUN_USAGE. In operands.c. */
bool operands_parse(struct options *options, char *const next_words[N_OPTIONS], int n, char **words,
                    struct irrun_error *err);

#endif
