/* Two streams of 64 bits, byte by byte, which are mixed at the end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

/* The finalizer of MurmurHash3. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
}

struct digest digest_add(struct digest seed, const void *data, size_t size_bytes)
{
    const unsigned char *bytes = data;
    struct digest digest = seed;
    for (size_t i = 0; i < size_bytes; i++) {
        digest.a = (digest.a ^ bytes[i]) * 0x100000001b3; /* FNV-1a */
        digest.b = (digest.b + bytes[i] + 1) * 0xd6e8feb86659fd93;
        digest.b ^= digest.b >> 32;
    }
    return (struct digest){mix(digest.a + size_bytes), mix(digest.b ^ digest.a)};
}
