/* Image tiles against sums in double, with every piece of the image at the edge of what may be
 * read.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"

#define POISON (-12345.0F)

struct problem {
    struct image_tile tile;
    image_tile_fn *run;
    enum image_tile_kind kind;
    size_t rows, width, n_image;
    struct guarded image, weights, sums;
};

static void lay_out(const struct trial *trial, struct problem *problem, size_t rows, size_t k,
                    enum image_tile_kind kind)
{
    const struct image_tiles *tiles = trial->variant->image_tiles;
    size_t width = tiles->widths[rows];
    struct image_piece *pieces = malloc((k + 1) * sizeof *pieces);
    unsigned char *masks = malloc((k + 1) * (width / 8));
    *problem = (struct problem){
        .run = tiles->tiles[kind][rows], .kind = kind, .rows = rows, .width = width};
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
        pieces[i] = (struct image_piece){(int32_t)(i == 0 ? 40 : random_below(41)),
                                         (uint32_t)(i * (width / 8))};
    /* What is masked may lie where nothing can be read. */
    if (kind == TILE_EDGE && k > 0) {
        pieces[0].offset = (int32_t)(problem->n_image - 8);
        memset(masks, 0, width / 8);
        masks[0] = 0xFF;
    }
    problem->tile = (struct image_tile){
        .k = k,
        .image = image,
        .masks = masks,
        .pieces = pieces,
        .weights = weights,
        .sums = (void *)guarded_last(&problem->sums, rows * width * sizeof(float)),
    };
}

static void release(struct problem *problem)
{
    guarded_free(&problem->image);
    guarded_free(&problem->weights);
    guarded_free(&problem->sums);
    free((void *)problem->tile.pieces);
    free((void *)problem->tile.masks);
}

/* held: what sums held before, if that counts. */
static bool compare(const struct problem *problem, float held)
{
    const struct image_tile *tile = &problem->tile;
    for (size_t i = 0; i < problem->rows * problem->width; i++) {
        size_t row = i / problem->width, at = i % problem->width;
        double sum = (double)(tile->starts ? tile->starts[row] : held), size = 1 + fabs(sum);
        for (size_t k = 0; k < tile->k; k++) {
            const unsigned char *mask = tile->masks + tile->pieces[k].mask;
            if (problem->kind != TILE_WHOLE && (mask[at / 8] >> at % 8 & 1) == 0)
                continue;
            double term = (double)tile->weights[k * problem->rows + row] *
                          (double)tile->image[(size_t)tile->pieces[k].offset + at];
            sum += term;
            size += fabs(term);
        }
        double got = (double)tile->sums[i];
        if (!(fabs(got - sum) <= 2e-7 * size * sqrt((double)(tile->k + 4))))
            return trial_fail("row %zu, position %zu: %.9g, expected %.9g", row, at, got, sum);
    }
    return true;
}

enum beginning { FROM_ZERO, FROM_STARTS, ADDED, N_BEGINNINGS };

static bool try_tile(const struct trial *trial, size_t rows, size_t k, enum image_tile_kind kind,
                     enum beginning beginning)
{
    struct problem problem;
    float held = beginning == ADDED ? 0.75F : POISON;
    struct guarded starts = guarded_new(rows * sizeof(float));
    float *start = (void *)guarded_last(&starts, rows * sizeof(float));
    trial_says("rows=%zu k=%zu kind=%d beginning=%d", rows, k, (int)kind, (int)beginning);
    lay_out(trial, &problem, rows, k, kind);
    for (size_t i = 0; i < rows * problem.width; i++)
        problem.tile.sums[i] = held;
    for (size_t i = 0; i < rows; i++)
        start[i] = random_float(1.0F);
    problem.tile.starts = beginning == FROM_STARTS ? start : NULL;
    problem.tile.is_added = beginning == ADDED;
    problem.run(&problem.tile);
    bool is_good = compare(&problem, beginning == ADDED ? held : 0.0F);
    guarded_free(&starts);
    release(&problem);
    return is_good;
}

bool check_image_tiles(const struct trial *trial)
{
    static const size_t depths[] = {0, 1, 2, 3, 9, 25, 100, 513};
    const struct image_tiles *tiles = trial->variant->image_tiles;
    for (size_t rows = 1; rows <= IMAGE_MAX_ROWS && tiles->tiles[TILE_WHOLE][rows]; rows++)
        for (size_t i = 0; i < N_TILE_KINDS * N_BEGINNINGS * sizeof depths / sizeof depths[0]; i++)
            if (!try_tile(trial, rows, depths[i / N_TILE_KINDS / N_BEGINNINGS],
                          (enum image_tile_kind)(i % N_TILE_KINDS),
                          (enum beginning)(i / N_TILE_KINDS % N_BEGINNINGS)))
                return false;
    return true;
}

static void run_tile(const void *context)
{
    const struct problem *problem = context;
    problem->run(&problem->tile);
}

void measure_image_tiles(const struct trial *trial)
{
    static const char *const names[N_TILE_KINDS] = {"whole ", "masked", "edge  "};
    const struct image_tiles *tiles = trial->variant->image_tiles;
    for (size_t rows = 1; rows <= IMAGE_MAX_ROWS && tiles->tiles[TILE_WHOLE][rows]; rows++) {
        for (int kind = 0; kind < N_TILE_KINDS; kind++) {
            struct problem problem;
            lay_out(trial, &problem, rows, 256, (enum image_tile_kind)kind);
            double seconds = measure_s(run_tile, &problem);
            double flops = 2.0 * (double)(rows * 256 * problem.width);
            printf("# %2zu rows of %3zu positions %s  %7.2f us  %6.1f GFLOP/s\n", rows,
                   problem.width, names[kind], seconds * 1e6, flops / seconds * 1e-9);
            release(&problem);
        }
    }
}
