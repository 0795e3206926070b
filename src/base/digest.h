/* Computes 128-bit digests of byte strings. They are not cryptographic.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_DIGEST_H
#define IRRUN_BASE_DIGEST_H

#include "base/fast_hash.h"

struct digest {
    uint64_t a, b;
};

/* The digest of an empty string. */
#define DIGEST_SEED ((struct digest){0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f})

/* Appends `data` to the byte string whose digest is `seed`, and returns the digest of the result.
 * The digest depends on how the calls divide a string into pieces. */
static inline struct digest digest_update(struct digest seed, const void *data, size_t size_bytes)
{
    return (struct digest){fast_hash(seed.a, data, size_bytes),
                           fast_hash(seed.b, data, size_bytes)};
}

#endif
