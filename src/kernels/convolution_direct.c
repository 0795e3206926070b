/* Convolution and transposed convolution with plain loops: each weight is multiplied by all
 * elements that it applies to, row by row.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/convolution.h"
#include "kernels/type_rows.h"

/* Addresses of elements: window position p is at index sum over d of (start[d] + p[d] *
 * step[d]). */
struct layout {
    int64_t start[3], step[3];
};

static int64_t row_start(const struct layout *layout, int64_t z, int64_t y)
{
    return layout->start[0] + z * layout->step[0] + layout->start[1] + y * layout->step[1] +
           layout->start[2];
}

/* The window positions [first, end) that use one kernel element, and their layout in a channel of
 * the input and a channel of the output. */
struct term {
    int64_t first[3], end[3];
    struct layout in, out;
    int64_t in_strides[3];
};

static struct term begin_terms(const struct convolution *c, bool is_transposed)
{
    const struct window *w = &c->window;
    struct term term = {.in_strides = {[2] = c->in_pixel_stride ? c->in_pixel_stride : 1}};
    struct layout *in = is_transposed ? &term.out : &term.in;
    struct layout *out = is_transposed ? &term.in : &term.out;
    out->step[2] = c->out_pixel_stride ? c->out_pixel_stride : 1;
    for (int d = 2; d >= 0; d--) {
        in->step[d] = w->stride[d] * term.in_strides[d];
        if (d > 0) {
            term.in_strides[d - 1] = w->in[d] * term.in_strides[d];
            out->step[d - 1] = w->out[d] * out->step[d];
        }
    }
    return term;
}

/* Moves the term to kernel element k of dimension d. */
static inline void move_term(const struct convolution *c, bool is_transposed, int d, int64_t k,
                             struct term *term)
{
    const struct window *w = &c->window;
    struct layout *in = is_transposed ? &term->out : &term->in;
    window_positions(w, d, k, &term->first[d], &term->end[d]);
    in->start[d] = (k * w->dilation[d] - w->pad_begin[d]) * term->in_strides[d];
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
