/* Convolution and transposed convolution with plain loops: each weight is multiplied by all
 * elements that it applies to, row by row.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/convolution.h"
#include "kernels/type_rows.h"

/* Output position (z, y, x) of a window is in memory at start + z * step[0] + y * step[1] + x *
 * step[2]. */
struct places {
    int64_t start, step[3];
};

static int64_t row_start(const struct places *places, int64_t z, int64_t y)
{
    return places->start + z * places->step[0] + y * places->step[1];
}

/* One kernel element, with one channel of the input and one of the output. */
struct term {
    int64_t first[3], end[3];
    struct places in, out;
};

static void plan_term(const struct convolution *c, bool is_transposed, const int64_t k[3],
                      struct term *term)
{
    const struct window *w = &c->window;
    int64_t in_pixel_stride = c->in_pixel_stride ? c->in_pixel_stride : 1,
            out_pixel_stride = c->out_pixel_stride ? c->out_pixel_stride : 1;
    int64_t in_strides[3] = {w->in[1] * w->in[2] * in_pixel_stride, w->in[2] * in_pixel_stride,
                             in_pixel_stride};
    struct places *in = is_transposed ? &term->out : &term->in;
    struct places *out = is_transposed ? &term->in : &term->out;
    in->start = out->start = 0;
    out->step[0] = w->out[1] * w->out[2] * out_pixel_stride;
    out->step[1] = w->out[2] * out_pixel_stride;
    out->step[2] = out_pixel_stride;
    for (int d = 0; d < 3; d++) {
        window_positions(w, d, k[d], &term->first[d], &term->end[d]);
        in->start += (k[d] * w->dilation[d] - w->pad_begin[d]) * in_strides[d];
        in->step[d] = w->stride[d] * in_strides[d];
    }
}

#define BODY "kernels/convolution_direct_body.h"
#include "kernels/each_float.h"
#include "kernels/each_unsigned.h"

convolution_fn *convolution_direct(enum irrun_dtype dtype)
{
    static convolution_fn *const loops[IRRUN_N_DTYPES] = {FLOAT_ROWS(direct), UNSIGNED_ROWS(direct),
                                                          WRAPPED_ROWS(direct)};
    return loops[dtype];
}
