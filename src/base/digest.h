/* A digest of 128 bits for telling byte strings apart. Not for keeping secrets.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_DIGEST_H
#define IRRUN_BASE_DIGEST_H

#include "base/bulk_digest.h"

struct digest {
    uint64_t a, b;
};

/* Of the bytes after what `seed` is the digest of; of nothing it is DIGEST_SEED. */
#define DIGEST_SEED ((struct digest){0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f})
static inline struct digest digest_add(struct digest seed, const void *data, size_t size_bytes)
{
    return (struct digest){bulk_digest(seed.a, data, size_bytes),
                           bulk_digest(seed.b, data, size_bytes)};
}

#endif
