/* Transposed convolution by a GEMM and col2im, a few input positions at a time, so that the size of
 * the buffer does not depend on the input.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/convolution.h"

#define COLUMNS_FLOATS 65536 /* 256 KB: half of an L2 cache */
#define MIN_POSITIONS 16
#define MIN_CHANNELS 4 /* with fewer, adding columns costs more than the product saves */

int64_t convolution_transposed_n_positions(const struct convolution *c)
{
    int64_t n_rows = c->c_out * window_product(c->window.kernel);
    int64_t n_in = window_product(c->window.out);
    if (c->c_in < MIN_CHANNELS || n_rows == 0 || n_rows > INT64_C(1) << 30)
        return -1;
    int64_t n = COLUMNS_FLOATS / n_rows;
    n = n < MIN_POSITIONS ? MIN_POSITIONS : n / 8 * 8;
    return n < n_in ? n : n_in;
}

/* n consecutive input positions of one row. */
struct piece {
    int64_t z, y, x, n;
};

static struct piece find_piece(const struct window *w, int64_t first, int64_t n)
{
    int64_t at[3];
    window_unravel(w->out, first, at);
    return (struct piece){at[0], at[1], at[2], w->out[2] - at[2] < n ? w->out[2] - at[2] : n};
}

/* Adds the products of kernel element k, `column`, at the positions of a piece to the output. */
static void add_piece(const struct window *w, const struct piece *piece, const int64_t k[3],
                      const float *column, float *out)
{
    int64_t z = piece->z * w->stride[0] - w->pad_begin[0] + k[0] * w->dilation[0];
    int64_t y = piece->y * w->stride[1] - w->pad_begin[1] + k[1] * w->dilation[1];
    if (z < 0 || z >= w->in[0] || y < 0 || y >= w->in[1])
        return;
    int64_t first, end, stride = w->stride[2];
    window_positions(w, 2, k[2], &first, &end);
    first = first > piece->x ? first : piece->x;
    end = end < piece->x + piece->n ? end : piece->x + piece->n;
    float *row = out + (z * w->in[1] + y) * w->in[2];
    int64_t at = k[2] * w->dilation[2] - w->pad_begin[2];
    for (int64_t x = first; x < end; x++)
        row[x * stride + at] += column[x - piece->x];
}

static void add_columns(const struct convolution *c, int64_t first, int64_t n, const float *columns,
                        float *out)
{
    const struct window *w = &c->window;
    int64_t n_out = window_product(w->in), n_kernel = window_product(w->kernel), k[3];
    for (int64_t row = 0; row < c->c_out * n_kernel; row++, columns += n) {
        window_unravel(w->kernel, row % n_kernel, k);
        for (int64_t done = 0; done < n;) {
            struct piece piece = find_piece(w, first + done, n - done);
            add_piece(w, &piece, k, columns + done, out + row / n_kernel * n_out);
            done += piece.n;
        }
    }
}

void convolution_transposed_by_gemm(const struct convolution *c, gemm_f32_fn *gemm,
                                    int64_t n_positions, const float *in, const float *weights,
                                    float *out, float *columns)
{
    size_t n_rows = (size_t)(c->c_out * window_product(c->window.kernel));
    size_t n_in = (size_t)window_product(c->window.out);
    memset(out, 0, (size_t)(c->c_out * window_product(c->window.in)) * sizeof *out);
    for (size_t first = 0; first < n_in; first += (size_t)n_positions) {
        size_t n = n_in - first < (size_t)n_positions ? n_in - first : (size_t)n_positions;
        gemm(&(struct gemm_f32){
            .m = n_rows,
            .n = n,
            .k = (size_t)c->c_in,
            .a = weights,
            .lda = n_rows,
            .a_transposed = true,
            .b = in + first,
            .ldb = n_in,
            .c = columns,
            .ldc = n,
        });
        add_columns(c, (int64_t)first, (int64_t)n, columns, out);
    }
}
