/* Distributes the sequences among the workers, and ends the run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/run.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "cli/advice.h"
#include "cli/all_outputs.h"
#include "cli/run_internal.h"
#include "cli/warning.h"
#include "cli/worker_internal.h"

/* ---- Opening and closing --------------------------------------------------------------------- */

static bool close_run(struct run *run, struct irrun_error *err)
{
    sequences_free(run->sequences);
    collector_free(run->collector);
    run_paths_free(run->paths);
    for (size_t i = 0; i < run->n_workers; i++)
        worker_close(&run->workers[i]);
    free(run->workers);
    free(run->counters);
    bool is_traced = event_trace_close(run->trace, err);
    pthread_mutex_destroy(&run->lock);
    return is_traced;
}

static bool open_workers(struct run *run, struct irrun_error *err)
{
    size_t n = sequences_are_many(run->options) ? run->options->n_jobs : 1;
    run->workers = new_array(n, sizeof *run->workers, err);
    run->counters = new_array(n, sizeof(struct progress_counter *), err);
    if (!run->workers || !run->counters)
        return false;
    /* Nothing is compared with -n 0, or by --check, which does not load a reference model. */
    bool compares = !run->is_check && (run->reference || !diff_runs_model(run->options));
    for (size_t i = 0; i < n; i++) {
        struct worker *worker = &run->workers[run->n_workers++];
        run->counters[i] = &worker->counter;
        if (!worker_open(worker, run->model, &run->model_identity, run->options, run->collector,
                         err) ||
            (compares && !diff_new(run->model, run->reference, worker->session, run->options,
                                   &worker->diff, err)))
            return false;
    }
    return true;
}

static bool open_trace(struct run *run, double start_s, struct irrun_error *err)
{
    const char *path = run->options->trace_path;
    uint64_t start_ns = (uint64_t)(start_s * 1e9);
    if (!path)
        return true;
    bool is_open = event_trace_open(path, start_ns, &run->trace, err);
    for (size_t i = 0; i < run->n_workers && is_open; i++) {
        struct worker *worker = &run->workers[i];
        is_open = event_track_open(run->trace, (unsigned)i, worker->session, &worker->track, err);
    }
    if (is_open)
        event_add(run->workers[0].track, "load", 0, start_ns);
    return is_open;
}

static bool flush(void *context, struct irrun_error *err)
{
    return collector_flush(context, NULL, err);
}

static bool prepare_run(struct run *run, struct irrun_error *err)
{
    const struct options *options = run->options;
    pthread_mutex_init(&run->lock, NULL);
    run->error = err;
    run->error_index = UINT64_MAX;
    run->is_check = options->n_iterations == 0;
    if (options->state_in || options->state_out || options->checkpoint_path)
        model_identify(run->model, &run->model_identity);
    if (!worker_keys_check(options, err) || !worker_state_check(options, err) ||
        !checkpoint_check(options, err) || !all_outputs_check_feeds(run->model, options, err) ||
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

/* Fails if results were late, with --deadline=SEC,fail. Without `fail`, warns about late results,
 * unless --stats or --report shows them. */
static bool check_lateness(const struct run *run, struct irrun_error *err)
{
    const struct options *options = run->options;
    struct lateness all = {.n = 0};
    for (size_t i = 0; i < run->n_workers; i++)
        lateness_merge(&all, &run->workers[i].stats.lateness);
    if (lateness_check(&all, err))
        return true;
    if (options->fails_if_late)
        return false;
    if (!options->wants_stats && !options->report_path)
        warn(options, "%s", err->message);
    error_clear(err);
    return true;
}

/* Finishes the outputs before the state. If an output failed after the state was written, the next
 * run would continue after records that were not written. */
static bool finish_files(struct run *run, struct irrun_error *err)
{
    const struct worker *worker = &run->workers[0];
    uint64_t start = event_start(worker->track);
    if (!outputs_finish(collector_outputs(run->collector), err) ||
        !worker_state_end_run(&run->workers[0], err) || !tap_file_finish(worker->tap_all, err) ||
        !tap_file_finish(worker->tap_records, err) ||
        !diff_finish(worker->diff, worker->stats.n_iterations, err))
        return false;
    if (run->options->checkpoint_path && !checkpoint_remove(run->options, err))
        return false;
    event_add(worker->track, "finish", 0, start);
    return true;
}

/* Ends the run. Finishes no file if every sequence failed. */
static bool finish_run(struct run *run, struct irrun_error *err)
{
    bool have_all_failed = run->n_failed > 0 && run->n_failed == run->n_sequences;
    if (!run->is_check && !have_all_failed && !finish_files(run, err))
        return false;
    if (run->n_failed > 0)
        return fail(err, run->first_code, "%" PRIu64 " of %" PRIu64 " sequences failed",
                    run->n_failed, run->n_sequences);
    return run->is_check ||
           (collector_finish_compare(run->collector, err) && check_lateness(run, err));
}

/* ---- Sequences ------------------------------------------------------------------------------- */

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

/* Returns whether the run continues with other sequences after a failure. If so, reports the
 * failure and clears *err. The caller holds the lock. */
static bool continue_after_failure(struct run *run, const struct sequence *sequence,
                                   struct irrun_error *err)
{
    const struct options *options = run->options;
    bool is_from_manifest = err->code == IRRUN_MISMATCH || err->code == IRRUN_DATA ||
                            err->code == IRRUN_NO_INPUT || err->code == IRRUN_UNSUPPORTED;
    if (!options->keeps_going || !is_from_manifest)
        return false;
    if (run->n_failed++ == 0 || sequence->number < run->first_failed) {
        run->first_failed = sequence->number;
        run->first_code = err->code;
    }
    warning_show_progress(options, NULL, options->progress == PROGRESS_PLAIN);
    advise(options, err);
    warning_show_error(options, err);
    error_clear(err);
    return true;
}

/* Reads the next sequence. With --keep-going, skips invalid lines of a manifest. The caller holds
 * the lock. */
static bool read_sequence(struct run *run, struct sequence *sequence, bool *has_one,
                          struct irrun_error *err)
{
    while (!run->is_over) {
        run->n_sequences++;
        if (sequences_next(run->sequences, sequence, has_one, err)) {
            run->n_sequences -= !*has_one;
            return true;
        }
        if (!sequence->place.file || !continue_after_failure(run, sequence, err))
            return false;
        sequence_free(sequence);
    }
    return true;
}

static bool drop_failed_sequence(struct run *run, struct worker *worker,
                                 const struct sequence *sequence, struct irrun_error *err)
{
    pthread_mutex_lock(&run->lock);
    bool continues = continue_after_failure(run, sequence, err);
    pthread_mutex_unlock(&run->lock);
    return continues && collector_drop_sequence(run->collector, &worker->backlog, sequence, err);
}

/* Reads the next sequence and claims its files. Returns whether there is a next sequence. If a file
 * cannot be claimed, returns true and sets *err. */
static bool next_sequence(struct run *run, const struct worker *worker, struct sequence *sequence,
                          struct irrun_error *err)
{
    bool has_one = false;
    pthread_mutex_lock(&run->lock);
    run->is_over |= worker_time_is_over(worker);
    bool is_read = read_sequence(run, sequence, &has_one, err);
    if (is_read && has_one)
        run_paths_begin_sequence(run->paths, sequence, err);
    run->is_over |= !has_one;
    pthread_mutex_unlock(&run->lock);
    if (!is_read)
        note_failure(run, sequence->index, err);
    return has_one && is_read;
}

/* Sets *is_skipped to whether --skip-existing skips the sequence. */
static bool check_existing(struct run *run, const struct sequence *sequence, bool *is_skipped,
                           struct irrun_error *err)
{
    *is_skipped = false;
    if (!run->options->skips_existing)
        return true;
    if (!outputs_exist(collector_outputs(run->collector), sequence, is_skipped, err))
        return false;
    if (*is_skipped)
        inform(run->options, "%s is skipped: its outputs exist", sequence->key);
    if (*is_skipped && run->options->expected.n > 0)
        warn(run->options,
             "--expect compares nothing: --skip-existing skips the sequence, whose outputs exist");
    return true;
}

/* Runs a sequence to its end, and saves its state. */
static bool run_to_end(struct run *run, struct worker *worker, const struct sequence *sequence,
                       struct irrun_error *err)
{
    bool is_one = !sequences_are_many(run->options);
    return worker_run(worker, sequence, err) &&
           (!is_one || outputs_finish(collector_outputs(run->collector), err)) &&
           worker_state_end_sequence(worker, sequence, err);
}

static bool run_sequence(struct run *run, struct worker *worker, const struct sequence *sequence,
                         struct irrun_error *err)
{
    bool is_skipped;
    uint64_t start = event_start(worker->track);
    if (!check_existing(run, sequence, &is_skipped, err))
        return false;
    if (is_skipped)
        return collector_skip(run->collector, sequence);
    bool is_run = worker_prepare(worker, sequence, err) &&
                  (run->is_check ? collector_skip(run->collector, sequence)
                                 : run_to_end(run, worker, sequence, err));
    event_add(worker->track, "sequence", sequence->index, start);
    return is_run;
}

/* Runs one sequence after another, until the last one, or until one fails. */
static void run_worker(struct run *run, struct worker *worker)
{
    struct sequence sequence = {.key = NULL};
    struct irrun_error err = {.code = IRRUN_OK}, modified;
    while (next_sequence(run, worker, &sequence, &err)) {
        if (err.code != IRRUN_OK || !run_sequence(run, worker, &sequence, &err)) {
            sequence_locate(&sequence, &err);
            if (err.code != IRRUN_OK && !irrun_model_check_weights(run->model, &modified))
                err = modified; /* the probable cause of any other error */
            if (!drop_failed_sequence(run, worker, &sequence, &err)) {
                collector_fail_sequence(run->collector, &worker->backlog, &sequence);
                note_failure(run, sequence.index, &err);
                break;
            }
        }
        sequence_free(&sequence);
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

/* Runs the first worker in this thread, and each other worker in a thread of its own. If a thread
 * cannot be started, runs fewer workers. */
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

/* ---- The run --------------------------------------------------------------------------------- */

bool run_model(struct irrun_model *model, struct irrun_model *reference,
               const struct options *options, const struct stats_clocks *start, double load_s,
               struct irrun_error *err)
{
    struct run run = {.options = options, .model = model, .reference = reference};
    bool is_ready = prepare_run(&run, err);
    bool is_done = is_ready &&
                   (run.is_check ||
                    (run_paths_reserve(run.paths, err) && open_trace(&run, start->wall_s, err))) &&
                   run_workers(&run, err) && finish_run(&run, err);
    if (is_ready)
        is_done = run_show(&run, start, load_s, err) && is_done;
    return close_run(&run, err) && is_done;
}

/* ---- --check --------------------------------------------------------------------------------- */

/* Prepares a sequence, and reads its first record, because csv has no header with type and
 * shape. */
static bool check_sequence(struct worker *worker, const struct sequence *sequence,
                           struct irrun_error *err)
{
    bool has_record;
    if (!worker_prepare(worker, sequence, err) || !worker_read_record(worker, 0, &has_record, err))
        return false;
    if (!has_record)
        inputs_warn_doubtful(worker->inputs);
    return true;
}

bool check_model(struct irrun_model *model, const struct options *options, struct irrun_error *err)
{
    struct run run = {.options = options, .model = model};
    struct sequence sequence = {.key = NULL};
    bool has_inputs = options->inputs.n > 0 || options->randoms.n > 0 || options->manifest_path;
    bool is_fine = prepare_run(&run, err), has_one = has_inputs;
    while (is_fine && has_one) {
        is_fine = sequences_next(run.sequences, &sequence, &has_one, err);
        if (is_fine && has_one && !check_sequence(&run.workers[0], &sequence, err)) {
            sequence_locate(&sequence, err);
            is_fine = false;
        }
        sequence_free(&sequence);
    }
    if (is_fine && !has_inputs && !warn_unchecked(model, options))
        is_fine = worker_plan(&run.workers[0], err);
    return close_run(&run, err) && is_fine;
}
