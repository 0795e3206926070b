/* Checks the loops that measure the peak performance: their number of operations, and their sum of
 * the elements in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "check_kernels.h"

#include <stdio.h>

enum { N_FLOATS = 4 * PEAK_BLOCK };

bool check_peak(const struct trial *trial)
{
    const struct peak_kernels *kernels = trial->variant->peak;
    struct guarded memory = guarded_new(N_FLOATS * sizeof(float));
    float *from = (void *)guarded_last(&memory, N_FLOATS * sizeof(float));
    double n_flops, once;
    trial_says("flops, whose lanes converge to 1");
    kernels->flops(1, &once);
    float sum = kernels->flops(1000, &n_flops);
    bool is_good = once >= 2 && n_flops == 1000 * once && (double)sum == once / 2;
    if (!is_good)
        trial_fail("%.9g of %.9g operations", (double)sum, n_flops);
    for (size_t i = 0; i < N_FLOATS; i++)
        from[i] = (float)(i % 7);
    float expected = 0;
    for (size_t i = 0; i < N_FLOATS; i++)
        expected += from[i];
    sum = kernels->read(from, N_FLOATS);
    trial_says("the sum of elements in memory");
    if (sum != expected)
        is_good = trial_fail("%.9g, expected %.9g", (double)sum, (double)expected);
    guarded_free(&memory);
    return is_good;
}

static void run_flops(const void *context)
{
    const struct trial *trial = context;
    double n_flops;
    trial->variant->peak->flops(1000, &n_flops);
}

struct reading {
    const struct trial *trial;
    const float *from;
};

static void run_read(const void *context)
{
    const struct reading *reading = context;
    reading->trial->variant->peak->read(reading->from, N_FLOATS);
}

void measure_peak(const struct trial *trial)
{
    float from[N_FLOATS] = {0};
    double n_flops;
    trial->variant->peak->flops(1000, &n_flops);
    printf("#   %-28s %10.1f GFLOP/s\n", "1000 rounds",
           n_flops * 1e-9 / measure_s(run_flops, trial));
    measure_line("a sum", measure_s(run_read, &(struct reading){trial, from}), sizeof from);
}
