/* A set of digests, each with a tag. Above 4,096 digests it moves to an unnamed file, which bounds
 * its memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_DIGEST_SET_H
#define IRRUN_BASE_DIGEST_SET_H

#include "base/digest.h"
#include "base/error.h"

struct digest_slot {
    struct digest digest;
    uint64_t tag; /* 0: the slot is empty */
};

/* All zero = empty. */
struct digest_set {
    struct digest_slot *memory; /* NULL: empty, or on disk */
    int fd;                     /* valid if is_on_disk */
    bool is_on_disk;
    uint64_t n, capacity; /* slots: 0 or a power of two */
};

/* Finds the digest's tag; 0 if it is not in the set. IRRUN_IO. */
bool digest_set_find(const struct digest_set *set, struct digest digest, uint64_t *tag,
                     struct irrun_error *err);

/* Adds the digest with a tag above 0, unless it is in the set. *found is its old tag, or 0.
 * IRRUN_IO, IRRUN_CANT_CREATE. */
bool digest_set_add(struct digest_set *set, struct digest digest, uint64_t tag, uint64_t *found,
                    struct irrun_error *err);

/* Replaces the tag of a digest in the set; the new tag is above 0. IRRUN_IO. */
bool digest_set_replace(struct digest_set *set, struct digest digest, uint64_t tag,
                        struct irrun_error *err);

void digest_set_free(struct digest_set *set);

#endif
