/* A digest of 64 bits for much data, the same on every machine and however the bytes are aligned.
 * It tells apart what differs by accident, not what somebody made alike on purpose.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_BULK_DIGEST_H
#define IRRUN_BASE_BULK_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* seed: 0, or the digest of what comes before. */
uint64_t bulk_digest(uint64_t seed, const void *data, size_t size_bytes);

#endif
