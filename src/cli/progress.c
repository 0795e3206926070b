/* Writes the progress line, first after a second, so that short runs show none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/stats.h"
#include "cli/warning.h"

#define FIRST_LINE_MS 1000
#define TERMINAL_LINE_MS 200
#define PLAIN_LINE_MS 1000

struct totals {
    uint64_t n_iterations, n_sequences, n_expected;
};

static struct totals sum_counters(const struct progress *progress)
{
    struct totals totals = {.n_iterations = 0};
    for (size_t i = 0; i < progress->n_counters; i++) {
        const struct progress_counter *counter = progress->counters[i];
        totals.n_iterations += atomic_load_explicit(&counter->n_iterations, memory_order_relaxed);
        totals.n_sequences += atomic_load_explicit(&counter->n_sequences, memory_order_relaxed);
        totals.n_expected += atomic_load_explicit(&counter->n_expected, memory_order_relaxed);
    }
    return totals;
}

static void write_line(const struct progress *progress, double elapsed_s)
{
    struct totals totals = sum_counters(progress);
    double rate = (double)totals.n_iterations / elapsed_s;
    char text[160], left[64] = "", sequences[48] = "";
    if (progress->is_many)
        snprintf(sequences, sizeof sequences, ", %" PRIu64 " sequences", totals.n_sequences);
    else if (totals.n_expected > totals.n_iterations && rate > 0)
        snprintf(left, sizeof left, ", %.0f %%, %.0f s left",
                 100.0 * (double)totals.n_iterations / (double)totals.n_expected,
                 (double)(totals.n_expected - totals.n_iterations) / rate);
    snprintf(text, sizeof text, "irrun: %" PRIu64 " iterations%s, %.4g/s%s", totals.n_iterations,
             sequences, rate, left);
    warning_show_progress(progress->options, text, progress->is_plain);
}

/* Writes the line that stays after a run of several sequences. */
static void write_summary(const struct progress *progress)
{
    struct totals totals = sum_counters(progress);
    char text[160];
    snprintf(text, sizeof text, "irrun: %" PRIu64 " sequence%s, %" PRIu64 " iterations in %.1f s",
             totals.n_sequences, totals.n_sequences == 1 ? "" : "s", totals.n_iterations,
             stats_now_s() - progress->start_s);
    warning_show_progress(progress->options, text, true);
}

/* Waits. Returns whether the thread must stop. */
static bool wait_ms(struct progress *progress, long n_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += n_ms % 1000 * 1000000;
    until.tv_sec += n_ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int result = 0;
    while (!progress->must_stop && result == 0)
        result = pthread_cond_timedwait(&progress->stopped, &progress->lock, &until);
    return progress->must_stop;
}

static void *write_lines(void *context)
{
    struct progress *progress = context;
    long pause_ms = progress->is_plain ? PLAIN_LINE_MS : TERMINAL_LINE_MS;
    pthread_mutex_lock(&progress->lock);
    for (bool must_stop = wait_ms(progress, FIRST_LINE_MS); !must_stop;
         must_stop = wait_ms(progress, pause_ms))
        write_line(progress, stats_now_s() - progress->start_s);
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

/* Returns whether results go to a terminal, where a progress line would be mixed with them. */
static bool shows_results(const struct options *options)
{
    bool is_shown = options->outputs.n == 0;
    for (size_t i = 0; i < options->outputs.n; i++)
        is_shown |= strcmp(options->outputs.items[i].spec.path, "-") == 0;
    return is_shown && isatty(STDOUT_FILENO);
}

void progress_start(struct progress *progress, const struct options *options,
                    const struct progress_counter *const *counters, size_t n_counters, bool is_many)
{
    *progress = (struct progress){.options = options,
                                  .counters = counters,
                                  .n_counters = n_counters,
                                  .is_plain = options->progress == PROGRESS_PLAIN,
                                  .is_many = is_many,
                                  .start_s = stats_now_s()};
    bool is_wanted =
        progress->is_plain || (options->progress == PROGRESS_AUTO && !options->is_quiet &&
                               warning_is_terminal() && !shows_results(options));
    if (!is_wanted)
        return;
    pthread_mutex_init(&progress->lock, NULL);
    pthread_cond_init(&progress->stopped, NULL);
    sigset_t all, old; /* the workers handle signals, not this thread */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    progress->is_running = pthread_create(&progress->thread, NULL, write_lines, progress) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void progress_stop(struct progress *progress)
{
    if (!progress->is_running)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->must_stop = true;
    pthread_cond_signal(&progress->stopped);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->stopped);
    pthread_mutex_destroy(&progress->lock);
    warning_show_progress(progress->options, NULL, progress->is_plain);
    if (progress->is_many)
        write_summary(progress);
    progress->is_running = false;
}
