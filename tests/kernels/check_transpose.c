/* Checks transpositions of all small sizes, in memory that ends at an unmapped page.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"

#define POISON (-12345.0F)

static bool try_size(const struct trial *trial, size_t n_rows, size_t n_columns)
{
    size_t from_stride = n_columns + random_below(3), to_stride = n_rows + random_below(3);
    size_t n_from = (n_rows - 1) * from_stride + n_columns;
    size_t n_to = (n_columns - 1) * to_stride + n_rows;
    struct guarded source = guarded_new(n_from * sizeof(float));
    struct guarded target = guarded_new(n_to * sizeof(float));
    float *from = (void *)guarded_last(&source, n_from * sizeof(float));
    float *to = (void *)guarded_last(&target, n_to * sizeof(float));
    bool is_good = true;

    trial_says("%zu rows, %zu columns", n_rows, n_columns);
    random_fill(from, n_from * sizeof(float));
    for (size_t i = 0; i < n_to; i++)
        to[i] = POISON;
    trial->variant->transpose_f32(
        &(struct transpose_f32){n_rows, n_columns, from, from_stride, to, to_stride});
    for (size_t i = 0; i < n_to && is_good; i++) {
        size_t row = i % to_stride, column = i / to_stride;
        const float poison = POISON;
        const float *expected = row < n_rows ? from + row * from_stride + column : &poison;
        if (memcmp(to + i, expected, sizeof *expected) != 0)
            is_good = trial_fail("row %zu, column %zu: %.9g, expected %.9g", row, column,
                                 (double)to[i], (double)*expected);
    }
    guarded_free(&source);
    guarded_free(&target);
    return is_good;
}

bool check_transpose(const struct trial *trial)
{
    for (size_t i = 0; i < 35 * 35; i++)
        if (!try_size(trial, 1 + i / 35, 1 + i % 35))
            return false;
    return true;
}

static void run_transpose(const void *context)
{
    const struct trial *trial = context;
    static float from[128 * 256], to[128 * 256];
    trial->variant->transpose_f32(&(struct transpose_f32){128, 256, from, 256, to, 128});
}

void measure_transpose(const struct trial *trial)
{
    measure_line("128 x 256 f32", measure_s(run_transpose, trial), 2 * 128 * 256 * sizeof(float));
}
