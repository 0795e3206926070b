/* Stores the states of keys. A hash table finds a key, a list orders the keys in memory by their
 * last use, and an unnamed file holds the other states.
 *
 * A block holds the values of one key in order. Each value is a header, the dimensions and the
 * elements, padded to 8 bytes. A block keeps its place in the file until it no longer fits. Then it
 * gets a new place of twice its size.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/key_states.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/temporaries.h"

struct value_header {
    uint8_t is_set, dtype, rank;
    uint8_t unused[5];
};

struct key_state {
    int64_t key;
    unsigned char *block; /* NULL: in the file, or no variable is set */
    size_t size_bytes, capacity_bytes;
    uint64_t file_offset, file_bytes; /* its place in the file; file_bytes 0: none */
    uint64_t n_iterations;
    uint32_t newer, older; /* ids of the neighbors in the list of keys in memory */
    bool is_held;          /* in memory */
};

struct key_states {
    struct key_state *items;
    size_t n, capacity;
    uint32_t *table; /* [n_slots], at most half of them used: id + 1 of a key; 0: free */
    size_t n_slots;  /* a power of two */
    uint32_t newest, oldest;
    uint64_t n_held, max_held, n_spilled;
    int fd; /* -1: no file */
    const char *spill_path;
    uint64_t file_bytes;
    struct irrun_tensor *views; /* [n_values] */
    size_t n_values;
    unsigned char *read; /* the block that key_states_get has read */
    size_t read_capacity;
};

/* ---- Opening and closing --------------------------------------------------------------------- */

static bool open_file(struct key_states *states, struct irrun_error *err)
{
    size_t length = strlen(states->spill_path);
    char *target = new_array(length + 2, 1, err);
    if (!target)
        return false;
    memcpy(target, states->spill_path, length);
    target[length] = '/';
    states->fd = temporary_create_unnamed(target);
    int reason = errno;
    free(target);
    return states->fd >= 0 || fail_errno(err, IRRUN_CANT_CREATE, states->spill_path,
                                         "cannot create a file in this directory", reason);
}

bool key_states_new(size_t n_values, uint64_t max_held, const char *spill_path,
                    struct key_states **states, struct irrun_error *err)
{
    struct key_states *made = *states = new_array(1, sizeof *made, err);
    if (!made)
        return false;
    *made = (struct key_states){.newest = NO_KEY,
                                .oldest = NO_KEY,
                                .max_held = max_held,
                                .fd = -1,
                                .spill_path = spill_path,
                                .n_values = n_values,
                                .n_slots = 64};
    made->views = new_array(n_values, sizeof *made->views, err);
    made->table = new_array(made->n_slots, sizeof *made->table, err);
    return made->views && made->table && (!spill_path || open_file(made, err));
}

void key_states_free(struct key_states *states)
{
    if (!states)
        return;
    for (size_t i = 0; i < states->n; i++)
        free(states->items[i].block);
    if (states->fd >= 0)
        close(states->fd);
    free(states->items);
    free(states->table);
    free(states->views);
    free(states->read);
    free(states);
}

/* ---- The list -------------------------------------------------------------------------------- */

static void unlink_state(struct key_states *states, uint32_t id)
{
    const struct key_state *state = &states->items[id];
    if (state->newer == NO_KEY)
        states->newest = state->older;
    else
        states->items[state->newer].older = state->older;
    if (state->older == NO_KEY)
        states->oldest = state->newer;
    else
        states->items[state->older].newer = state->newer;
}

static void link_newest(struct key_states *states, uint32_t id)
{
    struct key_state *state = &states->items[id];
    state->newer = NO_KEY;
    state->older = states->newest;
    if (states->newest == NO_KEY)
        states->oldest = id;
    else
        states->items[states->newest].newer = id;
    states->newest = id;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* Returns the slot of the key, or the free slot where it would be. */
static size_t find_slot(const struct key_states *states, int64_t key)
{
    uint64_t hash = (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15);
    size_t mask = states->n_slots - 1, slot = (size_t)(hash ^ hash >> 32) & mask;
    while (states->table[slot] != 0 && states->items[states->table[slot] - 1].key != key)
        slot = (slot + 1) & mask;
    return slot;
}

static bool grow_table(struct key_states *states, struct irrun_error *err)
{
    uint32_t *table = new_array(2 * states->n_slots, sizeof *table, err);
    if (!table)
        return false;
    free(states->table);
    states->table = table;
    states->n_slots *= 2;
    for (size_t i = 0; i < states->n; i++)
        table[find_slot(states, states->items[i].key)] = (uint32_t)i + 1;
    return true;
}

static bool add_key(struct key_states *states, int64_t key, struct irrun_error *err)
{
    if (states->n == NO_KEY - 1)
        return fail(err, IRRUN_SYSTEM, "there are more than %zu keys", states->n);
    if (2 * (states->n + 1) > states->n_slots && !grow_table(states, err))
        return false;
    if (!GROW_ARRAY(states->items, states->n, states->capacity, err))
        return false;
    states->table[find_slot(states, key)] = (uint32_t)states->n + 1;
    states->items[states->n++] = (struct key_state){.key = key};
    return true;
}

/* ---- The file -------------------------------------------------------------------------------- */

static bool write_block(struct key_states *states, struct key_state *state, struct irrun_error *err)
{
    if (state->size_bytes > state->file_bytes) {
        bool has_grown = state->file_bytes > 0;
        state->file_bytes = state->size_bytes * (has_grown ? 2 : 1);
        state->file_offset = states->file_bytes;
        states->file_bytes += state->file_bytes;
    }
    if (!file_write_at(states->fd, state->file_offset, state->block, state->size_bytes))
        return fail_errno(err, IRRUN_IO, states->spill_path,
                          "cannot write to the file in this directory", errno);
    states->n_spilled++;
    return true;
}

static bool read_block(const struct key_states *states, const struct key_state *state, void *block,
                       struct irrun_error *err)
{
    size_t n_read;
    bool is_read = file_read_at(states->fd, state->file_offset, block, state->size_bytes, &n_read);
    return (is_read && n_read == state->size_bytes) ||
           fail_errno(err, IRRUN_IO, states->spill_path, "cannot read the file in this directory",
                      is_read ? EIO : errno);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool reserve_block(struct key_state *state, size_t size_bytes, struct irrun_error *err)
{
    if (size_bytes <= state->capacity_bytes)
        return true;
    /* Doubles the capacity if the block grows in small steps, as a KV cache does. */
    size_t capacity = size_bytes <= 2 * state->capacity_bytes ? 2 * size_bytes : size_bytes;
    unsigned char *block = realloc(state->block, capacity);
    if (!block)
        return fail_memory(err, capacity);
    state->block = block;
    state->capacity_bytes = capacity;
    return true;
}

/* Writes the state of the least recently used key to the file, and gives its block to `state`. */
static bool evict(struct key_states *states, struct key_state *state, struct irrun_error *err)
{
    if (states->fd < 0) {
        fail(err, IRRUN_SYSTEM, "there are more than %" PRIu64 " keys (--max-keys)",
             states->max_held);
        return fail_hint(err, "--spill=DIR keeps the variables of other keys in a file, "
                              "--max-keys=N holds more");
    }
    uint32_t id = states->oldest;
    struct key_state *old = &states->items[id];
    if (!write_block(states, old, err))
        return false;
    unlink_state(states, id);
    state->block = old->block;
    state->capacity_bytes = old->capacity_bytes;
    old->block = NULL;
    old->capacity_bytes = 0;
    old->is_held = false;
    states->n_held--;
    return true;
}

static bool load_state(struct key_states *states, uint32_t id, struct irrun_error *err)
{
    struct key_state *state = &states->items[id];
    if (states->n_held == states->max_held && !evict(states, state, err))
        return false;
    if (state->size_bytes > 0 && (!reserve_block(state, state->size_bytes, err) ||
                                  !read_block(states, state, state->block, err)))
        return false;
    state->is_held = true;
    states->n_held++;
    link_newest(states, id);
    return true;
}

bool key_states_find(struct key_states *states, int64_t key, uint32_t *id, bool *is_new,
                     struct irrun_error *err)
{
    uint32_t found = states->table[find_slot(states, key)];
    *is_new = found == 0;
    if (*is_new && !add_key(states, key, err))
        return false;
    *id = *is_new ? (uint32_t)states->n - 1 : found - 1;
    if (!states->items[*id].is_held)
        return load_state(states, *id, err);
    if (*id != states->newest) {
        unlink_state(states, *id);
        link_newest(states, *id);
    }
    return true;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static size_t padded_bytes(size_t size_bytes)
{
    return (size_bytes + 7) & ~(size_t)7;
}

static size_t value_bytes(const struct irrun_tensor *value)
{
    size_t dims_bytes = value ? value->shape.rank * sizeof(int64_t) : 0;
    return sizeof(struct value_header) + dims_bytes +
           (value ? padded_bytes(tensor_n_bytes(value)) : 0);
}

bool key_states_put(struct key_states *states, uint32_t id,
                    const struct irrun_tensor *const *values, struct irrun_error *err)
{
    struct key_state *state = &states->items[id];
    size_t size_bytes = 0;
    for (size_t i = 0; i < states->n_values; i++)
        size_bytes += value_bytes(values[i]);
    if (!reserve_block(state, size_bytes, err))
        return false;
    state->size_bytes = size_bytes;
    unsigned char *to = state->block;
    for (size_t i = 0; i < states->n_values; i++) {
        const struct irrun_tensor *value = values[i];
        struct value_header header = {.is_set = value != NULL};
        if (value) {
            header.dtype = (uint8_t)value->dtype;
            header.rank = (uint8_t)value->shape.rank;
            size_t dims_bytes = header.rank * sizeof(int64_t), n_bytes = tensor_n_bytes(value);
            memcpy(to + sizeof header, value->shape.dims, dims_bytes);
            unsigned char *data = to + sizeof header + dims_bytes;
            if (n_bytes > 0)
                memcpy(data, value->data, n_bytes);
            memset(data + n_bytes, 0,
                   padded_bytes(n_bytes) - n_bytes); /* the block may be written to the file */
        }
        memcpy(to, &header, sizeof header);
        to += value_bytes(value);
    }
    return true;
}

const struct irrun_tensor *key_states_get(struct key_states *states, uint32_t id,
                                          struct irrun_error *err)
{
    struct key_state *state = &states->items[id];
    unsigned char *from = state->block;
    if (!state->is_held && state->size_bytes > 0) {
        if (!reserve_array((void **)&states->read, state->size_bytes, &states->read_capacity, 1,
                           err) ||
            !read_block(states, state, states->read, err))
            return NULL;
        from = states->read;
    }
    for (size_t i = 0; i < states->n_values; i++) {
        struct value_header header;
        struct irrun_tensor *view = &states->views[i];
        view->data = NULL;
        if (state->size_bytes == 0)
            continue;
        memcpy(&header, from, sizeof header);
        if (header.is_set) {
            size_t dims_bytes = header.rank * sizeof(int64_t);
            view->dtype = (enum irrun_dtype)header.dtype;
            view->shape.rank = header.rank;
            memcpy(view->shape.dims, from + sizeof header, dims_bytes);
            view->data = from + sizeof header + dims_bytes;
        }
        from += value_bytes(header.is_set ? view : NULL);
    }
    return states->views;
}

int64_t key_states_key(const struct key_states *states, uint32_t id)
{
    return states->items[id].key;
}

uint64_t key_states_count_iteration(struct key_states *states, uint32_t id)
{
    return states->items[id].n_iterations++;
}

struct key_stats key_states_stats(const struct key_states *states)
{
    struct key_stats stats = {
        .n_keys = states->n, .n_held = states->n_held, .n_spilled = states->n_spilled};
    stats.memory_bytes =
        states->capacity * sizeof *states->items + states->n_slots * sizeof *states->table;
    for (size_t i = 0; i < states->n; i++)
        stats.memory_bytes += states->items[i].capacity_bytes;
    return stats;
}
