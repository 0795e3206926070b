/* The loops of col2im for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_float.h or a similar header instead"
#endif

static void NAME(add_element)(const struct window *w, int64_t ky, int64_t kx, const T *column,
                              T *image)
{
    int64_t first_y, end_y, first_x, end_x, stride = w->stride[2];
    int64_t top = ky * w->dilation[1] - w->pad_begin[1];
    int64_t left = kx * w->dilation[2] - w->pad_begin[2];
    window_positions(w, 1, ky, &first_y, &end_y);
    window_positions(w, 2, kx, &first_x, &end_x);
    for (int64_t y = first_y; y < end_y; y++) {
        const T *from = column + y * w->out[2];
        T *to = image + (y * w->stride[1] + top) * w->in[2];
        for (int64_t x = first_x; x < end_x; x++)
            to[x * stride + left] = (T)(to[x * stride + left] + from[x]);
    }
}

static void NAME(col2im)(const struct window *w, const void *columns, void *image)
{
    const T *column = columns;
    memset(image, 0, (size_t)window_product(w->in) * sizeof(T));
    for (int64_t ky = 0; ky < w->kernel[1]; ky++)
        for (int64_t kx = 0; kx < w->kernel[2]; kx++, column += window_product(w->out))
            NAME(add_element)(w, ky, kx, column, image);
}
