/* Turns blocks of a matrix on their way into panels.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_PANEL_TRANSPOSE_H
#define IRRUN_KERNELS_PANEL_TRANSPOSE_H

#include <stddef.h>

/* 16 x 16 elements: element i of row j at `from` becomes element j of row i at `to`. Steps count
 * bytes from row to row; nothing needs any alignment. */
typedef void panel_transpose_fn(const void *from, size_t from_step, void *to, size_t to_step);

panel_transpose_fn panel_transpose_f32_sse41, panel_transpose_f16_sse41; /* of 4 and 2 bytes */

#endif
