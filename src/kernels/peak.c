/* Measures the peak performance: repeats the loops of peak_level.c on all threads, in turns, for
 * the given time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/peak.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/huge_pages.h"
#include "kernels/kernels.h"
#include "kernels/thread_pool.h"

struct trial {
    const struct peak_kernels *kernels;
    const float *memory;
    size_t n_floats;     /* floats that each thread reads */
    double n_flops;      /* floating-point operations per thread */
    volatile float sink; /* keeps the compiler from removing the loops */
};

/* The turns of each loop: if the CPU is taken away for one of them, others remain. */
#define N_TURNS 5
#define FMA_ROUNDS 20000 /* each of 12 vector FMAs, two per cycle: 30 us at 4 GHz */

static void compute(void *context, size_t part, size_t n_parts)
{
    struct trial *trial = context;
    double n_flops;
    float sum = trial->kernels->flops(FMA_ROUNDS, &n_flops);
    (void)n_parts;
    if (part == 0) {
        trial->n_flops = n_flops;
        trial->sink = sum;
    }
}

static void read_memory(void *context, size_t part, size_t n_parts)
{
    struct trial *trial = context;
    float sum = trial->kernels->read(trial->memory + part * trial->n_floats, trial->n_floats);
    (void)n_parts;
    if (part == 0)
        trial->sink = sum;
}

/* Repeats a function for `seconds`. Returns the rate of the fastest run, in runs per second. */
static double measure(struct thread_pool *pool, thread_pool_fn *function, struct trial *trial,
                      double seconds)
{
    size_t n_parts = thread_pool_n_threads(pool);
    uint64_t start = clock_now_ns(), before = start, best = UINT64_MAX;
    do {
        thread_pool_run(pool, function, trial, n_parts);
        uint64_t now = clock_now_ns();
        best = now - before < best ? now - before : best;
        before = now;
    } while ((double)(before - start) < seconds * 1e9 || best == 0);
    return 1e9 / (double)best;
}

bool peak_measure(const struct kernels *kernels, struct thread_pool *pool, size_t n_bytes,
                  double seconds, double *flops_per_s, double *bytes_per_s, struct irrun_error *err)
{
    size_t n_threads = thread_pool_n_threads(pool), block_bytes = PEAK_BLOCK * sizeof(float);
    size_t n_blocks = n_bytes / (block_bytes * n_threads) + 1, allocated;
    struct trial trial = {.kernels = kernels->peak, .n_floats = n_blocks * PEAK_BLOCK};
    n_bytes = n_threads * n_blocks * block_bytes;
    float *memory = huge_alloc_at_least(0, n_bytes, 0, &allocated, err);
    if (!memory)
        return false;
    for (size_t i = 0; i < n_bytes / sizeof(float); i++)
        memory[i] = 1;
    trial.memory = memory;
    double turn_s = seconds / (2 * N_TURNS), computed_per_s = 0, read_per_s = 0;
    for (int i = 0; i < N_TURNS; i++) {
        computed_per_s = fmax(computed_per_s, measure(pool, compute, &trial, turn_s));
        read_per_s = fmax(read_per_s, measure(pool, read_memory, &trial, turn_s));
    }
    *flops_per_s = computed_per_s * (double)n_threads * trial.n_flops;
    *bytes_per_s = read_per_s * (double)n_bytes;
    free(memory);
    return true;
}
