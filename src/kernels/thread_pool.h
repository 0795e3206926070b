/* A thread pool: the calling thread and workers that wait for jobs. A job is divided into numbered
 * parts. A part must compute the same in every thread, so that results do not depend on the number
 * of threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_THREAD_POOL_H
#define IRRUN_KERNELS_THREAD_POOL_H

#include <stdint.h>

#include "base/error.h"

#define THREAD_POOL_MAX_THREADS 256

struct thread_pool; /* NULL: the calling thread only */

/* Runs part `part` of n_parts. Must not call functions of the pool except thread_pool_barrier. */
typedef void thread_pool_fn(void *context, size_t part, size_t n_parts);

/* Creates a pool of n_threads threads, 1 to THREAD_POOL_MAX_THREADS, including the caller. Returns
 * NULL with *err filled on failure. */
struct thread_pool *thread_pool_new(unsigned n_threads, struct irrun_error *err);
void thread_pool_free(struct thread_pool *pool);

unsigned thread_pool_n_threads(const struct thread_pool *pool);

/* Returns the number of parts for a job, at most n: 1 if the job is small, otherwise the number of
 * threads, or fewer if the parts would be too small. `work` is in multiply-adds of a packed
 * product, of which AVX-512 computes 50 per ns. */
size_t thread_pool_n_parts(const struct thread_pool *pool, double work, size_t n);

/* Runs all parts and returns when they are done. Each thread begins with a contiguous range of
 * parts, which is the same for every job with the same n_parts. A thread that finishes its range
 * claims unstarted parts of the remaining ranges. To hand over a job costs about 0.3 us. The caller
 * runs all parts itself while other processes occupy the cores of the workers, or if the workers
 * sleep and recent jobs were too small to justify waking them, which takes 30 us. Only one job runs
 * at a time. */
void thread_pool_run(struct thread_pool *pool, thread_pool_fn *function, void *context,
                     size_t n_parts);

/* Runs n_parts parts, at most thread_pool_n_threads, at the same time, so that they may use the
 * barrier. If n_parts is 1, or thread_pool_run would run all parts in the caller, runs n_alone
 * parts one after another instead; these must not use the barrier. */
void thread_pool_run_gang(struct thread_pool *pool, thread_pool_fn *function, void *context,
                          size_t n_parts, size_t n_alone);

/* Sets a function that each worker calls after every part, with the number of the worker (from 1)
 * and the start and end of the part on CLOCK_MONOTONIC. The caller does not report its parts. NULL
 * removes the function. Must not be called during a job. */
typedef void thread_pool_watch_fn(void *context, unsigned thread, uint64_t start_ns,
                                  uint64_t end_ns);
void thread_pool_watch(struct thread_pool *pool, thread_pool_watch_fn *watch, void *context);

/* A barrier for the parts of thread_pool_run_gang: waits until all parts have called it as often as
 * this part. Memory writes before the barrier are visible after it. Takes about 0.2 us. */
void thread_pool_barrier(struct thread_pool *pool, size_t part);

#endif
