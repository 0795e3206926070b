/* A hash table with open addressing and linear probing, at most half full, in memory or in a sparse
 * file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/digest_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/output_file.h"

#define FIRST_SLOTS 256
#define MEMORY_SLOTS 8192
#define PROBED_SLOTS 8  /* read from the file at a time */
#define MOVED_SLOTS 256 /* read at a time while the set grows */

static bool fail_disk(int reason, struct irrun_error *err)
{
    return fail(err, IRRUN_IO, "a temporary file cannot be read or written: %s", strerror(reason));
}

/* Returns at most *n slots from `index` on, in memory or read from the file into `block`, and sets
 * *n to their number. Slots that were never written are zeros. Returns NULL if reading fails. */
static const struct digest_slot *get_slots(const struct digest_set *set, uint64_t index,
                                           struct digest_slot *block, uint64_t *n,
                                           struct irrun_error *err)
{
    if (*n > set->capacity - index)
        *n = set->capacity - index;
    if (!set->is_on_disk)
        return set->memory + index;
    size_t n_bytes = (size_t)*n * sizeof *block, n_read;
    if (!file_read_at(set->fd, index * sizeof *block, block, n_bytes, &n_read))
        fail_disk(errno, err);
    else if (n_read < n_bytes)
        fail_disk(EIO, err);
    else
        return block;
    return NULL;
}

static bool write_slot(struct digest_set *set, uint64_t index, const struct digest_slot *slot,
                       struct irrun_error *err)
{
    if (!set->is_on_disk) {
        set->memory[index] = *slot;
        return true;
    }
    return file_write_at(set->fd, index * sizeof *slot, slot, sizeof *slot) ||
           fail_disk(errno, err);
}

/* Finds the slot of the digest and its tag, or the empty slot for the digest; *tag is then 0. */
static bool find_slot(const struct digest_set *set, struct digest digest, uint64_t *index,
                      uint64_t *tag, struct irrun_error *err)
{
    struct digest_slot block[PROBED_SLOTS];
    for (uint64_t i = digest.a & (set->capacity - 1);;) {
        uint64_t n = PROBED_SLOTS;
        const struct digest_slot *slots = get_slots(set, i, block, &n, err);
        if (!slots)
            return false;
        for (uint64_t k = 0; k < n; k++) {
            *index = i + k;
            *tag = slots[k].tag;
            if (*tag == 0 || (slots[k].digest.a == digest.a && slots[k].digest.b == digest.b))
                return true;
        }
        i = (i + n) & (set->capacity - 1);
    }
}

bool digest_set_find(const struct digest_set *set, struct digest digest, uint64_t *tag,
                     struct irrun_error *err)
{
    uint64_t index;
    *tag = 0;
    return set->n == 0 || find_slot(set, digest, &index, tag, err);
}

static bool open_set(struct digest_set *set, uint64_t capacity, struct irrun_error *err)
{
    *set = (struct digest_set){.capacity = capacity, .is_on_disk = capacity > MEMORY_SLOTS};
    if (!set->is_on_disk) {
        set->memory = calloc(capacity, sizeof *set->memory);
        return set->memory || fail_memory(err, capacity * sizeof *set->memory);
    }
    if (!output_file_open_unnamed("-", &set->fd, err)) {
        set->is_on_disk = false;
        return false;
    }
    return ftruncate(set->fd, (off_t)(capacity * sizeof(struct digest_slot))) == 0 ||
           fail_disk(errno, err);
}

static bool add(struct digest_set *set, const struct digest_slot *added, uint64_t *found,
                struct irrun_error *err)
{
    uint64_t index;
    if (!find_slot(set, added->digest, &index, found, err))
        return false;
    set->n += *found == 0;
    return *found != 0 || write_slot(set, index, added, err);
}

static bool grow(struct digest_set *set, struct irrun_error *err)
{
    struct digest_set grown;
    struct digest_slot block[MOVED_SLOTS];
    bool is_grown = open_set(&grown, set->capacity > 0 ? 2 * set->capacity : FIRST_SLOTS, err);
    for (uint64_t i = 0; i < set->capacity && is_grown; i += MOVED_SLOTS) {
        uint64_t n = MOVED_SLOTS, found;
        const struct digest_slot *slots = get_slots(set, i, block, &n, err);
        is_grown = slots != NULL;
        for (uint64_t k = 0; k < n && is_grown; k++)
            is_grown = slots[k].tag == 0 || add(&grown, &slots[k], &found, err);
    }
    digest_set_free(is_grown ? set : &grown);
    if (is_grown)
        *set = grown;
    return is_grown;
}

bool digest_set_add(struct digest_set *set, struct digest digest, uint64_t tag, uint64_t *found,
                    struct irrun_error *err)
{
    const struct digest_slot added = {digest, tag};
    *found = 0;
    return (2 * (set->n + 1) <= set->capacity || grow(set, err)) && add(set, &added, found, err);
}

bool digest_set_replace(struct digest_set *set, struct digest digest, uint64_t tag,
                        struct irrun_error *err)
{
    const struct digest_slot slot = {digest, tag};
    uint64_t index, found;
    return find_slot(set, digest, &index, &found, err) && write_slot(set, index, &slot, err);
}

void digest_set_free(struct digest_set *set)
{
    if (set->is_on_disk)
        close(set->fd);
    free(set->memory);
    *set = (struct digest_set){.n = 0};
}
