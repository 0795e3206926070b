/* Threads that spin while they wait, and sleep after a while. Each thread has an atomic counter of
 * parts, which includes the number of the job. A thread claims a part by decrementing a counter. A
 * thread that is late finds no parts, and no thread waits for one that has not started. The parts
 * of a gang start when all are claimed; if that takes too long, the caller withdraws those that are
 * not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/thread_pool.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sharing_gain.h"
#include "kernels/spin_wait.h"

#define LINE 64 /* a cache line: cores that write to the same line slow each other down */

/* Smaller jobs are not shared. This is about 1 us of work; handing a job to a spinning thread takes
 * 0.3 us. */
#define SHARE_MIN_WORK 50000

/* The caller waits this long for the threads of a gang. Waking a thread takes up to 60 us on a
 * virtual machine. */
#define GATHER_NS 100000

/* A wait spins, then yields its core, then sleeps; a sleep takes 0.1 ms or more. */
#define SPIN_NS 20000
#define YIELD_NS 1000000
#define NAP_NS 50000

/* The work of a share is the number of its unclaimed parts, | GANG, | job << 32. */
#define GANG 0x80000000U
#define PARTS (GANG - 1)

/* The parts assigned to one thread; the first share is the caller's. */
struct share {
    _Alignas(LINE) atomic_uint_fast64_t work;
    size_t end; /* the number after the last part */
    struct thread_pool *pool;
    _Alignas(LINE) atomic_uint n_arrivals; /* barriers that the part of this number has reached */
};

struct thread_pool {
    unsigned n_threads;
    pthread_t *threads; /* all except the caller */
    pthread_mutex_t lock;
    pthread_cond_t new_job; /* wakes sleeping threads */
    thread_pool_fn *function;
    void *context;
    size_t n_parts;
    thread_pool_watch_fn *watch; /* NULL: none */
    void *watch_context;
    struct sharing_gain gain;
    uint64_t waited_ns;             /* by the caller during this job */
    _Alignas(LINE) atomic_uint job; /* number of the last job */
    atomic_uint n_sleeping;
    atomic_bool is_over;
    _Alignas(LINE) atomic_size_t n_unfinished; /* parts */
    struct share shares[];
};

/* Waits a little for a thread that is running or is ready to run. */
static void wait_for_work(struct spin_wait *wait)
{
    static const struct timespec nap = {.tv_nsec = NAP_NS};
    uint64_t waited_ns = spin_wait_turn(wait);
    if (waited_ns > YIELD_NS)
        nanosleep(&nap, NULL);
    else if (waited_ns > SPIN_NS)
        sched_yield();
}

/* Claims a part. Returns the work of the share before it, or 0 if no part is left. */
static uint_fast64_t claim(struct share *share, unsigned job)
{
    uint_fast64_t work = atomic_load_explicit(&share->work, memory_order_acquire);
    while ((unsigned)(work >> 32) == job && (work & PARTS) > 0) {
        if (atomic_compare_exchange_weak_explicit(&share->work, &work, work - 1,
                                                  memory_order_acq_rel, memory_order_acquire))
            return work;
    }
    return 0;
}

/* Takes back the parts of a gang that are not claimed. Threads that claimed others find a share of
 * another job. */
static void withdraw(struct thread_pool *pool, unsigned job)
{
    for (unsigned i = 0; i < pool->n_threads; i++) {
        uint_fast64_t work = (uint_fast64_t)job << 32 | GANG | 1;
        atomic_compare_exchange_strong(&pool->shares[i].work, &work, (uint_fast64_t)~job << 32);
    }
}

/* Waits until all parts of a gang are claimed. Returns false if the job is withdrawn. Until then it
 * reads nothing else of the pool, which may have the next job. */
static bool await_gang(struct thread_pool *pool, unsigned thread, unsigned job)
{
    struct spin_wait wait = {0};
    bool is_withdrawn = false;
    for (unsigned i = 0; i < pool->n_threads && !is_withdrawn;) {
        uint_fast64_t work = atomic_load_explicit(&pool->shares[i].work, memory_order_acquire);
        is_withdrawn = (unsigned)(work >> 32) != job;
        if ((work & PARTS) == 0) {
            i++;
            continue;
        }
        wait_for_work(&wait);
        if (thread == 0 && wait.waited_ns > GATHER_NS)
            withdraw(pool, job);
    }
    if (thread == 0)
        pool->waited_ns += spin_wait_end(&wait);
    return !is_withdrawn;
}

static void do_part(struct thread_pool *pool, unsigned thread, size_t part)
{
    uint64_t start_ns = pool->watch && thread > 0 ? clock_now_ns() : 0;
    pool->function(pool->context, part, pool->n_parts);
    if (start_ns > 0)
        pool->watch(pool->watch_context, thread, start_ns, clock_now_ns());
    atomic_fetch_sub_explicit(&pool->n_unfinished, 1, memory_order_release);
}

/* Runs parts of all shares, beginning with its own. The job cannot change before a claimed part is
 * finished, unless it is withdrawn. */
static void do_parts(struct thread_pool *pool, const struct share *own, unsigned job)
{
    unsigned number = (unsigned)(own - pool->shares);
    for (unsigned i = 0; i < pool->n_threads; i++) {
        struct share *share = &pool->shares[(number + i) % pool->n_threads];
        for (uint_fast64_t work; (work = claim(share, job)) != 0;) {
            if ((work & GANG) != 0 && !await_gang(pool, number, job))
                return;
            do_part(pool, number, share->end - (size_t)(work & PARTS));
        }
    }
}

/* ---- the threads ---- */

/* Waits for a job other than `job`. Returns its number, or `job` if the pool is being freed. */
static unsigned await_job(struct thread_pool *pool, unsigned job)
{
    struct spin_wait wait = {0};
    do {
        unsigned next = atomic_load_explicit(&pool->job, memory_order_acquire);
        if (next != job)
            return next;
    } while (spin_wait_turn(&wait) < SHARING_IDLE_NS);
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->n_sleeping, 1);
    while (atomic_load(&pool->job) == job && !atomic_load(&pool->is_over))
        pthread_cond_wait(&pool->new_job, &pool->lock);
    atomic_fetch_sub(&pool->n_sleeping, 1);
    pthread_mutex_unlock(&pool->lock);
    return atomic_load(&pool->job);
}

static void *worker_main(void *argument)
{
    const struct share *own = argument;
    for (unsigned job = 0;;) {
        unsigned next = await_job(own->pool, job);
        if (next == job)
            return NULL;
        job = next;
        do_parts(own->pool, own, job);
    }
}

static void wake_sleepers(struct thread_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->new_job);
    pthread_mutex_unlock(&pool->lock);
}

/* Blocks signals, which the calling thread handles, except those that a thread causes itself: if a
 * fault is blocked, the process ends without calling its handler. */
static bool start_thread(struct thread_pool *pool, unsigned number)
{
    static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t all, before;
    struct share *share = &pool->shares[number];
    share->pool = pool;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&pool->threads[number - 1], NULL, worker_main, share) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static void stop_threads(struct thread_pool *pool, unsigned n)
{
    atomic_store(&pool->is_over, true);
    wake_sleepers(pool);
    for (unsigned i = 0; i < n; i++)
        pthread_join(pool->threads[i], NULL);
}

static void release(struct thread_pool *pool)
{
    pthread_cond_destroy(&pool->new_job);
    pthread_mutex_destroy(&pool->lock);
    free(pool->threads);
    free(pool);
}

struct thread_pool *thread_pool_new(unsigned n_threads, struct irrun_error *err)
{
    assert(n_threads >= 1 && n_threads <= THREAD_POOL_MAX_THREADS);
    size_t size_bytes = sizeof(struct thread_pool) + n_threads * sizeof(struct share);
    struct thread_pool *pool = aligned_alloc(LINE, size_bytes);
    pthread_t *threads = calloc(n_threads, sizeof *threads);
    if (!pool || !threads) {
        free(pool);
        free(threads);
        fail_memory(err, size_bytes);
        return NULL;
    }
    memset(pool, 0, size_bytes);
    pool->n_threads = n_threads;
    pool->threads = threads;
    pool->gain = sharing_gain_start();
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->new_job, NULL);
    for (unsigned i = 1; i < n_threads; i++) {
        if (start_thread(pool, i))
            continue;
        fail(err, IRRUN_SYSTEM, "cannot start thread %u of %u", i, n_threads);
        stop_threads(pool, i - 1);
        release(pool);
        return NULL;
    }
    return pool;
}

void thread_pool_free(struct thread_pool *pool)
{
    if (!pool)
        return;
    stop_threads(pool, pool->n_threads - 1);
    release(pool);
}

unsigned thread_pool_n_threads(const struct thread_pool *pool)
{
    return pool ? pool->n_threads : 1;
}

size_t thread_pool_n_parts(const struct thread_pool *pool, double work, size_t n)
{
    size_t n_threads = thread_pool_n_threads(pool);
    if (work < SHARE_MIN_WORK)
        return 1;
    if (work < SHARE_MIN_WORK / 2.0 * (double)n_threads)
        n_threads = (size_t)(work / (SHARE_MIN_WORK / 2.0));
    return n < n_threads ? n : n_threads;
}

/* ---- jobs ---- */

/* Publishes a job and returns its number. A thread that claims a part sees all writes made here
 * before its counter. Part 0 of a gang is the caller's, which has claimed it. */
static unsigned publish_job(struct thread_pool *pool, unsigned gang)
{
    unsigned job = atomic_load_explicit(&pool->job, memory_order_relaxed) + 1;
    atomic_store_explicit(&pool->n_unfinished, pool->n_parts, memory_order_relaxed);
    for (unsigned i = 0; i < pool->n_threads; i++) {
        size_t end = pool->n_parts * (i + 1) / pool->n_threads;
        if (gang != 0)
            end = i < pool->n_parts ? i + 1 : pool->n_parts;
        pool->shares[i].end = end;
        atomic_store_explicit(&pool->shares[i].n_arrivals, 0, memory_order_relaxed);
    }
    for (size_t i = 0, begin = gang != 0; i < pool->n_threads; begin = pool->shares[i++].end)
        atomic_store_explicit(&pool->shares[i].work,
                              (uint_fast64_t)job << 32 | gang | (pool->shares[i].end - begin),
                              memory_order_release);
    atomic_store(&pool->job, job);
    if (atomic_load(&pool->n_sleeping) > 0)
        wake_sleepers(pool);
    return job;
}

static void run_alone(thread_pool_fn *function, void *context, size_t n_parts)
{
    for (size_t i = 0; i < n_parts; i++)
        function(context, i, n_parts);
}

/* Returns false if the threads of a gang do not come. */
static bool run_shared(struct thread_pool *pool, unsigned gang)
{
    unsigned job = publish_job(pool, gang);
    if (gang == 0)
        do_parts(pool, &pool->shares[0], job);
    else if (await_gang(pool, 0, job))
        do_part(pool, 0, 0);
    else
        return false;
    struct spin_wait wait = {0};
    while (atomic_load_explicit(&pool->n_unfinished, memory_order_acquire) > 0)
        wait_for_work(&wait);
    pool->waited_ns += spin_wait_end(&wait);
    return true;
}

void thread_pool_run_gang(struct thread_pool *pool, thread_pool_fn *function, void *context,
                          size_t n_gang, size_t n_parts)
{
    size_t n_shared = n_gang > n_parts ? n_gang : n_parts;
    if (thread_pool_n_threads(pool) == 1 || n_shared <= 1) {
        run_alone(function, context, n_parts);
        return;
    }
    assert(n_shared <= PARTS / THREAD_POOL_MAX_THREADS && n_gang <= pool->n_threads);
    uint64_t start_ns = clock_now_ns(), n_others = 0;
    bool are_sleeping = atomic_load_explicit(&pool->n_sleeping, memory_order_relaxed) > 0;
    pool->function = function;
    pool->context = context;
    pool->n_parts = n_shared;
    pool->waited_ns = 0;
    if (sharing_gain_may_share(&pool->gain, start_ns, are_sleeping) &&
        run_shared(pool, n_gang > n_parts ? GANG : 0))
        n_others = (n_shared < pool->n_threads ? n_shared : pool->n_threads) - 1;
    else
        run_alone(function, context, n_parts);
    sharing_gain_add(&pool->gain, start_ns, clock_now_ns(), pool->waited_ns, n_others);
}

void thread_pool_run(struct thread_pool *pool, thread_pool_fn *function, void *context,
                     size_t n_parts)
{
    thread_pool_run_gang(pool, function, context, 0, n_parts);
}

void thread_pool_watch(struct thread_pool *pool, thread_pool_watch_fn *watch, void *context)
{
    if (!pool)
        return;
    pool->watch = watch;
    pool->watch_context = context;
}

void thread_pool_barrier(struct thread_pool *pool, size_t part)
{
    unsigned arrival =
        atomic_fetch_add_explicit(&pool->shares[part].n_arrivals, 1, memory_order_acq_rel) + 1;
    struct spin_wait wait = {0};
    for (size_t i = 0; i < pool->n_parts; i++) {
        const atomic_uint *other = &pool->shares[i].n_arrivals;
        while ((int)(arrival - atomic_load_explicit(other, memory_order_acquire)) > 0)
            wait_for_work(&wait);
    }
    if (part == 0)
        pool->waited_ns += spin_wait_end(&wait);
}
