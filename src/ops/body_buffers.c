/* Copies values that ops with bodies keep between iterations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/body_buffers.h"

#include <string.h>

bool loop_buffer_reserve(struct loop_buffer *buffer, enum irrun_dtype dtype,
                         const struct irrun_shape *shape, struct arena *arena,
                         struct irrun_error *err)
{
    size_t size_bytes;
    if (!tensor_size(dtype, shape, &size_bytes))
        return fail_memory(err, SIZE_MAX);
    if (!buffer->tensor.data || size_bytes > buffer->capacity_bytes) {
        size_t wanted =
            size_bytes > 2 * buffer->capacity_bytes ? size_bytes : 2 * buffer->capacity_bytes;
        buffer->tensor.data = arena_alloc(arena, wanted, err);
        if (!buffer->tensor.data)
            return false;
        buffer->capacity_bytes = wanted;
    }
    buffer->tensor.dtype = dtype;
    buffer->tensor.shape = *shape;
    return true;
}

void piece_copy(struct irrun_tensor *whole, uint32_t axis, int64_t at, struct irrun_tensor *piece,
                bool is_to_whole)
{
    size_t item = dtype_size(whole->dtype);
    size_t n_outer = (size_t)shape_product(&whole->shape, 0, axis);
    size_t n_inner = (size_t)shape_product(&whole->shape, axis + 1, whole->shape.rank) * item;
    size_t whole_row = (size_t)whole->shape.dims[axis] * n_inner;
    size_t piece_row = (size_t)piece->shape.dims[axis] * n_inner;
    unsigned char *in_whole = whole->data, *in_piece = piece->data;
    if (piece_row == 0)
        return;
    for (size_t i = 0; i < n_outer; i++) {
        unsigned char *a = in_whole + i * whole_row + (size_t)at * n_inner;
        unsigned char *b = in_piece + i * piece_row;
        memcpy(is_to_whole ? a : b, is_to_whole ? b : a, piece_row);
    }
}
