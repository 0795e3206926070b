/* The loops of peak.h, compiled for each CPU level. They keep the multipliers or the memory bus
 * busy.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

/* The number of independent sums, which keeps two multipliers with a latency of up to 6 cycles
 * busy. */
#define N_SUMS 12

static float add_lanes(const vec *sums, size_t n)
{
    float lanes[VECTOR_LANES], sum = 0;
    for (size_t i = 0; i < n; i++) {
        vec_store(lanes, sums[i]);
        for (size_t k = 0; k < VECTOR_LANES; k++)
            sum += lanes[k];
    }
    return sum;
}

/* Multiplies and adds; the sums converge to 1. */
static float peak_flops(size_t n, double *n_flops)
{
    const vec factor = vec_set1(0.5F), term = vec_set1(0.5F);
    vec sums[N_SUMS];
    UNROLL
    for (size_t i = 0; i < N_SUMS; i++)
        sums[i] = vec_set1((float)i);
    for (size_t k = 0; k < n; k++) {
        UNROLL
        for (size_t i = 0; i < N_SUMS; i++)
            sums[i] = vec_fma(sums[i], factor, term);
    }
    *n_flops = 2.0 * N_SUMS * VECTOR_LANES * (double)n;
    return add_lanes(sums, N_SUMS);
}

static float peak_read(const float *from, size_t n)
{
    enum { N = 8 };
    vec sums[N];
    UNROLL
    for (size_t i = 0; i < N; i++)
        sums[i] = vec_zero();
    for (size_t k = 0; k < n; k += N * VECTOR_LANES) {
        UNROLL
        for (size_t i = 0; i < N; i++)
            sums[i] = vec_add(sums[i], vec_load(from + k + i * VECTOR_LANES));
    }
    return add_lanes(sums, N);
}

const struct peak_kernels LEVEL_NAME(peak, LEVEL) = {peak_flops, peak_read};
