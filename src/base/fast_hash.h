/* A fast 64-bit hash of large data, the same on every machine and for any alignment. It is not
 * cryptographic: it detects accidental changes, but collisions can be made deliberately.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_FAST_HASH_H
#define IRRUN_BASE_FAST_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the hash of data. To hash data in pieces, pass the hash of the preceding piece as the
 * seed of the next, and 0 as the first seed. The result depends on how the data is divided into
 * pieces. */
uint64_t fast_hash(uint64_t seed, const void *data, size_t size_bytes);

#endif
