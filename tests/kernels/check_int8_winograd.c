/* Checks convolutions of bytes by Winograd's F(2x2, 3x3) against their definition, bit for bit,
 * also with the largest bytes and weights.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check_kernels.h"

#define READ_BEHIND 15 /* bytes that a kernel may read behind the image */

struct problem {
    struct int8_winograd w;
    struct guarded image, filters, packed, start, scale, bias, low, high, c, inputs, products;
    const int8_t *whole; /* the filters before they are packed */
};

static void *alloc_guarded(struct guarded *guarded, size_t n_bytes)
{
    *guarded = guarded_new(n_bytes);
    return guarded_last(guarded, n_bytes);
}

static void fill_requantization(struct problem *problem, size_t columns)
{
    int32_t *start = alloc_guarded(&problem->start, columns * sizeof *start);
    float *scale = alloc_guarded(&problem->scale, columns * sizeof *scale);
    float *bias = alloc_guarded(&problem->bias, columns * sizeof *bias);
    float *low = alloc_guarded(&problem->low, columns * sizeof *low);
    float *high = alloc_guarded(&problem->high, columns * sizeof *high);
    for (size_t i = 0; i < columns; i++) {
        start[i] = (int32_t)random_below(1 << 20) - (1 << 19);
        scale[i] = random_float(1e-3F);
        bias[i] = random_float(100) + 100;
        low[i] = (float)random_below(100);
        high[i] = low[i] + (float)random_below(155);
    }
    problem->w.start = start;
    problem->w.requantization = (struct requantization){scale, bias, low, high};
}

static void problem_new(size_t height, size_t width, size_t c_in, size_t c_out,
                        struct problem *problem)
{
    size_t n_columns = (width + 1) / 2, n = (height + 1) / 2 * n_columns;
    size_t columns = int8_n_groups(c_out) * INT8_GROUP, row_bytes = (2 * n_columns + 2) * c_in;
    size_t image_bytes = ((height + 1) / 2 * 2 + 2) * row_bytes;
    size_t n_packed = columns * INT8_WINOGRAD_POSITIONS * ((c_in + 1) / 2) * 2;
    bool is_extreme = random_below(3) == 0;
    uint8_t *image = alloc_guarded(&problem->image, image_bytes + READ_BEHIND);
    int8_t *whole = alloc_guarded(&problem->filters, c_out * c_in * 9);
    int16_t *packed = alloc_guarded(&problem->packed, n_packed * sizeof *packed);
    for (size_t i = 0; i < image_bytes; i++)
        image[i] = (uint8_t)(is_extreme ? random_below(2) * 255 : random_below(256));
    for (size_t i = 0; i < c_out * c_in * 9; i++)
        whole[i] = (int8_t)(is_extreme ? i / 9 / c_in % 2 * 255 - 128U : random_below(256) - 128U);
    memset(packed, 0, n_packed * sizeof *packed);
    int8_winograd_pack(whole, c_out, c_in, packed);
    problem->whole = whole;
    problem->w = (struct int8_winograd){
        .n = n,
        .n_columns = n_columns,
        .image = image,
        .row_bytes = row_bytes,
        .c_in = c_in,
        .c_out = c_out,
        .end = int8_n_groups(c_out),
        .filters = packed,
        .c = alloc_guarded(&problem->c, height * width * c_out),
        .out = {height, width},
        .inputs = alloc_guarded(&problem->inputs,
                                2 * INT8_WINOGRAD_POSITIONS * int8_winograd_step(n, c_in)),
        .products = alloc_guarded(&problem->products,
                                  4 * INT8_WINOGRAD_POSITIONS * int8_winograd_products_step(n)),
    };
    fill_requantization(problem, columns);
}

static void problem_free(struct problem *problem)
{
    struct guarded *all[] = {&problem->image, &problem->filters, &problem->packed,  &problem->start,
                             &problem->scale, &problem->bias,    &problem->low,     &problem->high,
                             &problem->c,     &problem->inputs,  &problem->products};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        guarded_free(all[i]);
}

static bool is_right(const struct problem *problem, size_t y, size_t x, size_t column)
{
    const struct int8_winograd *w = &problem->w;
    int32_t sum = w->start[column];
    for (size_t i = 0; i < 9 * w->c_in; i++) {
        size_t c = i / 9, tap = i % 9;
        sum += w->image[(y + tap / 3) * w->row_bytes + (x + tap % 3) * w->c_in + c] *
               problem->whole[column * 9 * w->c_in + i];
    }
    volatile float scaled =
        (float)sum * w->requantization.scale[column]; /* rounded before the addition */
    float low = w->requantization.low[column], high = w->requantization.high[column];
    float result = scaled + w->requantization.bias[column];
    result = result < low ? low : result > high ? high : result;
    return w->c[(y * w->out[1] + x) * w->c_out + column] == (uint8_t)nearbyintf(result);
}

/* Computes the output in four parts: two ranges of tiles in two ranges of groups. */
static bool try_sizes(const struct trial *trial, size_t height, size_t width, size_t c_in,
                      size_t c_out)
{
    struct problem problem;
    problem_new(height, width, c_in, c_out, &problem);
    trial_says("%zux%zu, %zu to %zu channels", height, width, c_in, c_out);
    struct int8_winograd w = problem.w;
    size_t n_first = random_below((uint32_t)w.n + 1), group = random_below((uint32_t)w.end + 1);
    for (int i = 0; i < 4; i++) {
        struct int8_winograd part = w;
        part.first = i % 2 ? n_first : 0;
        part.n = i % 2 ? w.n - n_first : n_first;
        part.begin = i / 2 ? group : 0;
        part.end = i / 2 ? w.end : group;
        trial->variant->gemm_int8->winograd(&part);
    }
    bool is_good = true;
    for (size_t i = 0; i < height * width * c_out && is_good; i++) {
        size_t pixel = i / c_out;
        is_good = is_right(&problem, pixel / width, pixel % width, i % c_out) ||
                  trial_fail("pixel %zu, channel %zu", pixel, i % c_out);
    }
    problem_free(&problem);
    return is_good;
}

bool check_int8_winograd(const struct trial *trial)
{
    if (!trial->variant->gemm_int8->winograd)
        return true;
    for (size_t i = 0; i < 150; i++)
        if (!try_sizes(trial, 1 + random_below(9), 1 + random_below(9), 1 + random_below(40),
                       1 + random_below(40)))
            return false;
    return try_sizes(trial, 3, 4, 1024, 17);
}

static void convolve(const void *context)
{
    const struct trial *trial = ((const void *const *)context)[0];
    trial->variant->gemm_int8->winograd(((const void *const *)context)[1]);
}

void measure_int8_winograd(const struct trial *trial)
{
    struct problem problem;
    if (!trial->variant->gemm_int8->winograd)
        return;
    problem_new(8, 8, 64, 64, &problem);
    double seconds = measure_s(convolve, (const void *[]){trial, &problem.w});
    measure_line("8x8, 64 to 64 channels, i8", seconds, 2 * 8 * 8 * 64 + 9 * 64 * 64);
    problem_free(&problem);
}
