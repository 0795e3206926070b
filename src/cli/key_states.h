/* The variables of many keys. Those used last are in memory, each key in one block, the others in a
 * file. worker_keys.c loads them into the session.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_KEY_STATES_H
#define IRRUN_CLI_KEY_STATES_H

#include "tensor/tensor.h"

struct key_states;

#define NO_KEY UINT32_MAX

/* n_values: the number of variables. max_held: the keys whose states are in memory, at most.
 * spill_path: a directory for the file of the others; NULL: there is none. Fails with
 * IRRUN_CANT_CREATE if no file can be created there. */
bool key_states_new(size_t n_values, uint64_t max_held, const char *spill_path,
                    struct key_states **states, struct irrun_error *err);
void key_states_free(struct key_states *states); /* accepts NULL */

/* Sets *id to the number of the key, from 0 in the order of first use, and loads its state into
 * memory. *is_new: the key is used for the first time, and its variables are unset. Fails with
 * IRRUN_SYSTEM if max_held keys are in memory and there is no file. */
bool key_states_find(struct key_states *states, int64_t key, uint32_t *id, bool *is_new,
                     struct irrun_error *err);

/* Copies the values into the state of a key in memory; NULL: the variable is unset. */
bool key_states_put(struct key_states *states, uint32_t id,
                    const struct irrun_tensor *const *values, struct irrun_error *err);

/* Returns the values: views that are valid until the next put or find; data NULL: unset. A state in
 * the file is read but not loaded. Returns NULL if that fails. */
const struct irrun_tensor *key_states_get(struct key_states *states, uint32_t id,
                                          struct irrun_error *err);

int64_t key_states_key(const struct key_states *states, uint32_t id);

/* Adds one to the iterations of the key, and returns how many there were before. */
uint64_t key_states_count(struct key_states *states, uint32_t id);

struct key_stats {
    uint64_t n_keys, n_held; /* ever seen; in memory now */
    uint64_t n_spilled;      /* times that a state was written to the file */
    uint64_t memory_bytes;   /* of the states in memory, with the table of all keys */
};
struct key_stats key_states_stats(const struct key_states *states);

#endif
