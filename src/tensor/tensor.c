/* Computes the sizes of tensors. convert_elements.c converts elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor/tensor.h"

#include <string.h>

#include "base/checked.h"

bool tensor_size(enum irrun_dtype dtype, const struct irrun_shape *shape, size_t *size_bytes)
{
    int64_t n_elements;
    return dtype_size(dtype) != 0 && shape_count(shape, &n_elements) &&
           (uint64_t)n_elements <= SIZE_MAX &&
           checked_mul((size_t)n_elements, dtype_size(dtype), size_bytes) &&
           *size_bytes <= PTRDIFF_MAX;
}

size_t tensor_n_bytes(const struct irrun_tensor *tensor)
{
    return (size_t)shape_n_elements(&tensor->shape) * dtype_size(tensor->dtype);
}

void tensor_copy(const struct irrun_tensor *to, const struct irrun_tensor *from)
{
    size_t n_bytes = tensor_n_bytes(from);
    if (n_bytes > 0 && to->data != from->data)
        memcpy(to->data, from->data, n_bytes);
}
