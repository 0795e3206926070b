/* kernels/convolution against its definition, for random windows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "indirect_way.h"
#include "kernels/cpu.h"
#include "kernels/indirect_convolution.h"
#include "kernels/kernels.h"
#include "window_data.h"

static double convolve(const struct convolution *c, const float *in, const float *weights,
                       int64_t channel, int64_t o)
{
    int64_t n_in = window_product(c->window.in), n_kernel = window_product(c->window.kernel);
    double sum = 0;
    for (int64_t i = 0; i < c->c_in; i++)
        for (int64_t k = 0; k < n_kernel; k++) {
            int64_t at = input_index(&c->window, o, k);
            if (at >= 0)
                sum += (double)in[i * n_in + at] *
                       (double)weights[(channel * c->c_in + i) * n_kernel + k];
        }
    return sum;
}

static void assert_convolved(const struct convolution *c, const float *in, const float *weights,
                             const float *out, const char *name)
{
    int64_t n_out = window_product(c->window.out);
    for (int64_t i = 0; i < c->c_out * n_out; i++) {
        double expected = convolve(c, in, weights, i / n_out, i % n_out);
        if ((double)out[i] != expected)
            fail_test("%s: [%lld] is %g, not %g\n", name, (long long)i, (double)out[i], expected);
    }
}

static void both_ways_follow_the_definition(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        struct convolution c = {
            .window = next_window(), .c_in = next_between(1, 4), .c_out = next_between(1, 5)};
        int64_t n_out = window_product(c.window.out);
        int64_t n_terms = c.c_in * window_product(c.window.kernel);
        int64_t n_patches = next_between(1, n_out);
        float *in = new_numbers(c.c_in * window_product(c.window.in));
        float *weights = new_numbers(c.c_out * n_terms), *out = new_numbers(c.c_out * n_out);
        float *patches = new_numbers(n_patches * n_terms);
        convolution_direct(IRRUN_F32)(&c, false, in, weights, out);
        assert_convolved(&c, in, weights, out, "direct");
        for (int64_t i = 0; i < c.c_out * n_out; i++)
            out[i] = NAN;
        convolution_by_gemm(&c, gemm_plain_f32, weights,
                            &(struct convolution_job){
                                .n_patches = n_patches, .in = in, .out = out, .patches = patches});
        assert_convolved(&c, in, weights, out, "by gemm");
        free(in);
        free(weights);
        free(out);
        free(patches);
    }
}

/* Makes the output as large as the input, so that the input is read in place. */
static void keep_size(struct window *w)
{
    for (int d = 0; d < 3; d++) {
        int64_t reach = (w->kernel[d] - 1) * w->dilation[d];
        w->stride[d] = 1;
        w->pad_begin[d] = reach / 2;
        w->pad_end[d] = reach - reach / 2;
        w->out[d] = w->in[d];
    }
}

/* With groups, and more output channels than a tile has rows. */
static void the_indirect_one_follows_the_definition(void **state)
{
    (void)state;
    struct kernels kernels;
    for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++) {
        kernels_fill(&kernels, simd);
        for (int round = 0; round < 400 && simd_is_supported(simd); round++) {
            struct convolution c = {
                .window = next_window(), .c_in = next_between(1, 4), .c_out = next_between(1, 27)};
            bool copies_rows = round % 8 < 2;
            if (copies_rows)
                c.window = flatten(c.window);
            if (round % 3 == 0)
                keep_size(&c.window);
            int64_t n_groups = copies_rows ? 1 : next_between(1, 3);
            int64_t n_in = c.c_in * window_product(c.window.in);
            int64_t n_out = c.c_out * window_product(c.window.out);
            int64_t n_weights = c.c_out * c.c_in * window_product(c.window.kernel);
            int64_t n_behind = 300; /* more than a tile; must not change */
            float *in = new_numbers(n_groups * n_in);
            float *out = new_numbers(n_groups * n_out + n_behind);
            float *weights = new_numbers(n_groups * n_weights);
            for (int64_t i = 0; i < n_groups * n_out + n_behind; i++)
                out[i] = NAN;
            struct way way = {.n_groups = n_groups,
                              .type = round % 2 ? WEIGHTS_F16 : WEIGHTS_F32,
                              .channels_in_lanes = round % 4 < 2,
                              .copies_rows = copies_rows};
            assert_true(convolve_indirectly(&c, &way, kernels.igemm_f32, in, weights, out));
            for (int64_t group = 0; group < n_groups; group++)
                assert_convolved(&c, in + group * n_in, weights + group * n_weights,
                                 out + group * n_out, "indirect");
            for (int64_t i = 0; i < n_behind; i++)
                assert_true(isnan(out[n_groups * n_out + i]));
            free(in);
            free(weights);
            free(out);
        }
    }
}

/* Compares transposed convolutions with the scalar loops: an infinity affects the same outputs, and
 * every output has its bias, even if no kernel element reaches it. */
static void the_indirect_one_transposes(void **state)
{
    (void)state;
    struct kernels kernels;
    kernels_fill(&kernels, simd_best());
    for (int round = 0; round < 600 && kernels.igemm_f32; round++) {
        struct convolution c = {
            .window = next_window(), .c_in = next_between(1, 4), .c_out = next_between(1, 9)};
        for (int d = 0; d < 3; d++)
            c.window.dilation[d] = 1;
        struct epilogue epilogue = {.bias = NULL};
        struct way way = {.n_groups = next_between(1, 3),
                          .is_transposed = true,
                          .type = round % 2 ? WEIGHTS_F16 : WEIGHTS_F32,
                          .channels_in_lanes = round % 4 < 2,
                          .epilogue = &epilogue};
        int64_t n_in = c.c_in * window_product(c.window.out);
        int64_t n_out = c.c_out * window_product(c.window.in);
        int64_t n_weights = c.c_out * c.c_in * window_product(c.window.kernel);
        float *in = new_numbers(way.n_groups * n_in), *out = new_numbers(way.n_groups * n_out);
        float *weights = new_numbers(way.n_groups * n_weights);
        float *want = new_numbers(way.n_groups * n_out);
        float *bias = new_numbers(way.n_groups * c.c_out);
        epilogue.bias = bias;
        for (int64_t i = 0; i < way.n_groups * n_out; i++)
            out[i] = NAN;
        if (round % 3 == 0)
            in[next_between(0, way.n_groups * n_in - 1)] = INFINITY;
        if (convolve_indirectly(&c, &way, kernels.igemm_f32, in, weights, out)) {
            for (int64_t group = 0; group < way.n_groups; group++)
                convolution_direct(IRRUN_F32)(&c, true, in + group * n_in,
                                              weights + group * n_weights, want + group * n_out);
            for (int64_t i = 0; i < way.n_groups * n_out; i++)
                assert_same(out[i], want[i] + bias[i / window_product(c.window.in)], i);
        } else {
            assert_true(c.window.pad_begin[0] < 0 || c.window.pad_begin[1] < 0 ||
                        c.window.pad_begin[2] < 0);
        }
        free(in);
        free(out);
        free(want);
        free(bias);
        free(weights);
    }
}

/* Exact, since the transforms of such numbers are exact. An infinity or NaN has the same effect as
 * in the scalar loops. */
static void winograd_follows_the_definition(void **state)
{
    (void)state;
    static const float specials[] = {0, INFINITY, NAN};
    struct kernels kernels;
    for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++) {
        kernels_fill(&kernels, simd);
        for (int round = 0; round < 100 && simd_is_supported(simd); round++) {
            struct convolution c = {.window = next_winograd_window(round),
                                    .c_in = next_between(1, round % 20 ? 140 : 300),
                                    .c_out = next_between(1, round % 20 ? 70 : 200)};
            int64_t n_groups = next_between(1, 2), n_in = c.c_in * window_product(c.window.in);
            int64_t n_out = c.c_out * window_product(c.window.out);
            int64_t n_weights = c.c_out * c.c_in * window_product(c.window.kernel);
            float *in = new_numbers(n_groups * n_in), *weights = new_numbers(n_groups * n_weights);
            float *out = new_numbers(n_groups * n_out), *want = new_numbers(n_groups * n_out);
            in[next_between(0, n_groups * n_in - 1)] = specials[round % 3];
            struct way way = {.n_groups = n_groups,
                              .type = round % 2 ? WEIGHTS_F16 : WEIGHTS_F32,
                              .channels_in_lanes = true,
                              .is_winograd = true};
            assert_true(convolve_indirectly(&c, &way, kernels.igemm_f32, in, weights, out));
            for (int64_t group = 0; group < n_groups; group++)
                convolution_direct(IRRUN_F32)(&c, false, in + group * n_in,
                                              weights + group * n_weights, want + group * n_out);
            for (int64_t i = 0; i < n_groups * n_out; i++)
                assert_same(out[i], want[i], i);
            free(in);
            free(weights);
            free(out);
            free(want);
        }
    }
}

/* Without terms, the numbers of tiles and rows may be too large to count. */
static void the_indirect_one_refuses_what_cannot_be_counted(void **state)
{
    (void)state;
    struct kernels kernels;
    struct indirect_convolution conv;
    int64_t huge = INT64_C(1) << 32;
    struct convolution c = {.window = {.in = {1, huge + 3, huge + 3},
                                       .out = {1, 1, 1},
                                       .kernel = {1, 3, 3},
                                       .stride = {1, huge, huge},
                                       .dilation = {1, 1, 1}},
                            .c_in = 4,
                            .c_out = 4};
    kernels_fill(&kernels, simd_best());
    if (kernels.igemm_f32)
        for (int way = 0; way < 2; way++)
            assert_false(
                indirect_convolution_plan(&conv, kernels.igemm_f32, &c, 1, true, way == 1));
}

/* Returns a window with a square kernel of odd size, whose pads keep the size at stride 1. */
static struct window window_of(int64_t height, int64_t width, int64_t kernel, int64_t stride)
{
    int64_t pad = kernel / 2;
    return (struct window){.in = {1, height, width},
                           .out = {1, (height - 1) / stride + 1, (width - 1) / stride + 1},
                           .kernel = {1, kernel, kernel},
                           .stride = {1, stride, stride},
                           .dilation = {1, 1, 1},
                           .pad_begin = {0, pad, pad},
                           .pad_end = {0, pad, pad}};
}

static void the_indirect_one_does_not_depend_on_threads(void **state)
{
    (void)state;
    struct kernels kernels;
    struct irrun_error err = {0};
    struct convolution c = {.window = window_of(60, 61, 3, 1), .c_in = 8, .c_out = 13};
    int64_t n = 13 * 60 * 61;
    float *in = new_numbers(n), *weights = new_numbers(13 * 8 * 9);
    float *alone = new_numbers(n), *shared = new_numbers(n);
    for (int64_t i = 0; i < n; i++)
        in[i] = sinf((float)i);
    kernels_fill(&kernels, simd_best());
    struct thread_pool *pool = thread_pool_new(3, &err);
    /* The input in place, a copy of planes or of rows, and a transposed convolution, each with
     * positions in lanes and with channels in lanes; Winograd; pairs of bf16. */
    int n_rounds = kernels.igemm_f32->pairs.round ? 8 : 7;
    for (int round = 0; round < n_rounds; round++) {
        int i = round / 2 % 3;
        struct way way = {.n_groups = 1,
                          .is_transposed = i == 2,
                          .channels_in_lanes = round % 2 == 1 || round == 6,
                          .has_pairs = round == 7,
                          .is_winograd = round == 6,
                          .copies_rows = round == 3};
        way.type = way.has_pairs ? WEIGHTS_BF16 : WEIGHTS_F32;
        c.window.stride[2] = i == 0 ? 1 : 2;
        c.window.out[2] = i == 0 ? 61 : 31;
        int64_t n_out = 13 * 60 * (i == 1 ? 31 : 61);
        assert_true(convolve_indirectly(&c, &way, kernels.igemm_f32, in, weights, alone));
        way.pool = pool;
        assert_true(convolve_indirectly(&c, &way, kernels.igemm_f32, in, weights, shared));
        assert_memory_equal(alone, shared, (size_t)n_out * sizeof *alone);
    }
    thread_pool_free(pool);
    free(in);
    free(weights);
    free(alone);
    free(shared);
}

/* After an infinity, Winograd recomputes the same outputs however threads divide a line. */
static void an_infinity_in_a_line_does_not_depend_on_threads(void **state)
{
    (void)state;
    enum { LENGTH = 201, CHANNELS = 13 };
    struct kernels kernels;
    struct irrun_error err = {0};
    struct way way = {.n_groups = 1, .channels_in_lanes = true, .is_winograd = true};
    struct convolution c = {
        .window = window_of(1, LENGTH, 5, 1), .c_in = CHANNELS, .c_out = CHANNELS};
    size_t n = LENGTH * CHANNELS;
    float *in = new_numbers((int64_t)n), *weights = new_numbers(CHANNELS * CHANNELS * 5);
    float *alone = new_numbers((int64_t)n), *shared = new_numbers((int64_t)n);
    c.window.kernel[1] = 1;
    c.window.pad_begin[1] = c.window.pad_end[1] = 0;
    for (size_t i = 0; i < n; i++)
        in[i] = sinf((float)i);
    in[LENGTH / 2] = INFINITY;
    kernels_fill(&kernels, simd_best());
    assert_true(convolve_indirectly(&c, &way, kernels.igemm_f32, in, weights, alone));
    for (unsigned n_threads = 2; n_threads < 8; n_threads++) {
        way.pool = thread_pool_new(n_threads, &err);
        assert_true(convolve_indirectly(&c, &way, kernels.igemm_f32, in, weights, shared));
        assert_memory_equal(alone, shared, n * sizeof *alone);
        thread_pool_free(way.pool);
    }
    free(in);
    free(weights);
    free(alone);
    free(shared);
}

/* With few positions, the lanes are channels; with few channels, they are positions. The scalar
 * loops compute sums of one term. */
static void the_faster_way_is_chosen(void **state)
{
    (void)state;
    struct kernels kernels;
    struct indirect_convolution conv;
    kernels_fill(&kernels, simd_best());
    for (int round = 0; round < 3 && kernels.igemm_f32; round++) {
        int64_t size = round == 0 ? 6 : round == 1 ? 60 : 1, n_channels = round == 0 ? 128 : 2;
        struct convolution c = {.window = window_of(size, size, 1, 1),
                                .c_in = n_channels,
                                .c_out = round < 2 ? n_channels : 1};
        bool is_chosen = indirect_convolution_choose(&conv, kernels.igemm_f32, &c, 1, false);
        assert_int_equal(is_chosen, round < 2);
        assert_true(!is_chosen || conv.channels_in_lanes == (round == 0));
    }
}

/* The cost of copying all groups is compared with the cost of the products of all groups. */
static void many_groups_choose_the_indirect_one(void **state)
{
    (void)state;
    struct kernels kernels;
    struct indirect_convolution conv;
    kernels_fill(&kernels, simd_best());
    struct convolution c = {.window = window_of(20, 20, 3, 2), .c_in = 8, .c_out = 8};
    assert_true(!kernels.igemm_f32 ||
                indirect_convolution_choose(&conv, kernels.igemm_f32, &c, 26, false));
}

static void kernels_of_one_element_need_no_im2col(void **state)
{
    (void)state;
    struct convolution c = {.window = window_of(3, 5, 1, 1), .c_in = 4, .c_out = 6};
    assert_int_equal(convolution_n_patches(&c), 0);
    float *in = new_numbers(60), *weights = new_numbers(24), *out = new_numbers(90);
    convolution_by_gemm(&c, gemm_plain_f32, weights,
                        &(struct convolution_job){.in = in, .out = out});
    assert_convolved(&c, in, weights, out, "pointwise");
    free(in);
    free(weights);
    free(out);
    c.window.stride[2] = 2;
    c.window.out[2] = 3;
    assert_int_not_equal(convolution_n_patches(&c), 0);
}

static void integers_wrap(void **state)
{
    (void)state;
    struct convolution c = {.window = {.in = {1, 1, 2},
                                       .out = {1, 1, 1},
                                       .kernel = {1, 1, 2},
                                       .stride = {1, 1, 1},
                                       .dilation = {1, 1, 1}},
                            .c_in = 1,
                            .c_out = 1};
    int8_t in[] = {100, -100}, weights[] = {3, 4}, out;
    convolution_direct(IRRUN_I8)(&c, false, in, weights, &out);
    assert_int_equal(out, -100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_follow_the_definition),
        cmocka_unit_test(the_indirect_one_follows_the_definition),
        cmocka_unit_test(the_indirect_one_transposes),
        cmocka_unit_test(winograd_follows_the_definition),
        cmocka_unit_test(the_indirect_one_refuses_what_cannot_be_counted),
        cmocka_unit_test(the_indirect_one_does_not_depend_on_threads),
        cmocka_unit_test(an_infinity_in_a_line_does_not_depend_on_threads),
        cmocka_unit_test(the_faster_way_is_chosen),
        cmocka_unit_test(many_groups_choose_the_indirect_one),
        cmocka_unit_test(kernels_of_one_element_need_no_im2col),
        cmocka_unit_test(integers_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
