/* Measures the peak performance of the machine, with which --profile compares the performance of
 * ops.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_PEAK_H
#define IRRUN_KERNELS_PEAK_H

#include <stddef.h>

#include "base/error.h"

struct kernels;
struct thread_pool;

/* Computes n rounds of independent f32 multiply-adds in registers, and sets *n_flops to the number
 * of floating-point operations. Returns a number that depends on all results. */
typedef float peak_flops_fn(size_t n, double *n_flops);

/* Reads n floats, a multiple of PEAK_BLOCK, and returns their sum. */
#define PEAK_BLOCK 256
typedef float peak_read_fn(const float *from, size_t n);

struct peak_kernels {
    peak_flops_fn *flops;
    peak_read_fn *read;
};

/* Measures the floating-point operations per second of all threads of the pool together, and the
 * bytes per second that they read from n_bytes of memory. Takes about `seconds`. Fails if memory
 * runs out. */
bool peak_measure(const struct kernels *kernels, struct thread_pool *pool, size_t n_bytes,
                  double seconds, double *flops_per_s, double *bytes_per_s,
                  struct irrun_error *err);

#endif
