/* Floats of at most 8 bits: the formats of the OCP Microscaling Formats (MX) specification v1.0,
 * and the codes of nf4. One code a byte.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_SMALL_FLOAT_H
#define IRRUN_TENSOR_SMALL_FLOAT_H

#include "tensor/dtype.h"

/* Whether dtype is one of f8e4m3, f8e5m2, f4e2m1, f8e8m0 and nf4. */
bool small_float_is(enum irrun_dtype dtype);

/* Exact for each code; bits above those of the type are not looked at. */
float small_float_to_f32(enum irrun_dtype dtype, uint8_t code);

/* The nearest code, of two equally near ones the even. What is too large becomes an infinity
 * (f8e5m2), NaN (f8e4m3) or the largest value (the others). NaN becomes NaN; as f4e2m1 and nf4
 * have none, the code of zero there. f8e8m0 has no sign and no zero: below it its smallest value,
 * 2^-127, is nearest, and negative numbers become NaN. */
uint8_t small_float_from_f32(enum irrun_dtype dtype, float value);

#endif
