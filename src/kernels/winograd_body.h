/* The transforms of Winograd's minimal filtering F(2, 3), in one or two dimensions, for vectors of
 * any length. Two outputs need four multiplications instead of six, and each output depends only on
 * its own three inputs: Y = A^T [(G g) * (B^T d)], where * multiplies element by element, with
 *
 *     B^T d = d0 - d2, d1 + d2, d2 - d1, d1 - d3
 *     G g = g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2
 *     A^T m = m0 + m1 + m2, m1 - m2 - m3
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/igemm_f32.h"

#ifndef VECTOR_LANES
#error "include kernels/level.h first"
#endif

ALWAYS_INLINE void transform_4(const vec d[4], vec v[4])
{
    v[0] = vec_sub(d[0], d[2]);
    v[1] = vec_add(d[1], d[2]);
    v[2] = vec_sub(d[2], d[1]);
    v[3] = vec_sub(d[1], d[3]);
}

/* Loads the four elements d[0 ... 3] of a row of VECTOR_LANES neighbouring tiles, which begin two
 * elements apart. */
ALWAYS_INLINE void load_row(const float *row, vec d[4])
{
    UNROLL
    for (size_t x = 0; x < 4; x += 2) {
        vec a = vec_load(row + x), b = vec_load(row + x + VECTOR_LANES);
        d[x] = vec_even(a, b);
        d[x + 1] = vec_odd(a, b);
    }
}

/* Transforms tiles of n_y x n_x elements, where n_y and n_x are 4 or 1: a vector of tiles or, if
 * lanes_are_channels, a vector of channels of one tile. Stores the first n lanes. n_y, n_x and
 * lanes_are_channels are constants in all calls. */
ALWAYS_INLINE void transform_input(const struct winograd_input *input, const float *from, float *to,
                                   size_t n, size_t n_y, size_t n_x, bool lanes_are_channels)
{
    vec d[4][4], v[4][4];
    UNROLL
    for (size_t y = 0; y < n_y; y++) {
        const float *row = from + y * input->from_stride;
        d[y][0] = vec_load(row);
        if (n_x == 4 && !lanes_are_channels)
            load_row(row, v[y]);
        UNROLL
        for (size_t x = 0; x < n_x && lanes_are_channels; x++)
            v[y][x] = vec_load(row + x * input->from_pixel);
        if (n_x == 4)
            transform_4(v[y], d[y]);
    }
    UNROLL
    for (size_t x = 0; x < n_x; x++) {
        vec column[4] = {d[0][x]}, transformed[4] = {d[0][x]};
        if (n_y == 4) {
            UNROLL
            for (size_t y = 0; y < 4; y++)
                column[y] = d[y][x];
            transform_4(column, transformed);
        }
        UNROLL
        for (size_t y = 0; y < n_y; y++)
            vec_store_n(to + (y * n_x + x) * input->to_stride, transformed[y], n);
    }
}

ALWAYS_INLINE void transform_rows(const struct winograd_input *input, size_t n_y, size_t n_x)
{
    for (size_t channel = 0; channel < input->n_channels; channel++) {
        const float *from = input->from + channel * input->from_channel;
        float *to = input->to + channel * input->to_channel;
        for (size_t row = 0; row < input->n_rows; row++) {
            for (size_t i = 0; i < input->n_tiles; i += VECTOR_LANES)
                transform_input(input, from + i * (n_x == 4 ? 2 : 1), to + i, input->n_tiles - i,
                                n_y, n_x, false);
            from += (n_y == 4 ? 2 : 1) * input->from_stride;
            to += input->n_tiles;
        }
    }
}

ALWAYS_INLINE void transform_pixels(const struct winograd_input *input, size_t n_y, size_t n_x)
{
    const size_t step_y = n_y == 4 ? 2 : 1, step_x = n_x == 4 ? 2 : 1;
    float *to = input->to;
    for (size_t row = 0; row < input->n_rows; row++) {
        const float *from = input->from + row * step_y * input->from_stride;
        for (size_t i = 0; i < input->n_tiles; i++, to += input->to_tile)
            for (size_t channel = 0; channel < input->n_channels; channel += VECTOR_LANES)
                transform_input(input, from + i * step_x * input->from_pixel + channel,
                                to + channel, VECTOR_LANES, n_y, n_x, true);
    }
}

#define TRANSFORM_INPUT(n_y, n_x)                                                                  \
    (input->from_pixel > 1 ? transform_pixels(input, n_y, n_x) : transform_rows(input, n_y, n_x))

static void winograd_input(const struct winograd_input *input)
{
    if (input->n_y == 4 && input->n_x == 4)
        TRANSFORM_INPUT(4, 4);
    else if (input->n_y == 4)
        TRANSFORM_INPUT(4, 1);
    else
        TRANSFORM_INPUT(1, 4);
}

/* Transforms a vector of channels of a tile. Returns the updated check, with NaN in lanes with a
 * sum that is not finite. */
ALWAYS_INLINE vec transform_output(const struct winograd_output *output, size_t tile, size_t at,
                                   size_t n_y, size_t n_x, vec check)
{
    const float *from = output->from + tile * output->ld + at;
    const size_t out_y = n_y == 4 ? 2 : 1, out_x = n_x == 4 ? 2 : 1;
    vec rows[4][2], bias = output->bias ? vec_load(output->bias + at) : vec_zero();
    vec low = vec_set1(output->bounds ? output->bounds[0] : -INFINITY);
    vec high = vec_set1(output->bounds ? output->bounds[1] : INFINITY);
    UNROLL
    for (size_t y = 0; y < n_y; y++) {
        vec m[4];
        UNROLL
        for (size_t x = 0; x < n_x; x++)
            m[x] = vec_load(from + (y * n_x + x) * output->from_stride);
        rows[y][0] = n_x == 4 ? vec_add(vec_add(m[0], m[1]), m[2]) : m[0];
        rows[y][1] = n_x == 4 ? vec_sub(vec_sub(m[1], m[2]), m[3]) : m[0];
    }
    UNROLL
    for (size_t x = 0; x < out_x; x++) {
        vec sums[2] = {rows[0][x], rows[0][x]};
        if (n_y == 4) {
            sums[0] = vec_add(vec_add(rows[0][x], rows[1][x]), rows[2][x]);
            sums[1] = vec_sub(vec_sub(rows[1][x], rows[2][x]), rows[3][x]);
        }
        UNROLL
        for (size_t y = 0; y < out_y; y++) {
            size_t column = n_x == 4 ? 2 * tile + x : tile;
            check = vec_fma(sums[y], vec_zero(), check);
            if (y < output->n_rows && column < output->width)
                vec_store(output->to + (y * output->width + column) * output->ld + at,
                          vec_max_min(vec_add(bias, sums[y]), low, high));
        }
    }
    return check;
}

ALWAYS_INLINE vec transform_tiles(const struct winograd_output *output, size_t n_y, size_t n_x)
{
    vec check = vec_zero();
    for (size_t tile = 0; tile < output->n_tiles; tile++)
        for (size_t at = 0; at < output->ld; at += VECTOR_LANES)
            check = transform_output(output, tile, at, n_y, n_x, check);
    return check;
}

static bool winograd_output(const struct winograd_output *output)
{
    float lanes[VECTOR_LANES];
    bool is_finite = true;
    vec check = output->n_y == 4 && output->n_x == 4 ? transform_tiles(output, 4, 4)
                : output->n_y == 4                   ? transform_tiles(output, 4, 1)
                                                     : transform_tiles(output, 1, 4);
    vec_store(lanes, check);
    for (size_t i = 0; i < VECTOR_LANES; i++)
        is_finite &= lanes[i] == 0;
    return is_finite;
}
