/* Plain loops that put columns back into an image: every kernel element adds what it saw.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/columns.h"

#include <string.h>

#define LOOPS(T, suffix)                                                                           \
    static void add_element_##suffix(const struct window *w, int64_t ky, int64_t kx,               \
                                     const T *column, T *image)                                    \
    {                                                                                              \
        int64_t first_y, end_y, first_x, end_x, stride = w->stride[2];                             \
        int64_t top = ky * w->dilation[1] - w->pad_begin[1];                                       \
        int64_t left = kx * w->dilation[2] - w->pad_begin[2];                                      \
        window_positions(w, 1, ky, &first_y, &end_y);                                              \
        window_positions(w, 2, kx, &first_x, &end_x);                                              \
        for (int64_t y = first_y; y < end_y; y++) {                                                \
            const T *from = column + y * w->out[2];                                                \
            T *to = image + (y * w->stride[1] + top) * w->in[2];                                   \
            for (int64_t x = first_x; x < end_x; x++)                                              \
                to[x * stride + left] = (T)(to[x * stride + left] + from[x]);                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void add_##suffix(const struct window *w, const void *columns, void *image)             \
    {                                                                                              \
        const T *column = columns;                                                                 \
        memset(image, 0, (size_t)window_product(w->in) * sizeof(T));                               \
        for (int64_t ky = 0; ky < w->kernel[1]; ky++)                                              \
            for (int64_t kx = 0; kx < w->kernel[2]; kx++, column += window_product(w->out))        \
                add_element_##suffix(w, ky, kx, column, image);                                    \
    }

LOOPS(float, f32)
LOOPS(double, f64)
LOOPS(uint8_t, u8)
LOOPS(uint16_t, u16)
LOOPS(uint32_t, u32)
LOOPS(uint64_t, u64)

columns_fn *columns_scalar(enum irrun_dtype dtype)
{
    static columns_fn *const loops[IRRUN_N_DTYPES] = {
        [IRRUN_F32] = add_f32, [IRRUN_F64] = add_f64, [IRRUN_I8] = add_u8, [IRRUN_I16] = add_u16,
        [IRRUN_I32] = add_u32, [IRRUN_I64] = add_u64, [IRRUN_U8] = add_u8, [IRRUN_U16] = add_u16,
        [IRRUN_U32] = add_u32, [IRRUN_U64] = add_u64,
    };
    return loops[dtype];
}
