/* Gives the sequences to workers, ends the run, and shows what it took.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/run.h"

#include <pthread.h>
#include <stdlib.h>

#include "cli/failures.h"
#include "cli/report.h"
#include "cli/run_check.h"
#include "cli/run_paths.h"
#include "cli/trace.h"
#include "cli/warning.h"
#include "cli/worker_internal.h"

struct run {
    const struct options *options;
    struct irrun_model *model;
    struct model_identity model_identity; /* empty where nothing asks for it */
    struct sequences *sequences;
    struct collector *collector;
    struct run_paths *paths;
    struct worker *workers;
    const struct progress_counter **counters; /* of the workers */
    size_t n_workers;
    bool is_dry; /* -n 0 */
    struct reader_wait wait;

    pthread_mutex_t lock;      /* of all below, of `sequences` and of `paths` */
    bool is_over;              /* no further sequence begins */
    struct irrun_error *error; /* of the first sequence, in their order, that failed */
    uint64_t error_index;
    uint64_t n_sequences; /* so far, with those that … */
    struct failures failures;
};

/* ---- Beginning and end ----------------------------------------------------------------------- */

static void release(struct run *run)
{
    sequences_free(run->sequences);
    collector_free(run->collector);
    run_paths_free(run->paths);
    for (size_t i = 0; i < run->n_workers; i++)
        worker_close(&run->workers[i]);
    free(run->workers);
    free(run->counters);
    pthread_mutex_destroy(&run->lock);
}

static bool open_workers(struct run *run, struct irrun_error *err)
{
    size_t n = sequences_are_many(run->options) ? run->options->n_jobs : 1;
    run->workers = new_array(n, sizeof *run->workers, err);
    run->counters = new_array(n, sizeof(struct progress_counter *), err);
    if (!run->workers || !run->counters)
        return false;
    for (; run->n_workers < n; run->n_workers++) {
        struct worker *worker = &run->workers[run->n_workers];
        run->counters[run->n_workers] = &worker->counter;
        if (!worker_open(worker, run->model, &run->model_identity, run->options, run->collector,
                         err)) {
            worker_close(worker);
            return false;
        }
    }
    return true;
}

static bool flush(void *context, struct irrun_error *err)
{
    return collector_flush(context, NULL, err);
}

static bool prepare(struct run *run, struct irrun_error *err)
{
    const struct options *options = run->options;
    pthread_mutex_init(&run->lock, NULL);
    run->error = err;
    run->error_index = UINT64_MAX;
    run->is_dry = options->n_iterations == 0;
    if (options->state_in || options->state_out || options->checkpoint_path)
        model_identify(run->model, &run->model_identity);
    if (!worker_state_check(options, err) || !checkpoint_check(options, err) ||
        !collector_new(run->model, options, &run->collector, err) ||
        !run_paths_new(run->model, options, collector_outputs(run->collector), &run->paths, err) ||
        !open_workers(run, err))
        return false;
    run->wait = (struct reader_wait){flush, run->collector};
    if (!sequences_new(options, run->n_workers == 1 ? &run->wait : NULL, false, &run->sequences,
                       err))
        return false;
    return run_check(run->model, options, err);
}

/* Outputs first: a state without them would let the next run leave records out. */
static bool finish(struct run *run, struct irrun_error *err)
{
    if (run->is_dry)
        return true;
    if (!outputs_finish(collector_outputs(run->collector), err) ||
        !worker_state_end_run(&run->workers[0], err))
        return false;
    const struct worker *worker = &run->workers[0];
    if (run->options->trace_path && worker->stats.n_iterations > 0 &&
        !trace_write(run->options->trace_path, run->model, worker->session, run->options->is_synced,
                     err))
        return false;
    if (run->options->checkpoint_path && !checkpoint_remove(run->options, err))
        return false;
    return collector_judge(run->collector, err) &&
           failures_judge(&run->failures, run->n_sequences, err);
}

/* ---- Sequences ------------------------------------------------------------------------------- */

static void begin_no_more(struct run *run)
{
    pthread_mutex_lock(&run->lock);
    run->is_over = true;
    pthread_mutex_unlock(&run->lock);
}

static void note_failure(struct run *run, uint64_t index, const struct irrun_error *err)
{
    pthread_mutex_lock(&run->lock);
    run->is_over = true;
    if (err->code != IRRUN_OK && index < run->error_index) {
        run->error_index = index;
        *run->error = *err;
    }
    pthread_mutex_unlock(&run->lock);
    collector_stop(run->collector, index);
}

/* Of a manifest, --keep-going passes over lines that cannot be understood. The lock is held. */
static bool read_sequence(struct run *run, struct sequence *sequence, bool *has_one,
                          struct irrun_error *err)
{
    while (!run->is_over) {
        run->n_sequences++;
        if (sequences_next(run->sequences, sequence, has_one, err)) {
            run->n_sequences -= !*has_one;
            return true;
        }
        if (!sequence->place.file || !failures_pass_over(&run->failures, sequence, err))
            return false;
        sequence_free(sequence);
    }
    return true;
}

static bool leave_out(struct run *run, struct worker *worker, const struct sequence *sequence,
                      struct irrun_error *err)
{
    pthread_mutex_lock(&run->lock);
    bool is_left_out = failures_pass_over(&run->failures, sequence, err);
    pthread_mutex_unlock(&run->lock);
    if (is_left_out)
        collector_leave_out(run->collector, &worker->backlog, sequence);
    return is_left_out;
}

static bool next_sequence(struct run *run, struct sequence *sequence, struct irrun_error *err)
{
    bool has_one = false;
    pthread_mutex_lock(&run->lock);
    bool is_read = read_sequence(run, sequence, &has_one, err) &&
                   (!has_one || run_paths_begin_sequence(run->paths, sequence, err));
    run->is_over = run->is_over || !has_one;
    pthread_mutex_unlock(&run->lock);
    if (!is_read)
        note_failure(run, sequence->index, err);
    return has_one && is_read;
}

/* --skip-existing. */
static bool is_done_already(struct run *run, const struct sequence *sequence, bool *is_done,
                            struct irrun_error *err)
{
    *is_done = false;
    if (!run->options->skips_existing)
        return true;
    if (!outputs_exist(collector_outputs(run->collector), sequence, is_done, err))
        return false;
    if (*is_done)
        tell(run->options, "%s is skipped: its outputs exist", sequence->key);
    if (*is_done && run->options->expected.n > 0)
        warn(run->options,
             "--expect compares nothing: the outputs exist, and --skip-existing skips");
    return true;
}

static bool run_sequence(struct run *run, struct worker *worker, const struct sequence *sequence,
                         struct irrun_error *err)
{
    bool is_done;
    if (!is_done_already(run, sequence, &is_done, err))
        return false;
    if (is_done)
        return collector_skip(run->collector, sequence);
    return worker_prepare(worker, sequence, err) &&
           (run->is_dry || worker_run(worker, sequence, err));
}

/* Weights that were written to meanwhile explain every other failure. */
static void blame_weights(const struct run *run, struct irrun_error *err)
{
    struct irrun_error written;
    if (err->code != IRRUN_OK && !irrun_model_check_weights(run->model, &written))
        *err = written;
}

/* What a worker does: one sequence after the other, until there is none or one has failed. */
static void run_worker(struct run *run, struct worker *worker)
{
    struct sequence sequence = {.key = NULL};
    struct irrun_error err = {.code = IRRUN_OK};
    while (next_sequence(run, &sequence, &err)) {
        if (!run_sequence(run, worker, &sequence, &err)) {
            sequence_locate(&sequence, &err);
            blame_weights(run, &err);
            if (leave_out(run, worker, &sequence, &err)) {
                sequence_free(&sequence);
                continue;
            }
            collector_give_up(run->collector, &worker->backlog, &sequence);
            note_failure(run, sequence.index, &err);
            break;
        }
        sequence_free(&sequence);
        if (worker_is_late(worker))
            begin_no_more(run);
    }
    sequence_free(&sequence);
}

struct worker_thread {
    pthread_t thread;
    struct run *run;
    struct worker *worker;
};

static void *start_worker(void *context)
{
    struct worker_thread *thread = context;
    run_worker(thread->run, thread->worker);
    return NULL;
}

/* The first worker is this thread. If no further thread can be started there are fewer workers. */
static bool run_workers(struct run *run, struct irrun_error *err)
{
    size_t n_started = 0;
    struct worker_thread *threads = new_array(run->n_workers, sizeof *threads, err);
    if (!threads)
        return false;
    struct progress progress;
    progress_start(&progress, run->options, run->counters, run->n_workers,
                   sequences_are_many(run->options));
    for (; n_started + 1 < run->n_workers; n_started++) {
        struct worker_thread *thread = &threads[n_started];
        *thread = (struct worker_thread){.run = run, .worker = &run->workers[n_started + 1]};
        if (pthread_create(&thread->thread, NULL, start_worker, thread) != 0)
            break;
    }
    run_worker(run, &run->workers[0]);
    for (size_t i = 0; i < n_started; i++)
        pthread_join(threads[i].thread, NULL);
    progress_stop(&progress);
    free(threads);
    return err->code == IRRUN_OK;
}

/* ---- What it took ---------------------------------------------------------------------------- */

/* Adds up what the workers did; *loops_s is the time that all of them spent in iterations. */
static void sum_up(struct run *run, struct irrun_session_info *info, double *loops_s)
{
    struct stats *stats = &run->workers[0].stats;
    irrun_session_describe(run->workers[0].session, info);
    *loops_s = stats->loop_s;
    for (size_t i = 1; i < run->n_workers; i++) {
        struct irrun_session_info other;
        irrun_session_describe(run->workers[i].session, &other);
        info->arena_bytes += other.arena_bytes;
        info->state_bytes += other.state_bytes;
        *loops_s += run->workers[i].stats.loop_s;
        stats_merge(stats, &run->workers[i].stats);
    }
}

static bool take_profile(const struct run *run, const struct irrun_session_info *info,
                         double loops_s, struct profile *profile, struct irrun_error *err)
{
    const struct irrun_session **sessions = new_array(run->n_workers, sizeof *sessions, err);
    for (size_t i = 0; i < run->n_workers && sessions; i++)
        sessions[i] = run->workers[i].session;
    bool is_taken = sessions && profile_new(profile, sessions, run->n_workers, loops_s, info, err);
    free(sessions);
    return is_taken;
}

/* is_whole: the run came to its end. */
static bool show_all(struct run *run, bool is_whole, double load_s, struct report *report,
                     struct irrun_error *err)
{
    const struct options *options = run->options;
    struct stats *stats = &run->workers[0].stats;
    struct irrun_session_info info;
    struct profile profile = {.times = NULL};
    double loops_s;
    sum_up(run, &info, &loops_s);
    stats->load_s = load_s;
    if (options->wants_stats && is_whole)
        stats_print(stderr, stats, options, run->model, &info);
    bool is_profiled = is_whole && option_is_given(options, OPTION_ID_profile);
    report->profile = is_profiled ? &profile : NULL;
    report->info = &info;
    bool is_shown =
        (!is_profiled || (take_profile(run, &info, loops_s, &profile, err) &&
                          profile_print(stderr, &profile, options->profiles_types, err))) &&
        (!options->report_path || report_write(report, err));
    profile_free(&profile);
    return is_shown;
}

static bool show(struct run *run, const struct stats_clocks *start, double load_s,
                 struct irrun_error *err)
{
    const struct options *options = run->options;
    struct stats *stats = &run->workers[0].stats;
    if (!options->wants_stats && !options->report_path &&
        !option_is_given(options, OPTION_ID_profile))
        return true;
    const struct stats_clocks end = stats_read_clocks();
    stats->total_s = end.wall_s - start->wall_s;
    stats->cpu_s = end.cpu_s - start->cpu_s;
    stats->peak_rss_bytes = stats_peak_rss_bytes(); /* without a BLAS that is loaded to be named */
    struct report report = {.model = run->model,
                            .options = options,
                            .stats = stats,
                            .collector = run->collector,
                            .exit_code = (int)err->code};
    struct irrun_error show_error = {.code = IRRUN_OK};
    bool is_whole = err->code == IRRUN_OK || err->code == IRRUN_MISMATCH;
    if (show_all(run, is_whole, load_s, &report, &show_error))
        return true;
    if (err->code == IRRUN_OK)
        *err = show_error;
    return false;
}

bool run_model(struct irrun_model *model, const struct options *options,
               const struct stats_clocks *start, double load_s, struct irrun_error *err)
{
    struct run run = {.options = options, .model = model, .failures = {.options = options}};
    bool is_ready = prepare(&run, err);
    bool is_done = is_ready && (run.is_dry || run_paths_reserve(run.paths, err)) &&
                   run_workers(&run, err) && finish(&run, err);
    if (is_ready)
        is_done = show(&run, start, load_s, err) && is_done;
    release(&run);
    return is_done;
}

/* ---- --check --------------------------------------------------------------------------------- */

bool check_model(struct irrun_model *model, const struct options *options, struct irrun_error *err)
{
    struct run run = {.options = options, .model = model};
    struct sequence sequence = {.key = NULL};
    bool has_inputs = options->inputs.n > 0 || options->randoms.n > 0, has_one = false;
    bool is_fine = prepare(&run, err);
    if (is_fine && has_inputs)
        is_fine = sequences_next(run.sequences, &sequence, &has_one, err) &&
                  (!has_one || worker_prepare(&run.workers[0], &sequence, err));
    else if (is_fine && warn_unchecked(model, options))
        is_fine = true;
    else
        is_fine = is_fine && worker_plan(&run.workers[0], err);
    sequence_free(&sequence);
    release(&run);
    return is_fine;
}
