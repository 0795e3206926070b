/* Computes the sizes of tensors, and converts elements between types. Pointers to elements may have
 * any alignment.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_TENSOR_H
#define IRRUN_TENSOR_TENSOR_H

#include "base/arena.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

/* Computes the size in memory. Returns false on overflow, and for dynamic and string, which have no
 * size. */
bool tensor_size(enum irrun_dtype dtype, const struct irrun_shape *shape, size_t *size_bytes);

/* Returns the size of a tensor whose size is known not to overflow, such as a tensor in a plan. */
size_t tensor_n_bytes(const struct irrun_tensor *tensor);

/* Returns the address of element i. The type must have whole bytes. */
static inline void *tensor_at(const struct irrun_tensor *tensor, size_t i)
{
    return (char *)tensor->data + i * dtype_size(tensor->dtype);
}

/* Copies the elements of `from` to `to`, which has room for them, unless they are in the same
 * memory. */
void tensor_copy(const struct irrun_tensor *to, const struct irrun_tensor *from);

/* Converts n elements by the rules of Convert-1:
 * - to floats: rounds to nearest even, once, from any type; overflow as in half.h and
 *   small_float.h;
 * - float to integer: truncates toward zero to i32 (i64 for i64, u64 and u32), NaN and values out
 *   of range give the minimum of that type; narrower targets keep the low bytes of the result
 *   (types below 8 bits: its low bits);
 * - integer to integer: keeps the low bytes, never via floats;
 * - any type to boolean: value != 0, where NaN is not 0; a boolean is 0 or 1;
 * - nf4 from or to an integer type: converts the code, not its value.
 * For equal types, copies the bits. source and target must not overlap, unless they are the same
 * address and the element sizes are equal. Neither type may be dynamic or string. */
void convert_elements(enum irrun_dtype from, const void *source, enum irrun_dtype to, void *target,
                      size_t n);

/* Returns a copy of the elements as f32, in the arena. */
float *elements_as_f32(const struct irrun_tensor *tensor, struct arena *arena,
                       struct irrun_error *err);

/* Return element i as a double (integers beyond 2^53 are rounded to nearest even) or as an int64
 * (floats are truncated, NaN and floats out of range give INT64_MIN, and u64 above INT64_MAX gives
 * INT64_MAX). */
double element_as_f64(enum irrun_dtype dtype, const void *data, size_t i);
int64_t element_as_i64(enum irrun_dtype dtype, const void *data, size_t i);
/* Converts the n elements from `first` on to int64 in the same way. */
void elements_as_i64(enum irrun_dtype dtype, const void *data, size_t first, size_t n,
                     int64_t *numbers);

#endif
