/* Reads the counters of the operating system (getrusage) and the processor's flag for denormals.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/slowest.h"

#include <inttypes.h>
#include <math.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "cli/machine.h"

#define RECENT_NS 100000  /* counts newer than this are not read again, which would take 1 us */
#define MIN_CPU_SHARE 0.9 /* a lower CPU share is reported */

static const struct {
    const char *key, *name, *names;
} events[N_SLOW_EVENTS] = {
    [PAGE_FAULTS] = {"page_faults", "page fault", "page faults"},
    [DISK_READS] = {"disk_reads", "page read from disk", "pages read from disk"},
    [PREEMPTIONS] = {"involuntary_switches", "involuntary context switch",
                     "involuntary context switches"},
    [WAITS] = {"voluntary_switches", "voluntary context switch", "voluntary context switches"},
    [NEW_PLANS] = {"new_plans", "new plan", "new plans"},
};

static void read_counts(const struct irrun_session *session, struct slow_counts *counts)
{
    struct irrun_session_info info;
    struct rusage usage = {.ru_minflt = 0};
    irrun_session_describe(session, &info);
    getrusage(info.n_threads > 1 ? RUSAGE_SELF : RUSAGE_THREAD, &usage);
    *counts = (struct slow_counts){
        .events = {[PAGE_FAULTS] = (uint64_t)usage.ru_minflt,
                   [DISK_READS] = (uint64_t)usage.ru_majflt,
                   [PREEMPTIONS] = (uint64_t)usage.ru_nivcsw,
                   [WAITS] = (uint64_t)usage.ru_nvcsw,
                   [NEW_PLANS] = info.n_new_plans},
        .cpu_ns = clock_ns(info.n_threads > 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID),
        .wall_ns = clock_now_ns()};
}

uint64_t slowest_begin(struct slowest *slowest, const struct irrun_session *session)
{
    machine_clear_denormal_flag();
    uint64_t now_ns = clock_now_ns();
    if (now_ns - slowest->before.wall_ns <= RECENT_NS)
        return now_ns;
    read_counts(session, &slowest->before);
    return slowest->before.wall_ns;
}

void slowest_end(struct slowest *slowest, const struct irrun_session *session, uint64_t duration_ns,
                 uint64_t sequence, uint64_t iteration)
{
    if (duration_ns <= slowest->duration_ns)
        return;
    struct slow_counts now;
    slowest->had_denormals = machine_denormal_flag();
    read_counts(session, &now);
    slowest->sequence = sequence;
    slowest->iteration = iteration;
    slowest->duration_ns = duration_ns;
    for (int i = 0; i < N_SLOW_EVENTS; i++)
        slowest->during.events[i] = now.events[i] - slowest->before.events[i];
    slowest->during.cpu_ns = now.cpu_ns - slowest->before.cpu_ns;
    slowest->during.wall_ns = now.wall_ns - slowest->before.wall_ns;
    slowest->before = now;
}

void slowest_merge(struct slowest *slowest, const struct slowest *other)
{
    if (other->duration_ns > slowest->duration_ns)
        *slowest = *other;
}

void slowest_describe(const struct slowest *slowest, struct text *text)
{
    const struct slow_counts *during = &slowest->during;
    bool lacked_cpu = (double)during->cpu_ns < MIN_CPU_SHARE * (double)during->wall_ns;
    size_t start = text->length;
    for (int i = 0; i < N_SLOW_EVENTS; i++)
        if (during->events[i] > 0)
            text_add(text, "%s%" PRIu64 " %s", text->length > start ? ", " : "", during->events[i],
                     during->events[i] == 1 ? events[i].name : events[i].names);
    if (slowest->had_denormals)
        text_add(text, "%sdenormals", text->length > start ? ", " : "");
    /* Without a context switch, the hypervisor had given the CPU to another guest. */
    if (lacked_cpu && during->events[PREEMPTIONS] + during->events[WAITS] == 0)
        text_add(text, "%ssteal", text->length > start ? ", " : "");
    if (text->length == start)
        text_add(text, "no known cause");
    if (lacked_cpu)
        text_add(text, "; on a CPU for %.0f %% of the time",
                 (double)during->cpu_ns / (double)during->wall_ns * 100);
}

void slowest_report(const struct slowest *slowest, struct json *json)
{
    const struct slow_counts *during = &slowest->during;
    double unknown = during->wall_ns > 0 ? 0 : NAN; /* makes every number null */
    json_open(json, "slowest", '{');
    json_number(json, "sequence", (double)slowest->sequence + unknown);
    json_number(json, "iteration", (double)slowest->iteration + unknown);
    for (int i = 0; i < N_SLOW_EVENTS; i++)
        json_number(json, events[i].key, (double)during->events[i] + unknown);
    if (during->wall_ns > 0)
        json_bool(json, "denormals", slowest->had_denormals);
    else
        json_string(json, "denormals", NULL);
    json_number(json, "cpu", (double)during->cpu_ns * 1e-9 + unknown);
    json_number(json, "wall", (double)during->wall_ns * 1e-9 + unknown);
    json_close(json, '}');
}
