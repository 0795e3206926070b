/* The thread pool. Threads spin while they wait, and sleep after a while. Each thread has an atomic
 * counter of unclaimed parts, which includes the number of the job. A thread claims a part by
 * decrementing a counter. A thread that is late finds no parts, and no thread waits for a thread
 * that has not started.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/thread_pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "kernels/sharing_gain.h"

#define LINE 64 /* size of a cache line; cores that write to the same line slow each other down */

/* The minimum work of a job that is shared: about 1 us. To hand a job to a spinning thread takes
 * 0.3 us. */
#define SHARE_MIN_WORK 50000

/* A wait spins, then yields its core, then sleeps; a sleep takes 0.1 ms or more. */
#define SPIN_NS 20000
#define YIELD_NS 1000000
#define NAP_NS 50000

/* The parts assigned to one thread. shares[0] belongs to the caller. */
struct share {
    _Alignas(LINE) atomic_uint_fast64_t work; /* job << 32 | number of unclaimed parts */
    size_t end;                               /* number of the last part + 1 */
    struct thread_pool *pool;
    _Alignas(LINE) atomic_uint n_arrivals; /* barriers that the part with this index has reached */
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
    uint64_t waited_ns;             /* time that the caller has waited during this job */
    _Alignas(LINE) atomic_uint job; /* number of the last job */
    atomic_uint n_sleeping;
    atomic_bool is_over;
    _Alignas(LINE) atomic_size_t n_unfinished; /* unfinished parts */
    struct share shares[];
};

struct wait {
    unsigned n_turns;
    uint64_t start_ns, waited_ns; /* updated every 32 turns */
};

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Spins once. Returns the time since turn 32. */
static uint64_t spin(struct wait *wait)
{
    pause_cpu();
    if (++wait->n_turns % 32 == 0) {
        uint64_t now = clock_now_ns();
        if (wait->start_ns == 0)
            wait->start_ns = now;
        wait->waited_ns = now - wait->start_ns;
    }
    return wait->waited_ns;
}

/* Waits briefly for a thread that is running or ready to run. */
static void wait_for_work(struct wait *wait)
{
    static const struct timespec nap = {.tv_nsec = NAP_NS};
    uint64_t waited_ns = spin(wait);
    if (waited_ns > YIELD_NS)
        nanosleep(&nap, NULL);
    else if (waited_ns > SPIN_NS)
        sched_yield();
}

/* Returns the duration of a finished wait, or 0 if it was short. */
static uint64_t time_waited(const struct wait *wait)
{
    return wait->start_ns > 0 ? clock_now_ns() - wait->start_ns : 0;
}

static bool claim(struct share *share, unsigned job, size_t *part)
{
    uint_fast64_t work = atomic_load_explicit(&share->work, memory_order_acquire);
    while ((unsigned)(work >> 32) == job && (uint32_t)work > 0) {
        if (atomic_compare_exchange_weak_explicit(&share->work, &work, work - 1,
                                                  memory_order_acq_rel, memory_order_acquire)) {
            *part = share->end - (uint32_t)work;
            return true;
        }
    }
    return false;
}

static void do_part(struct thread_pool *pool, unsigned thread, size_t part)
{
    uint64_t start_ns = pool->watch && thread > 0 ? clock_now_ns() : 0;
    pool->function(pool->context, part, pool->n_parts);
    if (start_ns > 0)
        pool->watch(pool->watch_context, thread, start_ns, clock_now_ns());
    atomic_fetch_sub_explicit(&pool->n_unfinished, 1, memory_order_release);
}

/* Runs parts of all shares, beginning with the thread's own share, and returns their number. The
 * job cannot change before all claimed parts are finished. */
static size_t do_parts(struct thread_pool *pool, const struct share *own, unsigned job)
{
    size_t part, n_done = 0, number = (size_t)(own - pool->shares);
    for (size_t i = 0; i < pool->n_threads; i++) {
        struct share *share = &pool->shares[(number + i) % pool->n_threads];
        for (; claim(share, job, &part); n_done++)
            do_part(pool, (unsigned)number, part);
    }
    return n_done;
}

/* ---- the threads ---- */

/* Waits for a job other than `job`. Returns its number, or `job` if the pool is being freed. */
static unsigned await_job(struct thread_pool *pool, unsigned job)
{
    struct wait wait = {0};
    while (spin(&wait) < SHARING_IDLE_NS) {
        unsigned next = atomic_load_explicit(&pool->job, memory_order_acquire);
        if (next != job)
            return next;
        if (wait.waited_ns > SPIN_NS)
            sched_yield();
    }
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

/* Starts a worker. Blocks signals in it, so that the calling thread handles them, except faults: if
 * a thread causes a blocked fault, the process ends without calling the handler. */
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

static void free_pool(struct thread_pool *pool)
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
        free_pool(pool);
        return NULL;
    }
    return pool;
}

void thread_pool_free(struct thread_pool *pool)
{
    if (!pool)
        return;
    stop_threads(pool, pool->n_threads - 1);
    free_pool(pool);
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

/* Publishes a job and returns its number. A thread that claims a part sees all writes that precede
 * the store to the counter. Part 0 is already claimed for the caller. */
static unsigned publish_job(struct thread_pool *pool)
{
    unsigned job = atomic_load_explicit(&pool->job, memory_order_relaxed) + 1;
    atomic_store_explicit(&pool->n_unfinished, pool->n_parts, memory_order_relaxed);
    for (unsigned i = 0; i < pool->n_threads; i++) {
        pool->shares[i].end = divide_up(pool->n_parts * (i + 1), pool->n_threads);
        atomic_store_explicit(&pool->shares[i].n_arrivals, 0, memory_order_relaxed);
    }
    for (size_t i = 0, begin = 1; i < pool->n_threads; begin = pool->shares[i++].end)
        atomic_store_explicit(&pool->shares[i].work,
                              (uint_fast64_t)job << 32 | (pool->shares[i].end - begin),
                              memory_order_release);
    atomic_store(&pool->job, job);
    if (atomic_load(&pool->n_sleeping) > 0)
        wake_sleepers(pool);
    return job;
}

/* Shares a job. Returns the number of parts that the caller ran. */
static size_t run_shared(struct thread_pool *pool, thread_pool_fn *function, void *context,
                         size_t n_parts)
{
    struct wait wait = {0};
    assert(n_parts <= UINT32_MAX / THREAD_POOL_MAX_THREADS);
    pool->function = function;
    pool->context = context;
    pool->n_parts = n_parts;
    unsigned job = publish_job(pool);
    do_part(pool, 0, 0);
    size_t n_own = 1 + do_parts(pool, &pool->shares[0], job);
    while (atomic_load_explicit(&pool->n_unfinished, memory_order_acquire) > 0)
        wait_for_work(&wait);
    pool->waited_ns += time_waited(&wait);
    return n_own;
}

static void run_alone(thread_pool_fn *function, void *context, size_t n_parts)
{
    for (size_t i = 0; i < n_parts; i++)
        function(context, i, n_parts);
}

void thread_pool_run_gang(struct thread_pool *pool, thread_pool_fn *function, void *context,
                          size_t n_parts, size_t n_alone)
{
    if (thread_pool_n_threads(pool) == 1 || n_parts <= 1) {
        run_alone(function, context, n_alone);
        return;
    }
    bool are_sleeping = atomic_load_explicit(&pool->n_sleeping, memory_order_relaxed) > 0;
    uint64_t start_ns = clock_now_ns();
    size_t n_own = n_parts;
    pool->waited_ns = 0;
    if (sharing_gain_may_share(&pool->gain, start_ns, are_sleeping))
        n_own = run_shared(pool, function, context, n_parts);
    else
        run_alone(function, context, n_alone);
    sharing_gain_add(&pool->gain, start_ns, clock_now_ns(), pool->waited_ns,
                     (double)n_parts / (double)n_own);
}

void thread_pool_run(struct thread_pool *pool, thread_pool_fn *function, void *context,
                     size_t n_parts)
{
    thread_pool_run_gang(pool, function, context, n_parts, n_parts);
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
    struct wait wait = {0};
    unsigned arrival =
        atomic_fetch_add_explicit(&pool->shares[part].n_arrivals, 1, memory_order_acq_rel) + 1;
    assert(pool->n_parts <= pool->n_threads);
    for (size_t i = 0; i < pool->n_parts; i++) {
        const atomic_uint *other = &pool->shares[i].n_arrivals;
        while ((int)(arrival - atomic_load_explicit(other, memory_order_acquire)) > 0)
            wait_for_work(&wait);
    }
    if (part == 0)
        pool->waited_ns += time_waited(&wait);
}
