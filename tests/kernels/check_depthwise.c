/* Checks depthwise kernels against the scalar loops: random windows, also with special values, in
 * memory that begins or ends at an unmapped page.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"
#include "kernels/convolution.h"
#include "kernels/depthwise.h"
#include "kernels/pool.h"

struct problem {
    struct arena arena;
    struct depthwise plan;
    struct depthwise_job job;
    struct guarded in, weights, out;
    size_t n_in, n_out, n_taps; /* of a channel */
    size_t n_channels;          /* output channels of all batches */
    const float *plain;         /* the weights before they are packed */
    float *bias, *expected, *plane, *packed;
    struct epilogue epilogue;
};

/* Chooses dimension d of a window. Returns false if the output would be empty. */
static bool choose_dimension(struct window *w, int d, uint32_t max_size)
{
    w->in[d] = 1 + random_below(max_size);
    w->kernel[d] = 1 + random_below(5);
    w->stride[d] = 1 + random_below(3);
    w->dilation[d] = 1 + random_below(3);
    int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1;
    w->pad_begin[d] = random_below(2) ? 0 : (int64_t)random_below((uint32_t)reach + 1) - 1;
    w->pad_end[d] = random_below(2) ? 0 : random_below((uint32_t)reach);
    int64_t room = w->in[d] + w->pad_begin[d] + w->pad_end[d] - reach;
    w->out[d] = room < 0 ? 0 : room / w->stride[d] + 1;
    return w->out[d] > 0;
}

/* Chooses a window of 2 x 2 without overlap. */
static void choose_2x2(struct window *w)
{
    for (int d = 0; d < 3; d++) {
        w->kernel[d] = w->stride[d] = d == 0 ? 1 : 2;
        w->dilation[d] = 1;
        w->pad_begin[d] = w->pad_end[d] = 0;
        w->in[d] = w->kernel[d] + random_below(d == 0 ? 3 : 80);
        w->out[d] = w->in[d] / w->stride[d];
    }
}

static void choose_window(struct window *w)
{
    if (random_below(6) == 0) {
        choose_2x2(w);
        return;
    }
    static const uint32_t sizes[][3] = {{1, 1, 300}, {1, 30, 30}, {1, 9, 9}, {4, 6, 20}, {1, 1, 8}};
    const uint32_t *size = sizes[random_below(sizeof sizes / sizeof *sizes)];
    for (int d = 0; d < 3; d++)
        while (!choose_dimension(w, d, size[d]))
            ;
}

#define N_SPECIALS 6

/* Fills new memory with n random floats; some are among the first n_specials special values. */
static float *fill(struct guarded *memory, size_t n, bool at_end, uint32_t n_specials)
{
    const float specials[N_SPECIALS] = {NAN, INFINITY, -INFINITY, -0.0F, 1e-40F, 3e38F};
    *memory = guarded_new(n * sizeof(float));
    float *to =
        at_end ? (void *)guarded_last(memory, n * sizeof(float)) : (void *)guarded_first(memory);
    for (size_t i = 0; i < n; i++)
        to[i] = n_specials > 0 && random_below(9) == 0 ? specials[random_below(n_specials)]
                                                       : random_float(1.0F);
    return to;
}

static void choose_problem(const struct trial *trial, struct problem *problem, bool has_specials)
{
    struct irrun_error err;
    struct depthwise *plan = &problem->plan;
    bool at_end = random_below(2), is_possible;
    uint32_t n_specials = has_specials ? N_SPECIALS : 0;
    *problem = (struct problem){.expected = NULL};
    plan->kernels = trial->variant->depthwise_f32;
    plan->term = (enum depthwise_term)random_below(N_DEPTHWISE_TERMS);
    plan->exclude_pad = random_below(2);
    plan->n_batches = 1 + random_below(2);
    plan->n_channels = 1 + random_below(random_below(2) ? 3 : random_below(4) ? 40 : 300);
    plan->multiplier = plan->term == DEPTHWISE_PRODUCTS ? 1 + random_below(2) : 1;
    plan->channels_last =
        plan->term != DEPTHWISE_SUMS && plan->multiplier == 1 && random_below(2) == 0;
    choose_window(&plan->window);
    if (!depthwise_plan(plan, &problem->arena, &is_possible, &err) || !is_possible)
        abort();
    problem->n_in = (size_t)window_product(plan->window.in);
    problem->n_out = (size_t)window_product(plan->window.out);
    problem->n_taps = (size_t)window_product(plan->window.kernel);
    problem->n_channels = (size_t)(plan->n_batches * plan->n_channels * plan->multiplier);
    size_t n = (size_t)(plan->n_batches * plan->n_channels) * problem->n_in;
    problem->bias = calloc(problem->n_channels, sizeof(float));
    problem->expected = calloc(problem->n_channels * problem->n_out, sizeof(float));
    problem->plane = calloc(problem->n_in, sizeof(float));
    problem->epilogue.bias = problem->bias;
    problem->job = (struct depthwise_job){
        .in = fill(&problem->in, n, at_end, n_specials),
        /* 3e38 * 3e38 overflows in a product, but not in a fused multiply-add. With the channels
         * last, the scalar loops do not recompute a channel if a sum is not finite. */
        .weights = fill(&problem->weights,
                        (size_t)(plan->n_channels * plan->multiplier) * problem->n_taps, at_end,
                        random_below(2) ? n_specials - (n_specials > 0 && plan->channels_last) : 0),
        .out = fill(&problem->out, problem->n_channels * problem->n_out, at_end, 0),
        .scratch = calloc(plan->scratch_floats + 1, sizeof(float)),
        .epilogue = plan->term == DEPTHWISE_PRODUCTS && random_below(2) ? &problem->epilogue : NULL,
    };
    problem->plain = problem->job.weights;
    if (plan->channels_last && plan->term == DEPTHWISE_PRODUCTS) {
        problem->packed = calloc(plan->packed_floats, sizeof(float));
        depthwise_pack(plan, problem->plain, false, problem->packed);
        problem->job.weights = problem->packed;
    }
    for (size_t i = 0; i < problem->n_channels; i++)
        problem->bias[i] = random_float(1.0F);
    random_fill(problem->job.scratch, plan->scratch_floats * sizeof(float));
}

static void release(struct problem *problem)
{
    guarded_free(&problem->in);
    guarded_free(&problem->weights);
    guarded_free(&problem->out);
    free(problem->bias);
    free(problem->expected);
    free(problem->plane);
    free(problem->packed);
    free(problem->job.scratch);
    arena_free(&problem->arena);
}

/* Computes output channel i by the scalar loops, to problem->expected. */
static void compute_expected(const struct problem *problem, size_t i)
{
    const struct depthwise *plan = &problem->plan;
    const float *in = problem->job.in + i / (size_t)plan->multiplier * problem->n_in;
    float *out = problem->expected + i * problem->n_out;
    size_t number = i % (size_t)(plan->n_channels * plan->multiplier);
    size_t n_channels = (size_t)plan->n_channels;
    const float *pixels = problem->job.in + i / n_channels * n_channels * problem->n_in + number;
    for (size_t p = 0; p < problem->n_in && plan->channels_last; p++)
        problem->plane[p] = pixels[p * n_channels];
    in = plan->channels_last ? problem->plane : in;
    struct convolution one = {.window = plan->window, .c_in = 1, .c_out = 1};
    if (plan->term == DEPTHWISE_MAXIMA)
        max_pool_scalar(IRRUN_F32)(&plan->window, in, out, NULL);
    else if (plan->term == DEPTHWISE_SUMS)
        avg_pool_scalar(IRRUN_F32)(&plan->window, plan->exclude_pad, in, out);
    else
        convolution_direct(IRRUN_F32)(&one, false, in, problem->plain + number * problem->n_taps,
                                      out);
    for (size_t o = 0; o < problem->n_out && problem->job.epilogue; o++)
        out[o] += problem->bias[number];
}

/* Returns position o of output channel i. */
static float result(const struct problem *problem, size_t i, size_t o)
{
    const struct depthwise *plan = &problem->plan;
    size_t n_channels = (size_t)plan->n_channels, n_out = problem->n_out;
    size_t pixel = i / n_channels * n_channels * n_out + o * n_channels + i % n_channels;
    return problem->job.out[plan->channels_last ? pixel : i * n_out + o];
}

static bool is_same(const struct problem *problem, float got, float expected)
{
    if (problem->plan.term == DEPTHWISE_MAXIMA)
        return memcmp(&got, &expected, sizeof got) == 0;
    if (!isfinite(expected) || !isfinite(got))
        return isnan(expected) ? isnan(got) : got == expected;
    float tolerance = 1e-6F * (1 + fabsf(expected)) * (float)problem->n_taps;
    return fabsf(got - expected) <= tolerance || fabsf(expected) > 1e30F;
}

static bool try_problem(const struct trial *trial, bool has_specials)
{
    struct problem problem;
    choose_problem(trial, &problem, has_specials);
    const struct depthwise *plan = &problem.plan;
    const struct window *w = &plan->window;
    trial_says("term=%d in=%dx%dx%d kernel=%dx%dx%d stride=%d,%d,%d pads=%d,%d,%d lanes=%d last=%d",
               (int)plan->term, (int)w->in[0], (int)w->in[1], (int)w->in[2], (int)w->kernel[0],
               (int)w->kernel[1], (int)w->kernel[2], (int)w->stride[0], (int)w->stride[1],
               (int)w->stride[2], (int)w->pad_begin[0], (int)w->pad_begin[1], (int)w->pad_begin[2],
               (int)plan->is_blocked, (int)plan->channels_last);
    depthwise_run(plan, &problem.job);
    bool is_good = true;
    for (size_t i = 0; i < problem.n_channels && is_good; i++) {
        compute_expected(&problem, i);
        for (size_t o = 0; o < problem.n_out && is_good; o++) {
            float got = result(&problem, i, o), expected = problem.expected[i * problem.n_out + o];
            if (!is_same(&problem, got, expected))
                is_good = trial_fail("channel %zu, position %zu: %.9g, expected %.9g", i, o,
                                     (double)got, (double)expected);
        }
    }
    release(&problem);
    return is_good;
}

bool check_depthwise(const struct trial *trial)
{
    for (int i = 0; i < 600; i++)
        if (!try_problem(trial, i % 3 == 2))
            return false;
    return true;
}

static void run_problem(const void *context)
{
    const struct problem *problem = context;
    depthwise_run(&problem->plan, &problem->job);
}

void measure_depthwise(const struct trial *trial)
{
    for (int i = 0; i < 12; i++) {
        struct problem problem;
        choose_problem(trial, &problem, false);
        const struct depthwise *plan = &problem.plan;
        double seconds = measure_s(run_problem, &problem);
        printf("# %s, %3d channels, %4zu elements to %4zu, %3zu taps  %8.2f us  %6.1f Gtaps/s\n",
               plan->channels_last ? "last "
               : plan->is_blocked  ? "lanes"
                                   : "rows ",
               (int)plan->n_channels, problem.n_in, problem.n_out, problem.n_taps, seconds * 1e6,
               plan->n_terms / seconds * 1e-9);
        release(&problem);
    }
}
