/* Convolutions with the channels last against convolutions of planes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "indirect_way.h"
#include "kernels/kernels.h"

/* Copies the elements of n channels from planes to pixels or back. */
static float *move_channels(const float *from, int64_t n, int64_t n_positions, bool to_pixels)
{
    float *to = new_numbers(n * n_positions);
    for (int64_t i = 0; i < n * n_positions; i++) {
        int64_t channel = i / n_positions, position = i % n_positions;
        int64_t pixel = position * n + channel;
        to[to_pixels ? pixel : i] = from[to_pixels ? i : pixel];
    }
    return to;
}

static struct window window_1x1(int64_t size)
{
    return (struct window){.in = {1, size, size},
                           .out = {1, size, size},
                           .kernel = {1, 1, 1},
                           .stride = {1, 1, 1},
                           .dilation = {1, 1, 1}};
}

/* Compares with the scalar loops over planes, also with a bias and a ReLU. Since pairs are rounded
 * to bf16, they get other numbers, which round to those of the scalar loops. */
static void try_pixels(struct convolution c, const struct igemm_microkernels *microkernels,
                       bool in_channels_last, bool out_channels_last, float special, struct way way)
{
    int64_t n_in = window_product(c.window.in), n_out = window_product(c.window.out);
    float *in = new_numbers(c.c_in * n_in), *out = new_numbers(c.c_out * n_out);
    float *weights = new_numbers(c.c_out * c.c_in * window_product(c.window.kernel));
    float *want = new_numbers(c.c_out * n_out), *bias = new_numbers(c.c_out);
    in[next_between(0, c.c_in * n_in - 1)] = special;
    float *pixels = move_channels(in, c.c_in, n_in, true);
    struct epilogue epilogue = {
        .bias = bias, .is_map = true, .is_clamp = true, .bounds = {0, INFINITY}};
    way.epilogue = &epilogue;
    convolution_direct(IRRUN_F32)(&c, false, in, weights, want);
    c.in_pixel_stride = in_channels_last ? c.c_in : 0;
    c.out_pixel_stride = out_channels_last ? c.c_out : 0;
    convolution_direct(IRRUN_F32)(&c, false, in_channels_last ? pixels : in, weights, out);
    for (int64_t i = 0; i < c.c_in * n_in && way.has_pairs; i++) {
        in[i] *= 1 + 0x1p-9F;
        pixels[i] *= 1 - 0x1p-10F;
    }
    float *planes = out_channels_last ? move_channels(out, c.c_out, n_out, false) : NULL;
    for (int64_t i = 0; i < c.c_out * n_out; i++)
        assert_same(planes ? planes[i] : out[i], want[i], i);
    free(planes);
    assert_true(
        convolve_indirectly(&c, &way, microkernels, in_channels_last ? pixels : in, weights, out));
    planes = out_channels_last ? move_channels(out, c.c_out, n_out, false) : NULL;
    for (int64_t i = 0; i < c.c_out * n_out; i++) {
        float sum = want[i] + bias[i / n_out];
        assert_same(planes ? planes[i] : out[i], sum < 0 ? 0 : sum, i);
    }
    free(planes);
    free(in);
    free(out);
    free(weights);
    free(want);
    free(bias);
    free(pixels);
}

static void channels_may_lie_last(void **state)
{
    (void)state;
    struct kernels kernels;
    for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++) {
        kernels_fill(&kernels, simd);
        for (int round = 0; round < 200 && simd_is_supported(simd); round++) {
            struct convolution c = {
                .window = next_window(), .c_in = next_between(1, 40), .c_out = next_between(1, 70)};
            if (round % 7 == 1)
                c.c_in = FAR_FLOATS * next_between(1, 2);
            if (round % 4 < 2)
                c.window = flatten(c.window);
            try_pixels(c, kernels.igemm_f32, round % 3 > 0, round % 3 < 2, 0,
                       (struct way){
                           .n_groups = 1, .channels_in_lanes = true, .copies_rows = round % 4 < 2});
        }
    }
}

/* The last vector of a pixel may overlap the next pixel. It must overlap neither the next chunk,
 * which another thread may have written, nor memory after the output. */
static void vectors_stay_in_their_chunk(void **state)
{
    (void)state;
    enum { SIZE = 60, MAX_CHANNELS = 70 };
    struct kernels kernels;
    struct irrun_error err = {0};
    float *in = new_numbers(9 * SIZE * SIZE), *weights = new_numbers(9 * MAX_CHANNELS);
    float *alone = new_numbers(MAX_CHANNELS * SIZE * SIZE),
          *shared = new_numbers(MAX_CHANNELS * SIZE * SIZE);
    struct thread_pool *pool = thread_pool_new(3, &err);
    for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++) {
        kernels_fill(&kernels, simd);
        for (int64_t n = 3; n < MAX_CHANNELS && simd_is_supported(simd); n++) {
            struct way way = {.n_groups = 1, .channels_in_lanes = true};
            struct convolution c = {
                .window = window_1x1(SIZE), .c_in = 9, .c_out = n, .out_pixel_stride = n};
            size_t n_floats = (size_t)(n * SIZE * SIZE);
            alone[n_floats] = shared[n_floats] = 7;
            convolve_indirectly(&c, &way, kernels.igemm_f32, in, weights, alone);
            way.pool = pool;
            convolve_indirectly(&c, &way, kernels.igemm_f32, in, weights, shared);
            assert_memory_equal(alone, shared, n_floats * sizeof *alone);
            assert_true(alone[n_floats] == 7 && shared[n_floats] == 7);
        }
    }
    thread_pool_free(pool);
    free(in);
    free(weights);
    free(alone);
    free(shared);
}

/* An infinity or NaN has the same effect as in the scalar loops. */
static void channels_may_lie_last_for_winograd(void **state)
{
    (void)state;
    static const float specials[] = {0, INFINITY, NAN};
    struct kernels kernels;
    for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++) {
        kernels_fill(&kernels, simd);
        for (int round = 0; round < 100 && simd_is_supported(simd); round++) {
            struct convolution c = {.window = next_winograd_window(round),
                                    .c_in = next_between(2, 140),
                                    .c_out = next_between(1, 70)};
            try_pixels(c, kernels.igemm_f32, round % 4 > 0, round % 4 < 3, specials[round % 3],
                       (struct way){.n_groups = 1, .channels_in_lanes = true, .is_winograd = true});
        }
    }
}

/* Exact, since such numbers are exact in bf16, and their sums in f32. */
static void pairs_of_bf16_follow_the_definition(void **state)
{
    (void)state;
    static const float specials[] = {0, INFINITY, NAN};
    struct kernels kernels;
    for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++) {
        kernels_fill(&kernels, simd);
        for (int round = 0; round < 400 && simd_is_supported(simd); round++) {
            struct convolution c = {
                .window = next_window(), .c_in = next_between(1, 40), .c_out = next_between(1, 70)};
            if (kernels.igemm_f32->pairs.round)
                try_pixels(c, kernels.igemm_f32, round & 1, round & 2, specials[round / 4 % 3],
                           (struct way){.has_pairs = true, .type = WEIGHTS_BF16});
        }
    }
}

static void a_level_without_bf16_has_no_pairs(void **state)
{
    (void)state;
    struct kernels kernels;
    struct indirect_convolution conv;
    struct convolution c = {.window = next_window(), .c_in = 3, .c_out = 4};
    kernels_fill(&kernels, SIMD_scalar);
    assert_false(indirect_convolution_plan_pairs(&conv, kernels.igemm_f32, &c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_may_lie_last),
        cmocka_unit_test(vectors_stay_in_their_chunk),
        cmocka_unit_test(channels_may_lie_last_for_winograd),
        cmocka_unit_test(pairs_of_bf16_follow_the_definition),
        cmocka_unit_test(a_level_without_bf16_has_no_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
