/* Max and average pooling with plain loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/pool.h"

#include "kernels/type_rows.h"

/* The window of an output position. In each dimension, kernel elements [first, end) are inside the
 * input, and kernel element 0 is at input position `at`. */
struct clipped_window {
    int64_t first[3], end[3], at[3];
};

static struct clipped_window clip_window(const struct window *w, int64_t index)
{
    struct clipped_window clipped;
    int64_t o[3];
    window_unravel(w->out, index, o);
    for (int d = 0; d < 3; d++) {
        window_inside(w, d, o[d], &clipped.first[d], &clipped.end[d]);
        clipped.at[d] = o[d] * w->stride[d] - w->pad_begin[d];
    }
    return clipped;
}

/* Returns the index in the input of kernel element [z][y][0]. */
static int64_t row_start(const struct window *w, const struct clipped_window *c, int64_t z,
                         int64_t y)
{
    int64_t slice = c->at[0] + z * w->dilation[0], row = c->at[1] + y * w->dilation[1];
    return (slice * w->in[1] + row) * w->in[2] + c->at[2];
}

#define BODY "kernels/max_pool_body.h"
#include "kernels/each_float.h"
#include "kernels/each_signed.h"
#include "kernels/each_unsigned.h"
#undef BODY

max_pool_fn *max_pool_scalar(enum irrun_dtype dtype)
{
    static max_pool_fn *const loops[IRRUN_N_DTYPES] = {FLOAT_ROWS(max_pool), SIGNED_ROWS(max_pool),
                                                       UNSIGNED_ROWS(max_pool)};
    return loops[dtype];
}

/* Returns the divisor of a mean: the size of the kernel if pads exist and count, otherwise the
 * number of elements inside the input. OpenVINO does the same, even if a window extends past the
 * pads because the output size is rounded up. */
static int64_t count_terms(const struct window *w, const struct clipped_window *c, bool exclude_pad)
{
    int64_t n = 1, n_pads = 0;
    for (int d = 0; d < 3; d++) {
        n *= c->end[d] - c->first[d];
        n_pads += w->pad_begin[d] != 0 || w->pad_end[d] != 0;
    }
    return exclude_pad || n_pads == 0 ? n : window_product(w->kernel);
}

#define BODY "kernels/avg_pool_body.h"
#include "kernels/each_float.h"

avg_pool_fn *avg_pool_scalar(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 ? avg_pool_f32 : dtype == IRRUN_F64 ? avg_pool_f64 : NULL;
}
