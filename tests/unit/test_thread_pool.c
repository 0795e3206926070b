/* kernels/thread_pool: every part runs exactly once, for any number of threads, sleeping or awake.
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

static void sleep_us(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

/* Not atomic, so that a part that runs twice, or a caller that does not wait, is a data race. */
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
        sleep_us(i % 3 * 100);
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
        sleep_us(i % 5 * 10);
        thread_pool_free(pool);
    }
    thread_pool_free(NULL);
}

/* The first job of a pool is always shared; later ones may run alone, on a busy machine. */
struct meeting {
    struct thread_pool *pool;
    unsigned n_gangs, n_alone;
    atomic_bool is_done;
};

static bool runs_alone(struct meeting *meeting, size_t part, size_t n_parts)
{
    if (part == 0)
        *(n_parts > 1 ? &meeting->n_gangs : &meeting->n_alone) += 1;
    return n_parts == 1;
}

/* Part 0, which the caller runs, waits for part 1, so another thread must run part 1. */
static void wait_for_other(void *context, size_t part, size_t n_parts)
{
    struct meeting *meeting = context;
    if (part == 1)
        atomic_store(&meeting->is_done, true);
    else if (!runs_alone(meeting, part, n_parts))
        while (!atomic_load(&meeting->is_done))
            sleep_us(10);
}

static void works_at_the_same_time(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct meeting meeting = {.pool = new_pool(2 + (unsigned)i % 3)};
        sleep_us(i % 2 * 1000);
        thread_pool_run_gang(meeting.pool, wait_for_other, &meeting, 2, 1);
        assert_true(meeting.n_gangs == 1 && meeting.n_alone == 0);
        thread_pool_free(meeting.pool);
    }
    struct meeting alone = {0};
    thread_pool_run_gang(NULL, wait_for_other, &alone, 1, 1);
    assert_int_equal(alone.n_alone, 1);
}

/* Makes the caller wait for another thread, as if another process used its core. If the caller runs
 * alone, the job takes so long that waking the thread is worthwhile. */
static void make_caller_wait(void *context, size_t part, size_t n_parts)
{
    struct meeting *meeting = context;
    if (part == 1)
        sleep_us(5000);
    if (runs_alone(meeting, part, n_parts))
        sleep_us(1000);
    else
        thread_pool_barrier(meeting->pool, part);
}

static void runs_alone_after_it_has_waited(void **state)
{
    (void)state;
    struct meeting meeting = {.pool = new_pool(2)};
    do {
        thread_pool_run_gang(meeting.pool, make_caller_wait, &meeting, 2, 1);
        assert_true(meeting.n_gangs > 0);
    } while (meeting.n_alone == 0);
    for (unsigned before = meeting.n_gangs; meeting.n_gangs == before;)
        thread_pool_run_gang(meeting.pool, make_caller_wait, &meeting, 2, 1);
    thread_pool_free(meeting.pool);
}

enum { N_MEETINGS = 40 };

struct relay {
    struct meeting meeting;
    unsigned values[4]; /* of each part, read by its neighbour after each barrier */
    atomic_uint n_wrong;
};

static void pass_on(void *context, size_t part, size_t n_parts)
{
    struct relay *relay = context;
    if (runs_alone(&relay->meeting, part, n_parts))
        return;
    for (unsigned i = 1; i <= N_MEETINGS; i++) {
        relay->values[part] = i;
        thread_pool_barrier(relay->meeting.pool, part);
        relay->n_wrong += relay->values[(part + 1) % n_parts] != i;
        thread_pool_barrier(relay->meeting.pool, part);
    }
}

static void parts_wait_at_a_barrier(void **state)
{
    enum { N_RUNS = 5 };
    (void)state;
    for (unsigned n = 2; n <= 4; n++) {
        for (size_t n_parts = 2; n_parts <= n; n_parts++) {
            struct relay relay = {.meeting.pool = new_pool(n)};
            for (int i = 0; i < N_RUNS; i++)
                thread_pool_run_gang(relay.meeting.pool, pass_on, &relay, n_parts, 1);
            assert_true(relay.meeting.n_gangs > 0);
            assert_int_equal(relay.meeting.n_gangs + relay.meeting.n_alone, N_RUNS);
            assert_int_equal(relay.n_wrong, 0);
            thread_pool_free(relay.meeting.pool);
        }
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
        cmocka_unit_test(runs_alone_after_it_has_waited),
        cmocka_unit_test(parts_wait_at_a_barrier),
        cmocka_unit_test(divides_small_jobs_into_few_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
