/* Tensors: sizes, and conversion of elements between types.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_TENSOR_H
#define IRRUN_TENSOR_TENSOR_H

#include "tensor/dtype.h"
#include "tensor/shape.h"

/* Bytes in memory; false on overflow. */
bool tensor_size(enum irrun_dtype dtype, const struct irrun_shape *shape, size_t *size_bytes);

/* The same for a tensor the plan has accepted. */
size_t tensor_n_bytes(const struct irrun_tensor *tensor);

/* Converts n elements by the rules of Convert-1 (ir_facts B.5): floats to nearest even; float to
 * integer truncates toward zero to i32 (i64 for i64, u64 and u32), NaN and out of range give the
 * minimum of that type, narrower targets keep its low bytes; anything to boolean is value != 0.
 * from and to must not overlap unless the sizes are equal. Every pair of types below string. */
void convert_elements(enum irrun_dtype from, const void *source, enum irrun_dtype to, void *target,
                      size_t n);

/* Element i as a double or an int64 (exact where the type allows it). */
double element_as_f64(enum irrun_dtype dtype, const void *data, size_t i);
int64_t element_as_i64(enum irrun_dtype dtype, const void *data, size_t i);

#endif
