/* The loops of convolution_direct.c for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_float.h or a similar header instead"
#endif

/* Adds the products of one weight with the input to the output. */
static void NAME(add_term)(const struct term *t, const T *in, T weight, T *out)
{
    int64_t in_step = t->in.step[2], out_step = t->out.step[2];
    for (int64_t z = t->first[0]; z < t->end[0]; z++) {
        for (int64_t y = t->first[1]; y < t->end[1]; y++) {
            const T *restrict from = in + row_start(&t->in, z, y);
            T *restrict to = out + row_start(&t->out, z, y);
            if (in_step == 1 && out_step == 1) /* vectorized by the compiler */
                for (int64_t x = t->first[2]; x < t->end[2]; x++)
                    to[x] = (T)(to[x] + (WRAP_T)weight * (WRAP_T)from[x]);
            else
                for (int64_t x = t->first[2]; x < t->end[2]; x++)
                    to[x * out_step] =
                        (T)(to[x * out_step] + (WRAP_T)weight * (WRAP_T)from[x * in_step]);
        }
    }
}

/* Adds the terms of one input channel to one output channel. */
static void NAME(add_terms)(const struct convolution *c, bool is_transposed, const T *in,
                            const T *weight, T *out)
{
    const struct window *w = &c->window;
    struct term term = begin_terms(c, is_transposed);
    for (int64_t z = 0; z < w->kernel[0]; z++) {
        move_term(c, is_transposed, 0, z, &term);
        for (int64_t y = 0; y < w->kernel[1]; y++) {
            move_term(c, is_transposed, 1, y, &term);
            for (int64_t x = 0; x < w->kernel[2]; x++) {
                move_term(c, is_transposed, 2, x, &term);
                NAME(add_term)(&term, in, *weight++, out);
            }
        }
    }
}

/* Implements convolution_direct. */
static void NAME(direct)(const struct convolution *c, bool is_transposed, const void *in,
                         const void *weights, void *out)
{
    const struct window *w = &c->window;
    int64_t n_in = window_product(is_transposed ? w->out : w->in);
    int64_t n_out = window_product(is_transposed ? w->in : w->out);
    int64_t n_kernel = window_product(w->kernel);
    int64_t in_step = c->in_pixel_stride ? 1 : n_in, out_step = c->out_pixel_stride ? 1 : n_out;
    for (int64_t o = 0; o < c->c_out; o++) {
        for (int64_t p = 0; p < n_out && c->out_pixel_stride > 0; p++)
            ((T *)out)[o + p * c->out_pixel_stride] = 0;
        if (c->out_pixel_stride == 0)
            memset((T *)out + o * n_out, 0, (size_t)n_out * sizeof(T));
        for (int64_t i = 0; i < c->c_in; i++) {
            int64_t kernel = is_transposed ? i * c->c_out + o : o * c->c_in + i;
            NAME(add_terms)
            (c, is_transposed, (const T *)in + i * in_step, (const T *)weights + kernel * n_kernel,
             (T *)out + o * out_step);
        }
    }
}
