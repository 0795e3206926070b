/* Stores the variables of every key of --key: in memory for the most recently used keys, in a file
 * for the others. worker_keys.c loads the variables into the session.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_KEY_STATES_H
#define IRRUN_CLI_KEY_STATES_H

#include "tensor/tensor.h"

struct key_states;

#define NO_KEY UINT32_MAX

/* n_values: the number of variables. max_held: the largest number of keys with states in memory.
 * spill_path: the directory in which to create the file for the other keys; NULL: no file. Fails
 * with IRRUN_CANT_CREATE if the file cannot be created. */
bool key_states_new(size_t n_values, uint64_t max_held, const char *spill_path,
                    struct key_states **states, struct irrun_error *err);
void key_states_free(struct key_states *states); /* accepts NULL */

/* Sets *id to the number of the key, counted from 0 in the order of first use, and loads its state
 * into memory. *is_new: the key is used for the first time, and its variables are unset. Fails with
 * IRRUN_SYSTEM if max_held keys are in memory and there is no file. */
bool key_states_find(struct key_states *states, int64_t key, uint32_t *id, bool *is_new,
                     struct irrun_error *err);

/* Copies [n_values] values into the state of a key in memory; NULL: the variable is unset. */
bool key_states_put(struct key_states *states, uint32_t id,
                    const struct irrun_tensor *const *values, struct irrun_error *err);

/* Returns views of the [n_values] values, which are valid until the next put or find. The data of
 * an unset variable is NULL. Reads a state in the file without loading it. Returns NULL on
 * failure. */
const struct irrun_tensor *key_states_get(struct key_states *states, uint32_t id,
                                          struct irrun_error *err);

int64_t key_states_key(const struct key_states *states, uint32_t id);

/* Increments the number of iterations of the key, and returns the previous number. */
uint64_t key_states_count_iteration(struct key_states *states, uint32_t id);

struct key_stats {
    uint64_t n_keys, n_held; /* all keys; keys in memory now */
    uint64_t n_spilled;      /* how often a state was written to the file */
    uint64_t memory_bytes;   /* size of the states in memory and of the table of keys */
};
struct key_stats key_states_stats(const struct key_states *states);

#endif
