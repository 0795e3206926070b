/* Types below 8 bits (u1 … u6, nf4, f4e2m1). A .bin file has several elements per byte; in memory
 * each element is one byte.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_SUB_BYTE_H
#define IRRUN_TENSOR_SUB_BYTE_H

#include "tensor/dtype.h"

/* Computes the bytes that n elements take in a file: ceil(n * bits / 8), but whole groups for u3 (8
 * elements in 3 bytes) and u6 (4 in 3). Returns false on overflow. */
bool sub_byte_size(enum irrun_dtype dtype, size_t n, size_t *size_bytes);

/* Unpacks n elements. i4 is sign-extended; the others are the code itself (nf4 and f4e2m1 too).
 * Order: i4 u4 nf4 f4e2m1 u2 low bits first; u1 high bit first; u3: bytes 0 and 1 have the low 2
 * bits of elements 0-3 and 4-7 (first element highest), byte 2 their high bits; u6: bytes 0 and 1
 * have the low nibbles of 0-1 and 2-3, byte 2 the high 2 bits. */
void sub_byte_unpack(enum irrun_dtype dtype, const unsigned char *stored, size_t n,
                     unsigned char *out);

/* Returns the value of an nf4 code 0 ... 15 (QLoRA, Dettmers et al. 2023, appendix E). */
float nf4_to_f32(uint8_t code);

#endif
