/* Checks the micro-kernels of indirect convolution against sums in double. Every row of B ends at
 * an unmapped page.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"
#include "tensor/half.h"

#define POISON (-12345.0F)

struct problem {
    struct igemm_args args;
    igemm_microkernel_fn *run;
    enum igemm_masking masking;
    size_t mr, nr, n_image;
    struct guarded image, weights, sums;
};

static void lay_out(const struct trial *trial, struct problem *problem, size_t rows, size_t k,
                    enum igemm_masking masking)
{
    const struct igemm_microkernels *kernels = trial->variant->igemm_f32;
    size_t width = kernels->nr[rows];
    struct indirection *indirection = malloc((k + 1) * sizeof *indirection);
    unsigned char *masks = malloc((k + 1) * (width / 8));
    *problem = (struct problem){
        .run = kernels->run[masking][rows], .masking = masking, .mr = rows, .nr = width};
    random_fill(masks, k * (width / 8));
    problem->n_image = width + 40;
    problem->image = guarded_new(problem->n_image * sizeof(float));
    problem->weights = guarded_new(k * rows * sizeof(float) + 4);
    problem->sums = guarded_new(rows * width * sizeof(float));
    float *image = (void *)guarded_last(&problem->image, problem->n_image * sizeof(float));
    float *weights = (void *)guarded_last(&problem->weights, k * rows * sizeof(float));
    for (size_t i = 0; i < problem->n_image; i++)
        image[i] = random_float(1.0F);
    for (size_t i = 0; i < k * rows; i++)
        weights[i] = random_float(0.5F);
    for (size_t i = 0; i < k; i++)
        indirection[i] = (struct indirection){(int32_t)(i == 0 ? 40 : random_below(41)),
                                              (uint32_t)(i * (width / 8))};
    /* Masked elements may be in an unmapped page. */
    if (masking == IGEMM_MASKED_LOADS && k > 0) {
        indirection[0].offset = (int32_t)(problem->n_image - 8);
        memset(masks, 0, width / 8);
        masks[0] = 0xFF;
    }
    problem->args = (struct igemm_args){
        .k = k,
        .b = image,
        .masks = masks,
        .indirection = indirection,
        .a = weights,
        .c = (void *)guarded_last(&problem->sums, rows * width * sizeof(float)),
    };
}

static void release(struct problem *problem)
{
    guarded_free(&problem->image);
    guarded_free(&problem->weights);
    guarded_free(&problem->sums);
    free((void *)problem->args.indirection);
    free((void *)problem->args.masks);
}

/* held: the value of c before the call, if the kernel adds to it. */
static bool compare(const struct problem *problem, float held)
{
    const struct igemm_args *args = &problem->args;
    for (size_t i = 0; i < problem->mr * problem->nr; i++) {
        size_t row = i / problem->nr, at = i % problem->nr;
        double sum = (double)(args->bias ? args->bias[row] : held), size = 1 + fabs(sum);
        for (size_t k = 0; k < args->k; k++) {
            const unsigned char *mask = args->masks + args->indirection[k].mask;
            if (problem->masking != IGEMM_UNMASKED && (mask[at / 8] >> at % 8 & 1) == 0)
                continue;
            double term = (double)args->a[k * problem->mr + row] *
                          (double)args->b[(size_t)args->indirection[k].offset + at];
            sum += term;
            size += fabs(term);
        }
        double got = (double)args->c[i];
        if (!(fabs(got - sum) <= 2e-7 * size * sqrt((double)(args->k + 4))))
            return trial_fail("row %zu, position %zu: %.9g, expected %.9g", row, at, got, sum);
    }
    return true;
}

/* What the sums start from; ADDED: the old value of c. */
enum beginning { FROM_ZERO, FROM_BIAS, ADDED, N_BEGINNINGS };

static bool try_tile(const struct trial *trial, size_t rows, size_t k, enum igemm_masking masking,
                     enum beginning beginning)
{
    struct problem problem;
    float held = beginning == ADDED ? 0.75F : POISON;
    struct guarded starts = guarded_new(rows * sizeof(float));
    float *start = (void *)guarded_last(&starts, rows * sizeof(float));
    trial_says("rows=%zu k=%zu masking=%d beginning=%d", rows, k, (int)masking, (int)beginning);
    lay_out(trial, &problem, rows, k, masking);
    for (size_t i = 0; i < rows * problem.nr; i++)
        problem.args.c[i] = held;
    for (size_t i = 0; i < rows; i++)
        start[i] = random_float(1.0F);
    problem.args.bias = beginning == FROM_BIAS ? start : NULL;
    problem.args.is_added = beginning == ADDED;
    problem.run(&problem.args);
    bool is_good = compare(&problem, beginning == ADDED ? held : 0.0F);
    guarded_free(&starts);
    release(&problem);
    return is_good;
}

/* ---- channels in lanes ---- */

/* Positions are random, and may be equal. */
static bool try_channels(const struct trial *trial, igemm_channels_fn *run, size_t n_vectors,
                         size_t rows, size_t k, enum beginning beginning)
{
    const struct igemm_microkernels *kernels = trial->variant->igemm_f32;
    size_t n_columns = n_vectors * kernels->lanes, ldc = n_columns + random_below(3);
    float image[100], bias[IGEMM_MAX_VECTORS * 16], held = beginning == ADDED ? 0.75F : POISON;
    int32_t positions[IGEMM_MAX_MR];
    struct indirection *indirection = calloc(k + 1, sizeof *indirection);
    struct guarded weights = guarded_new(k * n_columns * sizeof(float) + 4);
    struct guarded sums = guarded_new(((rows - 1) * ldc + n_columns) * sizeof(float));
    float *b = (void *)guarded_last(&weights, k * n_columns * sizeof(float));
    float *c = (void *)guarded_last(&sums, ((rows - 1) * ldc + n_columns) * sizeof(float));
    bool is_good = true;
    trial_says("channels: vectors=%zu rows=%zu k=%zu beginning=%d", n_vectors, rows, k,
               (int)beginning);
    for (size_t i = 0; i < 100; i++)
        image[i] = random_float(1.0F);
    for (size_t i = 0; i < k * n_columns; i++)
        b[i] = random_float(0.5F);
    for (size_t i = 0; i < k; i++)
        indirection[i].offset = (int32_t)random_below(50) - 20;
    for (size_t i = 0; i < rows; i++)
        positions[i] = (int32_t)random_below(50) + 20;
    for (size_t i = 0; i < n_columns; i++)
        bias[i] = random_float(1.0F);
    for (size_t i = 0; i < (rows - 1) * ldc + n_columns; i++)
        c[i] = held;
    run(&(struct igemm_channels_args){.k = k,
                                      .a = image,
                                      .indirection = indirection,
                                      .positions = positions,
                                      .b = b,
                                      .ahead = (size_t)random_below(9) * 4096,
                                      .c = c,
                                      .ldc = ldc,
                                      .bias = beginning == FROM_BIAS ? bias : NULL,
                                      .is_added = beginning == ADDED});
    for (size_t i = 0; i < rows * n_columns && is_good; i++) {
        size_t row = i / n_columns, column = i % n_columns;
        double start = beginning == FROM_BIAS ? (double)bias[column] : 0;
        double sum = beginning == ADDED ? (double)held : start, size = 1 + fabs(sum);
        for (size_t t = 0; t < k; t++) {
            double term = (double)image[positions[row] + indirection[t].offset] *
                          (double)b[t * n_columns + column];
            sum += term;
            size += fabs(term);
        }
        double got = (double)c[row * ldc + column];
        if (!(fabs(got - sum) <= 2e-7 * size * sqrt((double)(k + 4))))
            is_good = trial_fail("row %zu, column %zu: %.9g, expected %.9g", row, column, got, sum);
    }
    guarded_free(&weights);
    guarded_free(&sums);
    free(indirection);
    return is_good;
}

static bool check_channels(const struct trial *trial)
{
    static const size_t depths[] = {0, 1, 9, 100, 513};
    const struct igemm_microkernels *kernels = trial->variant->igemm_f32;
    for (size_t vectors = 1; vectors <= IGEMM_MAX_VECTORS; vectors++)
        for (size_t rows = 1; rows <= IGEMM_MAX_MR; rows++) {
            igemm_channels_fn *runs[] = {kernels->channels[vectors][rows],
                                         kernels->prefetching[vectors][rows]};
            for (size_t i = 0; i < 2 * N_BEGINNINGS * sizeof depths / sizeof depths[0]; i++)
                if (runs[i % 2] &&
                    !try_channels(trial, runs[i % 2], vectors, rows, depths[i / 2 / N_BEGINNINGS],
                                  (enum beginning)(i / 2 % N_BEGINNINGS)))
                    return false;
        }
    return true;
}

/* ---- rows ---- */

/* Compares the bits with those of the kernels for any positions. */
static bool try_row(const struct trial *trial, size_t stride, size_t rows, size_t n_taps,
                    enum beginning beginning)
{
    const struct igemm_microkernels *kernels = trial->variant->igemm_f32;
    size_t lanes = kernels->lanes, ldc = lanes + random_below(3), pixel = random_below(4);
    size_t k = 3 * n_taps, n_last = (rows - 1) * stride + 2, n_sums = (rows - 1) * ldc + lanes;
    struct guarded weights = guarded_new(k * lanes * sizeof(float) + 4);
    struct guarded images = guarded_new((n_last * 3 + 41) * sizeof(float));
    float *image = (void *)guarded_last(&images, (n_last * pixel + 41) * sizeof(float));
    float *b = (void *)guarded_last(&weights, k * lanes * sizeof(float));
    float sums[2][IGEMM_MAX_MR * 18], bias[16], bounds[] = {-1, 1};
    struct indirection *indirection = calloc(k + 1, sizeof *indirection);
    int32_t positions[IGEMM_MAX_MR];
    trial_says("row: stride=%zu rows=%zu k=%zu pixel=%zu beginning=%d", stride, rows, k, pixel,
               (int)beginning);
    for (size_t i = 0; i < n_last * pixel + 41; i++)
        image[i] = random_float(1.0F);
    for (size_t i = 0; i < k * lanes; i++)
        b[i] = random_float(0.5F);
    for (size_t i = 0; i < k; i++)
        indirection[i].offset = i % 3 > 0 ? indirection[i - 1].offset + (int32_t)pixel
                                          : (int32_t)(i == 0 ? 40 : random_below(41)) - 20;
    for (size_t i = 0; i < rows; i++)
        positions[i] = (int32_t)(20 + i * stride * pixel);
    for (size_t i = 0; i < lanes; i++)
        bias[i] = random_float(1.0F);
    struct igemm_channels_args args = {.k = k,
                                       .pixel = pixel,
                                       .a = image,
                                       .indirection = indirection,
                                       .positions = positions,
                                       .b = b,
                                       .ldc = ldc,
                                       .bias = beginning == FROM_BIAS ? bias : NULL,
                                       .bounds = random_below(2) ? bounds : NULL,
                                       .is_added = beginning == ADDED};
    for (size_t way = 0; way < 2; way++) {
        args.c = sums[way];
        for (size_t i = 0; i < n_sums; i++)
            args.c[i] = beginning == ADDED ? 0.75F : POISON;
        (way ? kernels->width_3[stride] : kernels->channels[1])[rows](&args);
    }
    guarded_free(&weights);
    guarded_free(&images);
    free(indirection);
    return memcmp(sums[0], sums[1], n_sums * sizeof(float)) == 0 || trial_fail("sums differ");
}

static bool check_rows(const struct trial *trial)
{
    for (size_t stride = 1; stride <= IGEMM_MAX_STRIDE; stride++)
        for (size_t rows = 1; rows <= IGEMM_MAX_MR; rows++)
            for (size_t i = 0; i < 5 * N_BEGINNINGS; i++)
                if (!try_row(trial, stride, rows, i / N_BEGINNINGS,
                             (enum beginning)(i % N_BEGINNINGS)))
                    return false;
    return true;
}

/* ---- tiles ---- */

static void fill_pairs(uint32_t *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pairs[i] =
            (uint32_t)bf16_from_f32(random_float(1.0F)) << 16 | bf16_from_f32(random_float(0.5F));
}

static double multiply_pairs(uint32_t a, uint32_t b, double *size)
{
    double low = (double)bf16_to_f32((uint16_t)a) * (double)bf16_to_f32((uint16_t)b);
    double high =
        (double)bf16_to_f32((uint16_t)(a >> 16)) * (double)bf16_to_f32((uint16_t)(b >> 16));
    *size += fabs(low) + fabs(high);
    return low + high;
}

/* held: the value of c before the call, if the kernel adds to it. */
static bool compare_tiles(const struct igemm_channels_args *args, size_t n_columns, float held)
{
    const uint32_t *image = (const void *)args->a, *b = (const void *)args->b;
    for (size_t i = 0; i < args->n * n_columns; i++) {
        size_t row = i / n_columns, column = i % n_columns;
        double sum = (double)(args->bias ? args->bias[column] : held), size = 1 + fabs(sum);
        for (size_t k = 0; k < args->k; k++)
            sum += multiply_pairs(image[args->positions[row] + args->indirection[k].offset],
                                  b[k * n_columns + column], &size);
        if (args->bounds)
            sum = fmax((double)args->bounds[0], fmin((double)args->bounds[1], sum));
        double got = (double)args->c[row * args->ldc + column];
        if (!(fabs(got - sum) <= 2e-7 * size * sqrt((double)(args->k + 4))))
            return trial_fail("row %zu, column %zu: %.9g, expected %.9g", row, column, got, sum);
    }
    return true;
}

/* Positions are random, or a constant number of pairs apart. The last one ends at an unmapped
 * page. */
static bool try_tiles(const struct trial *trial, size_t n_vectors, size_t n, size_t run,
                      size_t n_runs, enum beginning beginning)
{
    const struct igemm_tiles *tiles = &trial->variant->igemm_f32->pairs.tiles;
    size_t n_columns = n_vectors * 16, k = run * n_runs, ldc = n_columns + random_below(3);
    size_t stride = random_below(4), n_image = n * 3 + n_runs * 10 + run;
    size_t image_bytes = n_image * 4, weights_bytes = k * n_columns * 4;
    size_t sums_bytes = ((n - 1) * ldc + n_columns) * sizeof(float);
    struct indirection *indirection = calloc(k + 1, sizeof *indirection);
    int32_t *positions = calloc(n, sizeof *positions);
    struct guarded images = guarded_new(image_bytes), weights = guarded_new(weights_bytes + 4);
    struct guarded sums = guarded_new(sums_bytes);
    uint32_t *image = (void *)guarded_last(&images, image_bytes);
    uint32_t *b = (void *)guarded_last(&weights, weights_bytes);
    float *c = (void *)guarded_last(&sums, sums_bytes), bias[IGEMM_MAX_VECTORS * 16];
    float held = beginning == ADDED ? 0.75F : POISON, bounds[] = {-1, 1};
    bool is_clamped = random_below(2);
    trial_says("tiles: vectors=%zu n=%zu run=%zu runs=%zu beginning=%d stride=%zu", n_vectors, n,
               run, n_runs, (int)beginning, stride);
    fill_pairs(image, n_image);
    fill_pairs(b, k * n_columns);
    for (size_t i = 0; i < k; i++)
        indirection[i].offset = (int32_t)(i / run * 10 + i % run);
    for (size_t i = 0; i < n; i++)
        positions[i] = (int32_t)(i + 1 == n   ? n * 3 + 10
                                 : stride > 0 ? i * stride
                                              : random_below((uint32_t)n));
    for (size_t i = 0; i < n_columns; i++)
        bias[i] = random_float(1.0F);
    for (size_t i = 0; i < sums_bytes / sizeof *c; i++)
        c[i] = held;
    const struct igemm_channels_args args = {.k = k,
                                             .n = n,
                                             .run = run,
                                             .a = (const float *)(const void *)image,
                                             .indirection = indirection,
                                             .positions = positions,
                                             .b = (const float *)(const void *)b,
                                             .c = c,
                                             .ldc = ldc,
                                             .bias = beginning == FROM_BIAS ? bias : NULL,
                                             .bounds = is_clamped ? bounds : NULL,
                                             .is_added = beginning == ADDED};
    tiles->multiply[n_vectors](&args);
    tiles->end();
    bool is_good = compare_tiles(&args, n_columns, beginning == ADDED ? held : 0);
    guarded_free(&images);
    guarded_free(&weights);
    guarded_free(&sums);
    free(indirection);
    free(positions);
    return is_good;
}

static bool check_tiles(const struct trial *trial)
{
    static const size_t runs[] = {16, 1, 7, 31, 48};
    if (!tiles_request(trial->variant->igemm_f32->pairs.tiles.end))
        return true;
    for (size_t i = 0; i < 5 * 3 * 50; i++)
        if (!try_tiles(trial, i % 3 + 1, i / 3 % 50 + 1, runs[random_below(5)], random_below(6),
                       (enum beginning)random_below(N_BEGINNINGS)))
            return false;
    return true;
}

bool check_igemm(const struct trial *trial)
{
    static const size_t depths[] = {0, 1, 2, 3, 9, 25, 100, 513};
    const struct igemm_microkernels *kernels = trial->variant->igemm_f32;
    for (size_t rows = 1; rows <= IGEMM_MAX_MR && kernels->run[IGEMM_UNMASKED][rows]; rows++)
        for (size_t i = 0; i < N_IGEMM_MASKINGS * N_BEGINNINGS * sizeof depths / sizeof depths[0];
             i++)
            if (!try_tile(trial, rows, depths[i / N_IGEMM_MASKINGS / N_BEGINNINGS],
                          (enum igemm_masking)(i % N_IGEMM_MASKINGS),
                          (enum beginning)(i / N_IGEMM_MASKINGS % N_BEGINNINGS)))
                return false;
    return check_channels(trial) && check_rows(trial) && check_tiles(trial);
}

static void run_tile(const void *context)
{
    const struct problem *problem = context;
    problem->run(&problem->args);
}

void measure_igemm(const struct trial *trial)
{
    static const char *const names[N_IGEMM_MASKINGS] = {"unmasked", "masked", "masked loads"};
    const struct igemm_microkernels *kernels = trial->variant->igemm_f32;
    for (size_t rows = 1; rows <= IGEMM_MAX_MR && kernels->run[IGEMM_UNMASKED][rows]; rows++) {
        for (int masking = 0; masking < N_IGEMM_MASKINGS; masking++) {
            struct problem problem;
            lay_out(trial, &problem, rows, 256, (enum igemm_masking)masking);
            double seconds = measure_s(run_tile, &problem);
            double flops = 2.0 * (double)(rows * 256 * problem.nr);
            printf("# %2zu rows of %3zu positions %-12s  %7.2f us  %6.1f GFLOP/s\n", rows,
                   problem.nr, names[masking], seconds * 1e6, flops / seconds * 1e-9);
            release(&problem);
        }
    }
}
