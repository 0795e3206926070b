/* A hash table that maps digests to tags (numbers above 0). A table of more than 4,096 digests
 * moves to an unnamed temporary file, so that its memory is bounded.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_DIGEST_SET_H
#define IRRUN_BASE_DIGEST_SET_H

#include "base/digest.h"
#include "base/error.h"

struct digest_slot {
    struct digest digest;
    uint64_t tag; /* 0: the slot is empty */
};

/* Initialize with zeros. */
struct digest_set {
    struct digest_slot *memory; /* NULL: empty, or on disk */
    int fd;                     /* valid if is_on_disk */
    bool is_on_disk;
    uint64_t n, capacity; /* used slots, all slots; capacity is 0 or a power of two */
};

/* Sets *tag to the tag of the digest, or to 0 if it is not in the set. Errors: IRRUN_IO. */
bool digest_set_find(const struct digest_set *set, struct digest digest, uint64_t *tag,
                     struct irrun_error *err);

/* Adds the digest with a tag above 0. If it is in the set already, sets *found to its tag and
 * changes nothing; otherwise sets *found to 0. Errors: IRRUN_IO, IRRUN_CANT_CREATE (no temporary
 * file), IRRUN_SYSTEM (out of memory). */
bool digest_set_add(struct digest_set *set, struct digest digest, uint64_t tag, uint64_t *found,
                    struct irrun_error *err);

/* Replaces the tag of a digest that is in the set. The new tag is above 0. Errors: IRRUN_IO. */
bool digest_set_replace(struct digest_set *set, struct digest digest, uint64_t tag,
                        struct irrun_error *err);

void digest_set_free(struct digest_set *set);

#endif
