/* kernels/thread_pool: every part runs exactly once, for any number of threads, asleep or awake. No
 * job waits for a thread that does not come.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
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

/* Part 0 of a gang, which the caller runs, waits for part 1, so another thread must run that. */
struct meeting {
    atomic_bool is_done;
    unsigned n_gangs, n_alone;
    pthread_t other;
};

static void wait_for_other(void *context, size_t part, size_t n_parts)
{
    struct meeting *meeting = context;
    if (part == 1) {
        meeting->other = pthread_self();
        atomic_store(&meeting->is_done, true);
        return;
    }
    while (n_parts == 2 && !atomic_load(&meeting->is_done))
        doze(10);
    meeting->n_gangs += n_parts == 2;
    meeting->n_alone += n_parts == 1;
}

/* Meets until n gangs have run. The caller may run jobs alone for at most a second. */
static void meet(struct thread_pool *pool, struct meeting *meeting, unsigned n)
{
    time_t start = time(NULL);
    for (unsigned i = 0; meeting->n_gangs < n; i++) {
        doze(i % 2 * 100);
        atomic_store(&meeting->is_done, false);
        thread_pool_run_gang(pool, wait_for_other, meeting, 2, 1);
        assert_int_equal(meeting->n_gangs + meeting->n_alone, i + 1);
        assert_true(time(NULL) < start + 60);
    }
}

static void works_at_the_same_time(void **state)
{
    (void)state;
    struct thread_pool *pool = new_pool(2);
    meet(pool, &(struct meeting){0}, 5);
    thread_pool_free(pool);
}

static atomic_bool is_held, is_released;

static void hold(int number)
{
    (void)number;
    atomic_store(&is_held, true);
    while (!atomic_load(&is_released))
        doze(100);
    atomic_store(&is_held, false);
}

/* A signal handler keeps the other thread from its work, as a busy core does. */
static void does_not_wait_for_a_thread_that_is_not_there(void **state)
{
    enum { N_GANGS = 100 };
    (void)state;
    struct thread_pool *pool = new_pool(2);
    struct meeting before = {0}, during = {0}, after = {0};
    struct sigaction action = {.sa_handler = hold}, old;
    meet(pool, &before, 1);
    assert_int_equal(sigaction(SIGTRAP, &action, &old), 0);
    assert_int_equal(pthread_kill(before.other, SIGTRAP), 0);
    while (!atomic_load(&is_held))
        doze(100);
    for (unsigned i = 0; i < N_GANGS; i++)
        thread_pool_run_gang(pool, wait_for_other, &during, 2, 1);
    check_jobs(pool);
    atomic_store(&is_released, true);
    meet(pool, &after, 1);
    assert_int_equal(during.n_alone, N_GANGS);
    assert_int_equal(sigaction(SIGTRAP, &old, NULL), 0);
    thread_pool_free(pool);
}

enum { N_MEETINGS = 40 };

struct relay {
    struct thread_pool *pool;
    unsigned values[4]; /* of each part, read by its neighbour after each barrier */
    atomic_uint n_wrong, n_gangs;
};

static void pass_on(void *context, size_t part, size_t n_parts)
{
    struct relay *relay = context;
    if (n_parts == 1)
        return;
    relay->n_gangs += part == 0;
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
    for (unsigned n = 2; n <= 4; n++) {
        struct relay relay = {.pool = new_pool(n)};
        for (size_t n_parts = 2; n_parts <= n; n_parts++)
            for (relay.n_gangs = 0; relay.n_gangs < 5;)
                thread_pool_run_gang(relay.pool, pass_on, &relay, n_parts, 1);
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
        cmocka_unit_test(does_not_wait_for_a_thread_that_is_not_there),
        cmocka_unit_test(parts_wait_at_a_barrier),
        cmocka_unit_test(divides_small_jobs_into_few_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
