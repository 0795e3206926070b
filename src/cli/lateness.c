/* Counts late results, and waits until a record is due.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/lateness.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "cli/signals.h"
#include "cli/stats.h"

void lateness_add(struct lateness *lateness, uint64_t latency_ns)
{
    uint64_t deadline_ns = lateness->deadline_ns;
    if (deadline_ns == 0)
        return;
    lateness->n++;
    if (latency_ns <= deadline_ns) {
        lateness->streak = 0;
        return;
    }
    uint64_t late_by_ns = latency_ns - deadline_ns;
    lateness->n_late++;
    lateness->sum_ns += (double)late_by_ns;
    if (late_by_ns > lateness->max_ns)
        lateness->max_ns = late_by_ns;
    if (++lateness->streak > lateness->longest_streak)
        lateness->longest_streak = lateness->streak;
}

void lateness_begin_sequence(struct lateness *lateness)
{
    lateness->streak = 0;
}

void lateness_merge(struct lateness *lateness, const struct lateness *other)
{
    if (lateness->deadline_ns == 0)
        lateness->deadline_ns = other->deadline_ns;
    lateness->n += other->n;
    lateness->n_late += other->n_late;
    lateness->sum_ns += other->sum_ns;
    if (other->max_ns > lateness->max_ns)
        lateness->max_ns = other->max_ns;
    if (other->longest_streak > lateness->longest_streak)
        lateness->longest_streak = other->longest_streak;
}

/* ---- Reports --------------------------------------------------------------------------------- */

static double mean_s(const struct lateness *lateness)
{
    return lateness->n_late > 0 ? lateness->sum_ns / (double)lateness->n_late * 1e-9 : 0;
}

void lateness_print(const struct lateness *lateness)
{
    char deadline[32], most[32], mean[32];
    if (lateness->deadline_ns == 0)
        return;
    fprintf(stderr, "%-18s %" PRIu64 " of %" PRIu64 " (deadline %s)\n", "late", lateness->n_late,
            lateness->n, stats_format_time((double)lateness->deadline_ns * 1e-9, deadline));
    if (lateness->n_late == 0)
        return;
    fprintf(stderr, "%-18s %s at most, %s on average\n", "  by",
            stats_format_time((double)lateness->max_ns * 1e-9, most),
            stats_format_time(mean_s(lateness), mean));
    fprintf(stderr, "%-18s %" PRIu64 "\n", "  in a row", lateness->longest_streak);
}

void lateness_report(const struct lateness *lateness, struct json *json)
{
    if (lateness->deadline_ns == 0) {
        json_string(json, "deadline", NULL);
        return;
    }
    json_open(json, "deadline", '{');
    json_number(json, "deadline_s", (double)lateness->deadline_ns * 1e-9);
    json_count(json, "records", lateness->n);
    json_count(json, "late", lateness->n_late);
    json_count(json, "late_in_a_row", lateness->longest_streak);
    json_number(json, "late_by_max_s", (double)lateness->max_ns * 1e-9);
    json_number(json, "late_by_mean_s", mean_s(lateness));
    json_close(json, '}');
}

bool lateness_check(const struct lateness *lateness, struct irrun_error *err)
{
    char deadline[32], most[32];
    return lateness->n_late == 0 ||
           fail(err, IRRUN_MISMATCH,
                "--deadline: %" PRIu64 " of %" PRIu64 " results came later than %s, by at most %s",
                lateness->n_late, lateness->n,
                stats_format_time((double)lateness->deadline_ns * 1e-9, deadline),
                stats_format_time((double)lateness->max_ns * 1e-9, most));
}

/* ---- The pace -------------------------------------------------------------------------------- */

#define MAX_NS 0x1p62     /* 146 years: later than the end of any run */
#define SLICE_NS 50000000 /* a signal is noticed within this time */

static uint64_t periods_ns(const struct pace *pace, uint64_t n)
{
    double ns = (double)n * pace->period_ns;
    return (uint64_t)(ns < MAX_NS ? ns : MAX_NS);
}

static void sleep_until(uint64_t ns)
{
    const struct timespec until = {.tv_sec = (time_t)(ns / 1000000000),
                                   .tv_nsec = (long)(ns % 1000000000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

uint64_t pace_wait(struct pace *pace, uint64_t index, uint64_t end_ns,
                   const struct reader_wait *before, struct irrun_error *err)
{
    uint64_t now_ns = clock_now_ns();
    if (pace->start_ns == 0)
        pace->start_ns = now_ns - periods_ns(pace, index);
    uint64_t due_ns = pace->start_ns + periods_ns(pace, index + 1);
    if (due_ns <= now_ns)
        return due_ns;
    if (!before->before(before->context, err))
        return 0;
    uint64_t wake_ns = due_ns < end_ns ? due_ns : end_ns;
    /* With --checkpoint a signal ends the run before the next record. A signal that arrives just
     * before the sleep, or in another thread, does not interrupt the sleep. */
    for (; signals_pending() == 0 && now_ns < wake_ns; now_ns = clock_now_ns())
        sleep_until(wake_ns - now_ns < SLICE_NS ? wake_ns : now_ns + SLICE_NS);
    return due_ns < now_ns ? due_ns : now_ns;
}
