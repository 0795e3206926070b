/* kernels/peak: what takes the CPU away for most of the measurement does not lower the peak.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <time.h>

#include "kernels/kernels.h"
#include "kernels/peak.h"

enum { PAUSE_MS = 60, N_FLOPS = 1000000 };

static int n_computed, n_read;

/* Takes as long as another process would, but only in the first call. */
static void pause_once(int *n_calls)
{
    if ((*n_calls)++ == 0)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
}

static float compute(size_t n, double *n_flops)
{
    pause_once(&n_computed);
    *n_flops = N_FLOPS;
    return (float)n;
}

static float read_floats(const float *from, size_t n)
{
    pause_once(&n_read);
    return from[n - 1];
}

static void a_pause_is_not_the_peak(void **state)
{
    (void)state;
    const struct peak_kernels fake = {compute, read_floats};
    const struct kernels kernels = {.peak = &fake};
    const size_t n_bytes = 16384;
    const double pause_s = PAUSE_MS * 1e-3;
    double flops_per_s, bytes_per_s;
    struct irrun_error err;
    error_clear(&err);
    assert_true(peak_measure(&kernels, NULL, n_bytes, 0.05, &flops_per_s, &bytes_per_s, &err));
    assert_true(flops_per_s > 10 * N_FLOPS / pause_s);
    assert_true(bytes_per_s > 10 * (double)n_bytes / pause_s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_pause_is_not_the_peak)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
