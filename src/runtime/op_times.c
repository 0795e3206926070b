/* Measures the time of each step of a run. After the run, lists the ops sorted by time; the ops of
 * a body follow the op that contains the body.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/op_times.h"

#include <stdlib.h>

#include "base/clock.h"
#include "runtime/runner.h"

/* ---- during a run ---- */

static struct irrun_op_name name_of(const struct step_times *times, uint32_t i)
{
    const struct op *member = times->members[i];
    const char *type = times->is_conversion ? "(convert)" : member->def->type;
    return (struct irrun_op_name){type, member->name, member->line};
}

void op_times_watch(void *context, unsigned thread, uint64_t start_ns, uint64_t end_ns)
{
    struct irrun_session *session = context;
    if (!session->timed_step)
        return;
    const struct irrun_op_name name = name_of(session->timed_step->cost->times, 0);
    session->watch(session->watch_context, thread, &name, start_ns, end_ns);
}

bool op_times_run(const struct step *steps, uint32_t n_steps, struct irrun_error *err)
{
    if (n_steps == 0)
        return true;
    struct irrun_session *session = steps->session;
    const struct step *outer = session->timed_step; /* the step that runs this body */
    uint64_t before = clock_now_ns();
    bool is_done = true;
    for (const struct step *step = steps, *end = steps + n_steps; step < end; step++) {
        session->timed_step = step;
        is_done = step->flat.run(step, err);
        if (!is_done)
            break;
        uint64_t now = clock_now_ns();
        step_times_add(step->cost, now - before);
        if (session->watch) {
            op_times_watch(session, 0, before, now);
            now = clock_now_ns();
        }
        before = now;
    }
    session->timed_step = outer;
    return is_done;
}

void op_times_add_infer(const struct plan *continuation, uint64_t time_ns)
{
    const struct step *head = continuation->first_step;
    if (head)
        head->cost->times->time_ns += time_ns;
}

/* ---- after a run ---- */

struct collected {
    struct irrun_profile profile;
    struct step_times_table sums; /* sums over all sessions; its arena holds all data */
    struct irrun_op_time *ops;
};

static bool add_tables(struct step_times_table *sums, const struct step_times_table *const *tables,
                       size_t n_tables, struct irrun_error *err)
{
    for (size_t t = 0; t < n_tables; t++) {
        sums->n_plans += tables[t]->n_plans;
        sums->plan_ns += tables[t]->plan_ns;
        for (size_t i = 0; i < tables[t]->n; i++) {
            const struct step_times *from = tables[t]->items[i];
            struct step_times *to = step_times_find(sums, from, err);
            if (!to)
                return false;
            to->n_calls += from->n_calls;
            to->time_ns += from->time_ns;
            to->flops += from->flops;
            to->bytes += from->bytes;
        }
    }
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct step_times *x = *(struct step_times *const *)a;
    const struct step_times *y = *(struct step_times *const *)b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return x->members[0] < y->members[0] ? -1 : x->members[0] > y->members[0];
}

static bool name_members(struct collected *collected, const struct step_times *times,
                         struct irrun_op_time *op, struct irrun_error *err)
{
    struct irrun_op_name *names =
        arena_alloc_array(&collected->sums.arena, times->n_members, sizeof *names, err);
    for (uint32_t i = 0; i < times->n_members && names; i++)
        names[i] = name_of(times, i);
    op->members = names;
    op->n_members = times->n_members;
    return names != NULL;
}

/* Appends the ops of a graph, each followed by the ops of its bodies. The work of an op includes
 * the work of its bodies. */
static bool list_graph(struct collected *collected, const struct graph *graph, uint32_t depth,
                       struct irrun_error *err)
{
    for (size_t i = 0; i < collected->sums.n; i++) {
        const struct step_times *times = collected->sums.items[i];
        if (times->graph != graph || times->n_calls == 0)
            continue;
        size_t at = collected->profile.n_ops++;
        struct irrun_op_time *op = &collected->ops[at];
        *op = (struct irrun_op_time){.depth = depth,
                                     .n_calls = times->n_calls,
                                     .time_s = (double)times->time_ns * 1e-9,
                                     .flops = times->flops,
                                     .bytes = times->bytes};
        const struct op *first = times->members[0];
        if (!name_members(collected, times, op, err))
            return false;
        for (uint32_t b = 0; b < first->n_bodies && !times->is_conversion; b++)
            if (!list_graph(collected, first->bodies[b].graph, depth + 1, err))
                return false;
        for (size_t k = at + 1; k < collected->profile.n_ops; k++) {
            if (collected->ops[k].depth != depth + 1)
                continue;
            op->in_bodies_s += collected->ops[k].time_s;
            op->flops += collected->ops[k].flops;
        }
    }
    return true;
}

/* Returns the time in seconds that reading the clock takes. */
static double measure_clock(void)
{
    enum { N = 1000 };
    uint64_t start = clock_now_ns(), end = start;
    for (int i = 0; i < N; i++)
        end = clock_now_ns();
    return (double)(end - start) * 1e-9 / N;
}

struct irrun_profile *op_times_collect(const struct graph *graph,
                                       const struct step_times_table *const *tables,
                                       size_t n_tables, struct irrun_error *err)
{
    struct collected *collected = new_array(1, sizeof *collected, err);
    if (!collected)
        return NULL;
    struct step_times_table *sums = &collected->sums;
    bool is_done = add_tables(sums, tables, n_tables, err);
    if (sums->n > 0)
        qsort(sums->items, sums->n, sizeof *sums->items, by_time);
    collected->ops = arena_alloc_array(&sums->arena, sums->n, sizeof *collected->ops, err);
    if (!is_done || !collected->ops || !list_graph(collected, graph, 0, err)) {
        op_times_free(&collected->profile);
        return NULL;
    }
    uint64_t n_readings = 0;
    for (size_t i = 0; i < sums->n; i++)
        n_readings += sums->items[i]->n_calls;
    collected->profile.ops = collected->ops;
    collected->profile.n_plans = sums->n_plans;
    collected->profile.plan_s = (double)sums->plan_ns * 1e-9;
    collected->profile.clock_s = (double)n_readings * measure_clock();
    return &collected->profile;
}

/* Frees the profile, which is the first member of the allocation. */
void op_times_free(struct irrun_profile *profile)
{
    struct collected *collected = (void *)profile;
    if (!collected)
        return;
    step_times_free(&collected->sums);
    free(collected);
}
