/* Types below 8 bits (u1 … u6, nf4, f4e2m1). A .bin file packs several elements into a byte; in
 * memory each element takes one byte.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_SUB_BYTE_H
#define IRRUN_TENSOR_SUB_BYTE_H

#include "tensor/dtype.h"

/* Computes the bytes that n elements take in a file: ceil(n * bits / 8), but whole groups for u3 (8
 * elements in 3 bytes) and u6 (4 in 3). Returns false on overflow. */
bool sub_byte_size(enum irrun_dtype dtype, size_t n, size_t *size_bytes);

/* Unpacks n elements. i4 is sign-extended; for the others, the code is stored (also for nf4 and
 * f4e2m1). The order in a byte:
 * - i4, u4, nf4, f4e2m1, u2: from the low bits to the high ones; u1: from the high bits;
 * - u3: bytes 0 and 1 hold the low 2 bits of elements 0-3 and 4-7, byte 2 the high bit of all 8;
 * - u6: bytes 0 and 1 hold the low 4 bits of elements 0-1 and 2-3, byte 2 the high 2 bits of all 4;
 *   in u3 and u6, the first element is in the highest bits. */
void sub_byte_unpack(enum irrun_dtype dtype, const unsigned char *stored, size_t n,
                     unsigned char *out);

/* Returns the value of an nf4 code 0 ... 15 (QLoRA, Dettmers et al. 2023, appendix E). */
float nf4_to_f32(uint8_t code);

#endif
