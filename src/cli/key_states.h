/* The variables of many keys: those used last are held in memory, each in one block, the others in
 * a file. What a key is to the run is worker_keys.c's.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_KEY_STATES_H
#define IRRUN_CLI_KEY_STATES_H

#include "tensor/tensor.h"

struct key_states;

#define NO_KEY UINT32_MAX

/* n_values: the number of variables. spill_path: a directory, or NULL; IRRUN_CANT_CREATE if no file
 * can be created there. */
bool key_states_new(size_t n_values, uint64_t max_held, const char *spill_path,
                    struct key_states **states, struct irrun_error *err);
void key_states_free(struct key_states *states); /* NULL is allowed */

/* Returns the number of the key in *id, and makes it the one used last, which is in memory. Numbers
 * count from 0 in the order in which keys come; *is_new: this one has come now, and no variable of
 * it is set. IRRUN_SYSTEM if max_held keys are held and the others have no file. */
bool key_states_find(struct key_states *states, int64_t key, uint32_t *id, bool *is_new,
                     struct irrun_error *err);

/* Copies the values, NULL for a variable that is unset, into the state of a key that is in
 * memory. */
bool key_states_put(struct key_states *states, uint32_t id,
                    const struct irrun_tensor *const *values, struct irrun_error *err);

/* Returns the values: views that are valid until the next put or find; data NULL: unset. Reads the
 * state of a key that is not in memory, and leaves it where it is. */
const struct irrun_tensor *key_states_get(struct key_states *states, uint32_t id,
                                          struct irrun_error *err);

int64_t key_states_key(const struct key_states *states, uint32_t id);

/* Adds one to the iterations of the key, and returns how many there were before. */
uint64_t key_states_count(struct key_states *states, uint32_t id);

struct key_figures {
    uint64_t n_keys, n_held; /* ever seen; in memory now */
    uint64_t n_spilled;      /* times that a state was written to the file */
    uint64_t memory_bytes;   /* of the states in memory, with the table of all keys */
    uint64_t file_bytes;
};
struct key_figures key_states_figures(const struct key_states *states);

#endif
