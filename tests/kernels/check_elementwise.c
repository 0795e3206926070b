/* Checks the element-wise loops against the scalar ones, bit for bit except for the bits of a NaN:
 * every operand form, sizes around the widest vectors, operands that end at an unmapped page, an
 * operand as the output.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"

enum { POISON = 0xA5, MARGIN = 64, MAX_N = 200, N_OPERANDS = 2, OPERAND_BYTES = 4 * MAX_N + 64 };

struct problem {
    const struct trial *trial;
    struct guarded operands[N_OPERANDS], out;
    unsigned char *expected;
    size_t n;
    size_t shift; /* bytes before the page */
};

static float random_or_special(void)
{
    static const float special[] = {0.0F,   -0.0F,    1.0F,      -1.0F,  0.5F,      2.5F,
                                    -3.5F,  INFINITY, NAN,       1e-40F, -1e-40F,   1e38F,
                                    -3e38F, 88.5F,    -INFINITY, -90.0F, 8388609.0F};
    uint32_t bits;
    float x;
    switch (random_below(4)) {
    case 0:
        return special[random_below(sizeof special / sizeof *special)];
    case 1:
        random_fill(&bits, sizeof bits);
        memcpy(&x, &bits, sizeof x);
        return x;
    default:
        return ((float)random_below(2001) - 1000) / 100;
    }
}

static float *operand(const struct problem *problem, size_t i, size_t n_elements)
{
    return (float *)(void *)guarded_last(&problem->operands[i],
                                         n_elements * sizeof(float) + problem->shift);
}

static void fill(const struct problem *problem, size_t i, size_t n_elements)
{
    float *to = operand(problem, i, n_elements);
    for (size_t k = 0; k < n_elements; k++)
        to[k] = random_or_special();
}

/* Returns whether the vector function only approximates the scalar one (NEAR). */
static bool is_approximate(enum unary_operation operation)
{
    enum { EXACT, NEAR };
    static const bool is_near[UNARY_N_OPERATIONS] = {
#define UNARY_VECTOR(name, vectors, expression, vector) [UNARY_##name] = vectors == NEAR,
#include "kernels/elementwise.def"
    };
    return is_near[operation];
}

/* Returns whether x equals y within 4 units of the last place or 1e-9, with the same sign if both
 * are 0. In Gelu, half of `in` multiplies 1 + erf or 1 + tanh, and the error of this sum. */
static bool is_near(enum unary_operation operation, float in, float x, float y)
{
    bool is_gelu = operation == UNARY_GELU_ERF || operation == UNARY_GELU_TANH;
    float slack = is_gelu && isfinite(in) ? 0x1p-22F * fabsf(in) : 0;
    if (x == 0 && y == 0)
        return !signbit(x) == !signbit(y);
    return x == y || fabsf(x - y) <= 1e-9F + slack || fabsf(x - y) <= 4 * 0x1p-23F * fabsf(y);
}

static bool is_same(const void *got, const void *wanted)
{
    float x, y;
    memcpy(&x, got, sizeof x);
    memcpy(&y, wanted, sizeof y);
    return isnan(y) ? isnan(x) : memcmp(&x, &y, sizeof x) == 0;
}

/* Returns whether the bytes around n elements of `width` bytes at out are unchanged. */
static bool is_margin_intact(const struct problem *problem, const unsigned char *out, size_t width)
{
    for (size_t i = 1; i <= MARGIN; i++)
        if (*(out - i) != POISON)
            return trial_fail("byte %zu before the output was written", i);
    for (size_t i = 0; i < problem->shift; i++)
        if (out[problem->n * width + i] != POISON)
            return trial_fail("byte %zu behind the output was written", i);
    return true;
}

static bool compare(const struct problem *problem, const unsigned char *out, size_t width)
{
    for (size_t i = 0; i < problem->n; i++) {
        const unsigned char *got = out + i * width, *wanted = problem->expected + i * width;
        if (!(width == 1 ? *got == *wanted : is_same(got, wanted)))
            return trial_fail("element %zu differs", i);
    }
    return is_margin_intact(problem, out, width);
}

static bool compare_near(const struct problem *problem, const unsigned char *out,
                         enum unary_operation operation, const float *in)
{
    const float *got = (const float *)(const void *)out;
    const float *wanted = (const float *)(const void *)problem->expected;
    for (size_t i = 0; i < problem->n; i++)
        if (!is_same(got + i, wanted + i) && !is_near(operation, in[i], got[i], wanted[i]))
            return trial_fail("of %.9g: %.9g, expected %.9g", (double)in[i], (double)got[i],
                              (double)wanted[i]);
    return is_margin_intact(problem, out, sizeof(float));
}

static unsigned char *fresh_out(const struct problem *problem, size_t width)
{
    memset(guarded_first(&problem->out), POISON, problem->out.n_bytes);
    return guarded_last(&problem->out, problem->n * width + problem->shift);
}

/* ---- two operands ---- */

static bool check_binary_at(struct problem *problem, enum binary_operation operation,
                            enum operand_form form)
{
    binary_fn *fn = problem->trial->variant->elementwise_f32->binary[operation][form];
    size_t width = binary_gives_boolean(operation) ? 1 : sizeof(float), n = problem->n;
    size_t n_a = form == FORM_SCALAR_VECTOR ? 1 : n, n_b = form == FORM_VECTOR_SCALAR ? 1 : n;
    fill(problem, 0, n_a);
    fill(problem, 1, n_b);
    const float *a = operand(problem, 0, n_a), *b = operand(problem, 1, n_b);
    binary_apply(binary_scalar(operation, IRRUN_F32), sizeof(float), a, n_a == n, b, n_b == n,
                 width, problem->expected, n);
    unsigned char *out = fresh_out(problem, width);
    if (!fn(a, b, out, n))
        return trial_fail("refused");
    if (!compare(problem, out, width))
        return false;
    if (width == 1 || n_a != n)
        return true;
    memcpy(out, a, n * sizeof(float));
    fn(out, b, out, n);
    return compare(problem, out, width);
}

/* ---- one operand ---- */

static bool check_unary_at(struct problem *problem, enum unary_operation operation)
{
    unary_fn *fn = problem->trial->variant->elementwise_f32->unary[operation];
    double p[UNARY_N_PARAMETERS] = {-2.5, 3.25};
    if (operation == UNARY_CLAMP && random_below(4) == 0)
        p[0] = 4;
    fill(problem, 0, problem->n);
    const float *in = operand(problem, 0, problem->n);
    unary_scalar(operation, IRRUN_F32)(in, problem->expected, problem->n, p);
    unsigned char *out = fresh_out(problem, sizeof(float));
    for (int in_place = 0; in_place < 2; in_place++) {
        if (in_place)
            memcpy(out, in, problem->n * sizeof(float));
        fn(in_place ? (const void *)out : in, out, problem->n, p);
        if (is_approximate(operation) ? !compare_near(problem, out, operation, in)
                                      : !compare(problem, out, sizeof(float)))
            return false;
    }
    return true;
}

/* ---- all ---- */

static bool check_size(struct problem *problem)
{
    const struct elementwise_kernels *kernels = problem->trial->variant->elementwise_f32;
    for (int i = 0; i < BINARY_N_OPERATIONS; i++) {
        for (int form = 0; form < N_OPERAND_FORMS; form++) {
            trial_says("binary %d form %d n=%zu shift=%zu", i, form, problem->n, problem->shift);
            if (kernels->binary[i][form] &&
                !check_binary_at(problem, (enum binary_operation)i, (enum operand_form)form))
                return false;
        }
    }
    for (int i = 0; i < UNARY_N_OPERATIONS; i++) {
        trial_says("unary %d n=%zu shift=%zu", i, problem->n, problem->shift);
        if (kernels->unary[i] && !check_unary_at(problem, (enum unary_operation)i))
            return false;
    }
    return true;
}

bool check_elementwise(const struct trial *trial)
{
    struct problem problem = {.trial = trial, .out = guarded_new(OPERAND_BYTES + MARGIN)};
    problem.expected = malloc(OPERAND_BYTES);
    for (size_t i = 0; i < N_OPERANDS; i++)
        problem.operands[i] = guarded_new(OPERAND_BYTES);
    bool is_good = problem.expected != NULL;
    for (problem.n = 0; problem.n <= MAX_N && is_good; problem.n++) {
        for (problem.shift = 0; problem.shift <= 12 && is_good; problem.shift += 4)
            is_good = check_size(&problem);
    }
    for (size_t i = 0; i < N_OPERANDS; i++)
        guarded_free(&problem.operands[i]);
    guarded_free(&problem.out);
    free(problem.expected);
    return is_good;
}

/* ---- speed ---- */

struct work {
    const struct elementwise_kernels *kernels;
    size_t n;
    float *a, *b, *out;
};

static void work_add(const void *context)
{
    const struct work *work = context;
    work->kernels->binary[BINARY_ADD][FORM_VECTOR_VECTOR](work->a, work->b, work->out, work->n);
}

static void work_greater(const void *context)
{
    const struct work *work = context;
    work->kernels->binary[BINARY_GREATER][FORM_VECTOR_SCALAR](work->a, work->b, work->out, work->n);
}

static void work_sigmoid(const void *context)
{
    const struct work *work = context;
    const double p[UNARY_N_PARAMETERS] = {0, 0};
    work->kernels->unary[UNARY_SIGMOID](work->a, work->out, work->n, p);
}

void measure_elementwise(const struct trial *trial)
{
    static const size_t sizes[] = {64, 4096, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n_bytes = sizes[i] * sizeof(float);
        struct work work = {trial->variant->elementwise_f32, sizes[i], aligned_alloc(64, n_bytes),
                            aligned_alloc(64, n_bytes), aligned_alloc(64, n_bytes)};
        if (!work.a || !work.b || !work.out)
            abort();
        for (size_t k = 0; k < sizes[i]; k++)
            work.a[k] = work.b[k] = (float)(k % 17) - 8;
        char what[64];
        snprintf(what, sizeof what, "%zu Add", sizes[i]);
        measure_line(what, measure_s(work_add, &work), 3 * n_bytes);
        snprintf(what, sizeof what, "%zu Greater than one", sizes[i]);
        measure_line(what, measure_s(work_greater, &work), n_bytes + sizes[i]);
        snprintf(what, sizeof what, "%zu Sigmoid", sizes[i]);
        measure_line(what, measure_s(work_sigmoid, &work), 2 * n_bytes);
        free(work.a);
        free(work.b);
        free(work.out);
    }
}
