/* A thread pool: the caller and its workers, which wait for a job that is cut into parts. What a
 * part computes depends on its number alone, never on who does it: so results do not depend on the
 * number of threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_THREAD_POOL_H
#define IRRUN_KERNELS_THREAD_POOL_H

#include <stdint.h>

#include "base/error.h"

#define THREAD_POOL_MAX_THREADS 256

struct thread_pool; /* NULL is a pool of one: the caller */

/* Part `part` of n_parts, from 0. Does not use the pool but for thread_pool_barrier. */
typedef void thread_pool_fn(void *context, size_t part, size_t n_parts);

/* n_threads counts the caller, 1 to THREAD_POOL_MAX_THREADS. NULL with *err filled on failure. */
struct thread_pool *thread_pool_new(unsigned n_threads, struct irrun_error *err);
void thread_pool_free(struct thread_pool *pool);

unsigned thread_pool_n_threads(const struct thread_pool *pool);

/* How many parts so much work is worth that can be cut into n: 1, or as many as there are threads.
 * Work is counted in multiply-adds of a packed product, 50 per ns with AVX-512. */
size_t thread_pool_n_parts(const struct thread_pool *pool, double work, size_t n);

/* Does all parts and returns when they are done. Neighbouring parts go to one thread, and the same
 * ones to the same thread every time as long as all keep up; who has done its own does those that
 * others have not begun. Giving a job away costs about 0.2 us, and tens of microseconds pass before
 * a thread that sleeps takes part: the caller of the job decides from its size. One job at a
 * time. */
void thread_pool_run(struct thread_pool *pool, thread_pool_fn *function, void *context,
                     size_t n_parts);

/* Between jobs: `watch` is called after every part by its thread, which has a number from 1, but
 * not by the caller, with the time on CLOCK_MONOTONIC. NULL: no more. */
typedef void thread_pool_watch_fn(void *context, unsigned thread, uint64_t start_ns,
                                  uint64_t end_ns);
void thread_pool_watch(struct thread_pool *pool, thread_pool_watch_fn *watch, void *context);

/* Within a job of at most thread_pool_n_threads parts: waits until all parts have come here as
 * often as this one. What they wrote before, this one then sees. About 0.2 us. */
void thread_pool_barrier(struct thread_pool *pool, size_t part);

#endif
