/* Buffers in which ops with bodies keep copies of values between iterations.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_BODY_BUFFERS_H
#define IRRUN_OPS_BODY_BUFFERS_H

#include "base/arena.h"
#include "tensor/tensor.h"

struct loop_buffer {
    struct irrun_tensor tensor;
    size_t capacity_bytes;
};

/* Sets the type and shape of the buffer. If its memory is too small, allocates new memory from the
 * arena; the content is then lost. */
bool loop_buffer_reserve(struct loop_buffer *buffer, enum irrun_dtype dtype,
                         const struct irrun_shape *shape, struct arena *arena,
                         struct irrun_error *err);

/* Copies `piece` to position `at` of `whole` along `axis`; if is_to_whole is false, copies that
 * part of `whole` to `piece`. */
void piece_copy(struct irrun_tensor *whole, uint32_t axis, int64_t at, struct irrun_tensor *piece,
                bool is_to_whole);

#endif
