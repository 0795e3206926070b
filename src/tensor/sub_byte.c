/* Unpacks types below 8 bits, and decodes nf4.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor/sub_byte.h"

#include <assert.h>

#include "base/checked.h"

bool sub_byte_size(enum irrun_dtype dtype, size_t n, size_t *size_bytes)
{
    size_t bits = dtype_stored_bits(dtype);
    if (bits == 0)
        return false;
    /* the smallest number of bytes that whole elements fill */
    size_t group_bytes = bits == 3 || bits == 6 ? 3 : divide_up(bits, 8);
    return checked_mul(divide_up(n, 8 * group_bytes / bits), group_bytes, size_bytes);
}

static void unpack_nibbles(const unsigned char *stored, size_t n, unsigned char *out)
{
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        unsigned char byte = stored[i / 2];
        out[i] = byte & 15;
        out[i + 1] = byte >> 4;
    }
    if (i < n)
        out[i] = stored[i / 2] & 15;
}

static void extend_sign(unsigned char *nibbles, size_t n)
{
    for (size_t i = 0; i < n; i++)
        nibbles[i] = (unsigned char)((nibbles[i] ^ 8) - 8);
}

void sub_byte_unpack(enum irrun_dtype dtype, const unsigned char *stored, size_t n,
                     unsigned char *out)
{
    switch (dtype) {
    case IRRUN_I4:
        unpack_nibbles(stored, n, out);
        extend_sign(out, n);
        break;
    case IRRUN_U4:
    case IRRUN_NF4:
    case IRRUN_F4E2M1:
        unpack_nibbles(stored, n, out);
        break;
    case IRRUN_U2:
        for (size_t i = 0; i < n; i++)
            out[i] = stored[i / 4] >> (i % 4 * 2) & 3;
        break;
    case IRRUN_U1:
        for (size_t i = 0; i < n; i++)
            out[i] = stored[i / 8] >> (7 - i % 8) & 1;
        break;
    case IRRUN_U3:
        for (size_t i = 0; i < n; i++) {
            const unsigned char *bytes = stored + i / 8 * 3;
            unsigned low = (unsigned)bytes[i % 8 / 4] >> (6 - i % 4 * 2) & 3;
            unsigned high = (unsigned)bytes[2] >> (7 - i % 8) & 1;
            out[i] = (unsigned char)(high << 2 | low);
        }
        break;
    case IRRUN_U6:
        for (size_t i = 0; i < n; i++) {
            const unsigned char *bytes = stored + i / 4 * 3;
            unsigned low = (unsigned)bytes[i % 4 / 2] >> (4 - i % 2 * 4) & 15;
            unsigned high = (unsigned)bytes[2] >> (6 - i % 4 * 2) & 3;
            out[i] = (unsigned char)(high << 4 | low);
        }
        break;
    default:
        assert(dtype_stored_bits(dtype) < 8);
    }
}

float nf4_to_f32(uint8_t code)
{
    static const float values[16] = {-1.0f,        -0.69619280f, -0.52507305f, -0.39491749f,
                                     -0.28444138f, -0.18477343f, -0.09105004f, 0.0f,
                                     0.07958030f,  0.16093020f,  0.24611230f,  0.33791524f,
                                     0.44070983f,  0.56261700f,  0.72295684f,  1.0f};
    return values[code & 15];
}
