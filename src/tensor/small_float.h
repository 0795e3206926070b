/* Floats of at most 8 bits: the formats of the OCP Microscaling Formats (MX) specification v1.0,
 * and the codes of nf4. One code per byte.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_SMALL_FLOAT_H
#define IRRUN_TENSOR_SMALL_FLOAT_H

#include "tensor/dtype.h"

/* Returns whether dtype is f8e4m3, f8e5m2, f4e2m1, f8e8m0 or nf4. */
bool small_float_is(enum irrun_dtype dtype);

/* Converts a code, exactly. Ignores bits above those of the type. */
float small_float_to_f32(enum irrun_dtype dtype, uint8_t code);

/* Returns the nearest code; ties go to even. Overflow gives infinity (f8e5m2), NaN (f8e4m3) or the
 * largest value (others). NaN becomes NaN, or zero in f4e2m1 and nf4, which have no NaN. f8e8m0 has
 * no sign and no zero: values below its smallest one, 2^-127, become 2^-127, and negative numbers
 * become NaN. */
uint8_t small_float_from_f32(enum irrun_dtype dtype, float value);

#endif
