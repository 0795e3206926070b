/* Gives the names, sizes and kinds of element types.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_DTYPE_H
#define IRRUN_TENSOR_DTYPE_H

#include "irrun.h"

/* Returns the number of bits per element in a .bin file. */
unsigned dtype_stored_bits(enum irrun_dtype dtype);

/* Returns the number of bytes per element in memory: 1 for types below 8 bits, 0 for dynamic and
 * string. */
size_t dtype_size(enum irrun_dtype dtype);

/* Parses the name of a type in either form, "f32" or "FP32", in any letter case. Returns false for
 * any other text. */
bool dtype_parse(const char *text, enum irrun_dtype *dtype);

bool dtype_is_float(enum irrun_dtype dtype);   /* f16 bf16 f32 f64 */
bool dtype_is_integer(enum irrun_dtype dtype); /* i4 … i64, u1 … u64; not boolean */
bool dtype_is_signed(enum irrun_dtype dtype);  /* the signed integers */
bool dtype_is_half(enum irrun_dtype dtype);    /* f16 and bf16; ops compute them in f32 */

/* Sets of types, for the input tables of ops. */
#define TYPE_BIT(dtype) (1u << (dtype))
#define TYPES_HALF (TYPE_BIT(IRRUN_F16) | TYPE_BIT(IRRUN_BF16))
#define TYPES_FLOAT (TYPES_HALF | TYPE_BIT(IRRUN_F32) | TYPE_BIT(IRRUN_F64))
#define TYPES_SIGNED                                                                               \
    (TYPE_BIT(IRRUN_I8) | TYPE_BIT(IRRUN_I16) | TYPE_BIT(IRRUN_I32) | TYPE_BIT(IRRUN_I64))
#define TYPES_UNSIGNED                                                                             \
    (TYPE_BIT(IRRUN_U8) | TYPE_BIT(IRRUN_U16) | TYPE_BIT(IRRUN_U32) | TYPE_BIT(IRRUN_U64))
#define TYPES_INTEGER (TYPES_SIGNED | TYPES_UNSIGNED)
#define TYPES_NUMBER (TYPES_FLOAT | TYPES_INTEGER)
#define TYPES_BOOLEAN TYPE_BIT(IRRUN_BOOLEAN)
#define TYPES_SUB_BYTE                                                                             \
    (TYPE_BIT(IRRUN_I4) | TYPE_BIT(IRRUN_U1) | TYPE_BIT(IRRUN_U2) | TYPE_BIT(IRRUN_U3) |           \
     TYPE_BIT(IRRUN_U4) | TYPE_BIT(IRRUN_U6))
#define TYPES_SMALL_FLOAT                                                                          \
    (TYPE_BIT(IRRUN_F8E4M3) | TYPE_BIT(IRRUN_F8E5M2) | TYPE_BIT(IRRUN_F4E2M1) |                    \
     TYPE_BIT(IRRUN_F8E8M0) | TYPE_BIT(IRRUN_NF4))
/* All types with a size in memory: for ops that only move elements. */
#define TYPES_ANY (TYPES_NUMBER | TYPES_BOOLEAN | TYPES_SUB_BYTE | TYPES_SMALL_FLOAT)

#endif
