/* Tensors: sizes, and conversion of elements between types. All pointers to elements may have any
 * alignment.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_TENSOR_H
#define IRRUN_TENSOR_TENSOR_H

#include "tensor/dtype.h"
#include "tensor/shape.h"

/* Bytes in memory; false on overflow, and for dynamic and string, which have no size. */
bool tensor_size(enum irrun_dtype dtype, const struct irrun_shape *shape, size_t *size_bytes);

/* The same for a tensor of a plan, which cannot overflow. */
size_t tensor_n_bytes(const struct irrun_tensor *tensor);

/* Converts n elements by the rules of Convert-1:
 * - to floats: rounds to nearest even, once, from any type; overflow as in half.h and
 *   small_float.h;
 * - float to integer: truncates toward zero to i32 (i64 for i64, u64 and u32), NaN and out of range
 *   give the minimum of that type; narrower targets keep its low bytes (bits below 8 bits);
 * - integer to integer: keeps the low bytes, never via floats;
 * - any type to boolean: value != 0, where NaN is not 0; a boolean is 0 or 1;
 * - nf4 and an integer type: the code, not its value.
 * For equal types, copies the bits. source and target must not overlap, unless they are equal and
 * the element sizes too. Neither type may be dynamic or string. */
void convert_elements(enum irrun_dtype from, const void *source, enum irrun_dtype to, void *target,
                      size_t n);

/* Element i as a double (to nearest even beyond 2^53), or as an int64: floats truncated, NaN and
 * out of range INT64_MIN; u64 above INT64_MAX gives INT64_MAX. */
double element_as_f64(enum irrun_dtype dtype, const void *data, size_t i);
int64_t element_as_i64(enum irrun_dtype dtype, const void *data, size_t i);
/* The elements first … first + n as int64, in the same way. */
void elements_as_i64(enum irrun_dtype dtype, const void *data, size_t first, size_t n,
                     int64_t *numbers);

#endif
