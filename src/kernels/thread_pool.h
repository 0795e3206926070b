/* A thread pool: the calling thread and workers that wait for jobs. A job is divided into parts.
 * What a part computes depends on its number only, not on the thread that runs it, so results do
 * not depend on the number of threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_THREAD_POOL_H
#define IRRUN_KERNELS_THREAD_POOL_H

#include <stdint.h>

#include "base/error.h"

#define THREAD_POOL_MAX_THREADS 256

struct thread_pool; /* NULL: the calling thread only */

/* Runs part `part` of n_parts. Must not use the pool except for thread_pool_barrier. */
typedef void thread_pool_fn(void *context, size_t part, size_t n_parts);

/* Creates a pool of n_threads, 1 to THREAD_POOL_MAX_THREADS, including the caller. Returns NULL
 * with *err filled on failure. */
struct thread_pool *thread_pool_new(unsigned n_threads, struct irrun_error *err);
void thread_pool_free(struct thread_pool *pool);

unsigned thread_pool_n_threads(const struct thread_pool *pool);

/* Returns the number of parts of a job, at most n: 1 if the job is small, otherwise the number of
 * threads, or fewer if the parts would be too small. The unit of work is a multiply-add
 * of a packed product, of which AVX-512 does 50 per ns. */
size_t thread_pool_n_parts(const struct thread_pool *pool, double work, size_t n);

/* Runs all parts and returns when they are done. Each thread begins with a contiguous range of
 * parts, which is the same for every job with the same n_parts. A thread that finishes its range
 * takes parts that other threads have not started. Handing over a job costs about 0.3 us. The
 * caller runs all parts itself while other processes keep the threads from their cores, or if the
 * threads sleep and recent jobs were too small to wake them, which takes 30 us. Only one job runs
 * at a time. */
void thread_pool_run(struct thread_pool *pool, thread_pool_fn *function, void *context,
                     size_t n_parts);

/* Runs n_parts parts, at most thread_pool_n_threads, at the same time: they may use the barrier. If
 * n_parts is 1, or thread_pool_run would run all parts in the caller, runs n_alone parts in turn
 * instead, which may not use it. */
void thread_pool_run_gang(struct thread_pool *pool, thread_pool_fn *function, void *context,
                          size_t n_parts, size_t n_alone);

/* Sets a function that each worker calls after every part, with its number (from 1) and the time on
 * CLOCK_MONOTONIC; the caller's parts are not reported. NULL removes it. Not during a job. */
typedef void thread_pool_watch_fn(void *context, unsigned thread, uint64_t start_ns,
                                  uint64_t end_ns);
void thread_pool_watch(struct thread_pool *pool, thread_pool_watch_fn *watch, void *context);

/* Waits, in one of several parts of thread_pool_run_gang, until all have called it as often as this
 * one. Memory writes before the barrier are visible after it. Takes about 0.2 us. */
void thread_pool_barrier(struct thread_pool *pool, size_t part);

#endif
