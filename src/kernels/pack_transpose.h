/* Transposes blocks of a matrix that packed_matrix.c packs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_PACK_TRANSPOSE_H
#define IRRUN_KERNELS_PACK_TRANSPOSE_H

#include <stddef.h>

/* Transpose 16 x 16 elements: element i of row j at `from` becomes element j of row i at `to`.
 * Strides are in bytes; no alignment is required. */
void pack_transpose_f32(const void *from, size_t from_stride, void *to, size_t to_stride);
void pack_transpose_f16(const void *from, size_t from_stride, void *to, size_t to_stride);

#endif
