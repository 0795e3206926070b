/* Threads that wait by spinning for some 20 us, then asleep. A part is claimed by an atomic count
 * per thread which carries the job's number: whoever comes late finds nothing to claim, and nobody
 * waits for a thread that has not begun.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/team.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE 64 /* bytes that two cores cannot write at once without disturbing each other */

#define SPIN_NS 20000
#define N_YIELDS 64
#define NAP_NS 50000

/* The parts of one thread; the first is the caller's. */
struct share {
    _Alignas(LINE) atomic_uint_fast64_t work; /* job << 32 | parts that nobody has begun */
    size_t end;                               /* number behind the last of them */
    struct team *team;
    _Alignas(LINE) atomic_uint n_meetings; /* of the part of this number */
};

struct team {
    unsigned n_threads;
    pthread_t *threads; /* all but the caller */
    pthread_mutex_t lock;
    pthread_cond_t new_job; /* for those that sleep */
    team_fn *function;
    void *context;
    size_t n_parts;
    _Alignas(LINE) atomic_uint job; /* number of the last one given away */
    atomic_uint n_sleeping;
    atomic_bool is_over;
    _Alignas(LINE) atomic_size_t n_unfinished; /* parts */
    struct share shares[];
};

/* ---- waiting ---- */

struct wait {
    unsigned n_turns, n_yields;
    uint64_t start_ns;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* One turn of spinning; false when it has lasted long enough. */
static bool spin(struct wait *wait)
{
    relax();
    if (++wait->n_turns % 32 != 0)
        return true;
    uint64_t now = now_ns();
    if (wait->start_ns == 0)
        wait->start_ns = now;
    return now - wait->start_ns < SPIN_NS;
}

/* One turn of waiting for a thread that is at work, or would be if it had a core: spins, then lets
 * others have this one. */
static void wait_for_work(struct wait *wait)
{
    static const struct timespec nap = {.tv_nsec = NAP_NS};
    if (wait->n_yields == 0 && spin(wait))
        return;
    if (wait->n_yields++ < N_YIELDS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

/* ---- parts ---- */

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

/* The job stays as it is until the part that was claimed is finished. */
static void do_parts(struct team *team, const struct share *own, unsigned job)
{
    size_t part, number = (size_t)(own - team->shares);
    for (size_t i = 0; i < team->n_threads; i++) {
        struct share *share = &team->shares[(number + i) % team->n_threads];
        while (claim(share, job, &part)) {
            team->function(team->context, part, team->n_parts);
            atomic_fetch_sub_explicit(&team->n_unfinished, 1, memory_order_release);
        }
    }
}

/* ---- the threads ---- */

/* Waits for a job other than `job`; returns its number, or the old one if the team is over. */
static unsigned await_job(struct team *team, unsigned job)
{
    struct wait wait = {0};
    do {
        unsigned next = atomic_load_explicit(&team->job, memory_order_acquire);
        if (next != job)
            return next;
    } while (spin(&wait));
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->n_sleeping, 1);
    while (atomic_load(&team->job) == job && !atomic_load(&team->is_over))
        pthread_cond_wait(&team->new_job, &team->lock);
    atomic_fetch_sub(&team->n_sleeping, 1);
    pthread_mutex_unlock(&team->lock);
    return atomic_load(&team->job);
}

static void *be_member(void *argument)
{
    const struct share *own = argument;
    for (unsigned job = 0;;) {
        unsigned next = await_job(own->team, job);
        if (next == job)
            return NULL;
        job = next;
        do_parts(own->team, own, job);
    }
}

static void wake_sleepers(struct team *team)
{
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->new_job);
    pthread_mutex_unlock(&team->lock);
}

/* Signals are the caller's affair, but for what a thread does to itself: blocked, a fault ends the
 * process without its handler. */
static bool start_thread(struct team *team, unsigned number)
{
    static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t all, before;
    struct share *share = &team->shares[number];
    share->team = team;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&team->threads[number - 1], NULL, be_member, share) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static void stop_threads(struct team *team, unsigned n)
{
    atomic_store(&team->is_over, true);
    wake_sleepers(team);
    for (unsigned i = 0; i < n; i++)
        pthread_join(team->threads[i], NULL);
}

static void release(struct team *team)
{
    pthread_cond_destroy(&team->new_job);
    pthread_mutex_destroy(&team->lock);
    free(team->threads);
    free(team);
}

struct team *team_new(unsigned n_threads, struct irrun_error *err)
{
    assert(n_threads >= 1 && n_threads <= TEAM_MAX_THREADS);
    size_t size_bytes = sizeof(struct team) + n_threads * sizeof(struct share);
    struct team *team = aligned_alloc(LINE, size_bytes);
    pthread_t *threads = calloc(n_threads, sizeof *threads);
    if (!team || !threads) {
        free(team);
        free(threads);
        fail_memory(err, size_bytes);
        return NULL;
    }
    memset(team, 0, size_bytes);
    team->n_threads = n_threads;
    team->threads = threads;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->new_job, NULL);
    for (unsigned i = 1; i < n_threads; i++) {
        if (start_thread(team, i))
            continue;
        fail(err, IRRUN_SYSTEM, "cannot start thread %u of %u", i, n_threads);
        stop_threads(team, i - 1);
        release(team);
        return NULL;
    }
    return team;
}

void team_free(struct team *team)
{
    if (!team)
        return;
    stop_threads(team, team->n_threads - 1);
    release(team);
}

unsigned team_n_threads(const struct team *team)
{
    return team ? team->n_threads : 1;
}

/* ---- jobs ---- */

/* Whoever claims a part sees all that is written here before its count. */
static void give_away(struct team *team, unsigned job)
{
    for (unsigned i = 0; i < team->n_threads; i++) {
        team->shares[i].end = team->n_parts * (i + 1) / team->n_threads;
        atomic_store_explicit(&team->shares[i].n_meetings, 0, memory_order_relaxed);
    }
    for (size_t i = 0, begin = 0; i < team->n_threads; begin = team->shares[i++].end)
        atomic_store_explicit(&team->shares[i].work,
                              (uint_fast64_t)job << 32 | (team->shares[i].end - begin),
                              memory_order_release);
    atomic_store(&team->job, job);
    if (atomic_load(&team->n_sleeping) > 0)
        wake_sleepers(team);
}

void team_run(struct team *team, team_fn *function, void *context, size_t n_parts)
{
    if (team)
        team->n_parts = n_parts;
    if (team_n_threads(team) == 1 || n_parts <= 1) {
        for (size_t i = 0; i < n_parts; i++)
            function(context, i, n_parts);
        return;
    }
    assert(n_parts <= UINT32_MAX / TEAM_MAX_THREADS);
    unsigned job = atomic_load_explicit(&team->job, memory_order_relaxed) + 1;
    team->function = function;
    team->context = context;
    atomic_store_explicit(&team->n_unfinished, n_parts, memory_order_relaxed);
    give_away(team, job);
    do_parts(team, &team->shares[0], job);
    struct wait wait = {0};
    while (atomic_load_explicit(&team->n_unfinished, memory_order_acquire) > 0)
        wait_for_work(&wait);
}

void team_meet(struct team *team, size_t part)
{
    if (team_n_threads(team) == 1 || team->n_parts <= 1)
        return;
    assert(team->n_parts <= team->n_threads);
    unsigned meeting =
        atomic_fetch_add_explicit(&team->shares[part].n_meetings, 1, memory_order_acq_rel) + 1;
    for (size_t i = 0; i < team->n_parts; i++) {
        const atomic_uint *other = &team->shares[i].n_meetings;
        struct wait wait = {0};
        while ((int)(meeting - atomic_load_explicit(other, memory_order_acquire)) > 0)
            wait_for_work(&wait);
    }
}
