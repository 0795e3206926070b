/* kernels/thread_pool: every part runs exactly once, for any number of threads, asleep or awake.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "kernels/thread_pool.h"

enum { MAX_PARTS = 100, N_JOBS = 150 };

static struct thread_pool *new_pool(unsigned n_threads)
{
    struct irrun_error err;
    error_clear(&err);
    struct thread_pool *pool = thread_pool_new(n_threads, &err);
    assert_non_null(pool);
    assert_int_equal(thread_pool_n_threads(pool), n_threads);
    return pool;
}

static void doze(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

/* Not atomic: a part that runs twice, or a caller that does not wait, is a data race. */
struct counts {
    unsigned n[MAX_PARTS];
    size_t n_parts;
};

static void count_part(void *context, size_t part, size_t n_parts)
{
    struct counts *counts = context;
    counts->n[part] += n_parts == counts->n_parts;
}

static void check_jobs(struct thread_pool *pool)
{
    for (size_t job = 0; job < N_JOBS; job++) {
        struct counts counts = {.n_parts = job % (MAX_PARTS + 1)};
        thread_pool_run(pool, count_part, &counts, counts.n_parts);
        for (size_t i = 0; i < MAX_PARTS; i++)
            assert_int_equal(counts.n[i], i < counts.n_parts);
    }
}

static void does_every_part_once(void **state)
{
    (void)state;
    check_jobs(NULL);
    for (unsigned n = 1; n <= 5; n++) {
        struct thread_pool *pool = new_pool(n);
        check_jobs(pool);
        thread_pool_free(pool);
    }
}

static void wakes_threads_that_sleep(void **state)
{
    (void)state;
    struct thread_pool *pool = new_pool(3);
    for (int i = 0; i < 30; i++) {
        struct counts counts = {.n_parts = 3};
        doze(i % 3 * 100);
        thread_pool_run(pool, count_part, &counts, 3);
        for (size_t part = 0; part < 3; part++)
            assert_int_equal(counts.n[part], 1);
    }
    thread_pool_free(pool);
}

static void ends_awake_or_asleep(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct thread_pool *pool = new_pool(1 + (unsigned)i % 4);
        doze(i % 5 * 10);
        thread_pool_free(pool);
    }
    thread_pool_free(NULL);
}

/* Part 0, which the caller runs, waits for part 1, so another thread must run that. */
static void wait_for_other(void *context, size_t part, size_t n_parts)
{
    atomic_bool *is_done = context;
    (void)n_parts;
    if (part == 1)
        atomic_store(is_done, true);
    while (!atomic_load(is_done))
        doze(10);
}

static void works_at_the_same_time(void **state)
{
    (void)state;
    struct thread_pool *pool = new_pool(2);
    for (int i = 0; i < 20; i++) {
        atomic_bool is_done = false;
        doze(i % 2 * 100);
        thread_pool_run_gang(pool, wait_for_other, &is_done, 2);
    }
    thread_pool_free(pool);
}

enum { N_MEETINGS = 40 };

struct relay {
    struct thread_pool *pool;
    unsigned values[4]; /* of each part, read by its neighbour after each barrier */
    atomic_uint n_wrong;
};

static void pass_on(void *context, size_t part, size_t n_parts)
{
    struct relay *relay = context;
    for (unsigned i = 1; i <= N_MEETINGS; i++) {
        relay->values[part] = i;
        thread_pool_barrier(relay->pool, part);
        relay->n_wrong += relay->values[(part + 1) % n_parts] != i;
        thread_pool_barrier(relay->pool, part);
    }
}

static void parts_wait_at_a_barrier(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 4; n++) {
        struct relay relay = {.pool = new_pool(n)};
        for (size_t n_parts = 1; n_parts <= n; n_parts++)
            for (int i = 0; i < 5; i++)
                thread_pool_run_gang(relay.pool, pass_on, &relay, n_parts);
        /* A single part does not wait, also after a job of several parts. */
        thread_pool_run_gang(relay.pool, pass_on, &relay, 1);
        assert_int_equal(relay.n_wrong, 0);
        thread_pool_free(relay.pool);
    }
}

static void divides_small_jobs_into_few_parts(void **state)
{
    (void)state;
    struct thread_pool *pool = new_pool(4);
    assert_int_equal(thread_pool_n_parts(pool, 1000, SIZE_MAX), 1);
    assert_int_equal(thread_pool_n_parts(NULL, 1e9, SIZE_MAX), 1);
    size_t before = 1;
    for (double work = 1000; work < 1e9; work *= 1.5) {
        size_t n = thread_pool_n_parts(pool, work, SIZE_MAX);
        assert_true(n >= before && n <= 4);
        assert_int_equal(thread_pool_n_parts(pool, work, 1), 1);
        before = n;
    }
    assert_int_equal(before, 4);
    thread_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(does_every_part_once),
        cmocka_unit_test(wakes_threads_that_sleep),
        cmocka_unit_test(ends_awake_or_asleep),
        cmocka_unit_test(works_at_the_same_time),
        cmocka_unit_test(parts_wait_at_a_barrier),
        cmocka_unit_test(divides_small_jobs_into_few_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
