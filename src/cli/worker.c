/* Runs the records of a sequence in a loop.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/worker.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/all_outputs.h"
#include "cli/machine.h"
#include "cli/warning.h"
#include "cli/worker_internal.h"

/* ---- Opening and planning -------------------------------------------------------------------- */

/* --denormals applies to the computation, not to reading and writing. */
static uint64_t set_denormals(const struct worker *worker)
{
    return worker->options->flushes_denormals ? machine_flush_denormals() : 0;
}

static void restore_denormals(const struct worker *worker, uint64_t mode)
{
    if (worker->options->flushes_denormals)
        machine_restore_denormals(mode);
}

/* The threads of the session inherit the floating-point mode of this thread. */
static bool open_session(struct worker *worker, struct irrun_error *err)
{
    uint64_t mode = set_denormals(worker);
    bool is_open = irrun_session_new(worker->model, &worker->session, err);
    restore_denormals(worker, mode);
    if (is_open)
        irrun_session_on_warning(worker->session, worker_show_warning, worker);
    return is_open;
}

static bool flush(void *context, struct irrun_error *err)
{
    struct worker *worker = context;
    return (!worker->batch || worker_batch_run(worker, err)) &&
           collector_flush(worker->collector, worker->sequence, err);
}

bool worker_open(struct worker *worker, struct irrun_model *model,
                 const struct model_identity *model_identity, const struct options *options,
                 struct collector *collector, struct irrun_error *err)
{
    const struct reset_policy *reset = &options->reset;
    *worker = (struct worker){.options = options,
                              .model = model,
                              .model_identity = model_identity,
                              .collector = collector,
                              .wait = {flush, worker},
                              .n_values = irrun_model_n_outputs(model),
                              .end_ns = UINT64_MAX};
    worker->reset_period = reset->when == RESET_ITERATION ? 1
                           : reset->when == RESET_EVERY   ? reset->every
                                                          : 0;
    worker->values =
        new_array(all_outputs_count(model, options), sizeof(struct irrun_tensor *), err);
    if (!worker->values)
        return false;
    if (options->until_name &&
        !all_outputs_find(model, options, options->until_name, &worker->until_output, err))
        return false;
    worker->stats.is_timed = options->wants_stats || options->report_path ||
                             options->deadline_s > 0 || option_is_given(options, OPTION_ID_profile);
    worker->stats.lateness.deadline_ns = (uint64_t)ceil(options->deadline_s * 1e9);
    if (!open_session(worker, err) ||
        !inputs_new(model, worker->session, options, &worker->wait, &worker->inputs, err))
        return false;
    worker->variables = (struct all_variables){model, worker->session, worker->inputs};
    return worker_keys_open(worker, err) && worker_batch_open(worker, err) &&
           (!worker->stats.is_timed ||
            latency_new(&worker->stats.latency, options->wants_samples, err));
}

void worker_close(struct worker *worker)
{
    event_track_close(worker->track);
    worker_keys_close(worker);
    worker_batch_close(worker);
    tap_file_free(worker->tap_all);
    tap_file_free(worker->tap_records);
    diff_free(worker->diff);
    irrun_session_free(worker->session);
    inputs_free(worker->inputs);
    snapshot_free(&worker->snapshot);
    snapshot_free(&worker->loaded);
    latency_free(&worker->stats.latency);
    checkpoint_free(&worker->checkpoint);
    free(worker->identity);
    free(worker->backlog.bytes);
    free(worker->values);
    *worker = (struct worker){.options = NULL};
}

/* Sets worker->values to the outputs, and to the current values of fed inputs. */
static void set_values(struct worker *worker)
{
    for (size_t i = 0; i < worker->n_values; i++)
        worker->values[i] = irrun_session_output(worker->session, i);
    for (size_t i = 0; i < worker->options->feeds.n; i++)
        worker->values[worker->n_values + i] = inputs_variable(worker->inputs, i);
}

/* Returns whether the records are repeated: the first follows the last. */
static bool repeats_records(const struct worker *worker)
{
    const struct options *options = worker->options;
    return options->n_iterations != NO_LIMIT || options->duration_s > 0 ||
           (options->until_name && !inputs_are_stacked(worker->inputs));
}

/* Checks that an option limits the run if --feed fills all inputs. */
static bool check_end(const struct worker *worker, struct irrun_error *err)
{
    if (!inputs_are_all_fed(worker->inputs) || repeats_records(worker) ||
        inputs_are_stacked(worker->inputs))
        return true;
    fail(err, IRRUN_USAGE, "every input comes from --feed: the sequence has no end");
    return fail_hint(err, "limit it with -n, --until or --duration");
}

bool worker_plan(struct worker *worker, struct irrun_error *err)
{
    double start_s = stats_now_s();
    uint64_t mode = set_denormals(worker);
    bool is_planned = irrun_session_plan(worker->session, err); /* also computes constants */
    restore_denormals(worker, mode);
    worker->stats.plan_s += stats_now_s() - start_s;
    set_values(worker);
    return is_planned &&
           outputs_check_axes(collector_outputs(worker->collector), worker->values, err);
}

bool worker_prepare(struct worker *worker, const struct sequence *sequence, struct irrun_error *err)
{
    worker->sequence = sequence;
    if (!inputs_open(worker->inputs, sequence,
                     outputs_depend_on_layout(collector_outputs(worker->collector)), err) ||
        !check_end(worker, err) || !worker_state_begin(worker, sequence, err) ||
        !worker_plan(worker, err) || !inputs_check_feeds(worker->inputs, worker->values, err))
        return false;
    if (sequence->index == 0)
        worker_show_plan(worker);
    outputs_check_rate(collector_outputs(worker->collector), worker->values,
                       inputs_n_frames(worker->inputs));
    return true;
}

/* ---- Iterations ------------------------------------------------------------------------------ */

bool worker_read_record(struct worker *worker, uint64_t index, bool *has_record,
                        struct irrun_error *err)
{
    bool repeats = repeats_records(worker);
    *has_record = true;
    if (index > 0 && repeats && !inputs_are_stacked(worker->inputs))
        return true;
    if (!inputs_next(worker->inputs, has_record, err))
        return false;
    if (*has_record || !repeats)
        return true;
    return inputs_rewind(worker->inputs, err) && inputs_next(worker->inputs, has_record, err);
}

static bool run_session(struct worker *worker, struct irrun_error *err)
{
    uint64_t mode = set_denormals(worker);
    bool is_run = irrun_session_run(worker->session, err);
    restore_denormals(worker, mode);
    return is_run;
}

bool worker_warm_up(struct worker *worker, struct irrun_error *err)
{
    uint64_t n = worker->options->n_warmups;
    if (worker->is_warm || n == 0)
        return true;
    worker->is_warm = true;
    uint64_t start = event_start(worker->track);
    double start_s = stats_now_s();
    if (!snapshot_save(&worker->snapshot, &worker->variables, err))
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (!run_session(worker, err))
            return fail_append(err, " (in warm-up %" PRIu64 ")", i);
    bool is_restored = snapshot_restore(&worker->snapshot, &worker->variables, err);
    snapshot_free(&worker->snapshot);
    irrun_session_clear_times(worker->session);
    event_add(worker->track, "warm-up", n, start);
    worker->stats.loop_s -= stats_now_s() - start_s;
    return is_restored;
}

bool worker_run_once(struct worker *worker, uint64_t index, struct irrun_error *err)
{
    struct stats *stats = &worker->stats;
    worker->record = index;
    if (!stats->is_timed && !worker->track)
        return run_session(worker, err);
    uint64_t start_ns =
        stats->is_timed ? slowest_begin(&stats->slowest, worker->session) : clock_now_ns();
    bool is_run = run_session(worker, err);
    uint64_t end_ns = clock_now_ns(), duration_ns = end_ns - start_ns;
    event_add(worker->track, "iteration", index, start_ns);
    if (!stats->is_timed)
        return is_run;
    stats->busy_s += (double)duration_ns * 1e-9;
    if (worker->available_ns > 0)
        duration_ns = end_ns - worker->available_ns;
    slowest_end(&stats->slowest, worker->session, duration_ns, worker->sequence->index, index);
    if (stats->latency.n == 0)
        stats->first_iteration_s = (double)duration_ns * 1e-9;
    latency_add(&stats->latency, duration_ns);
    lateness_add(&stats->lateness, duration_ns);
    return is_run;
}

static bool write_tap_records(struct worker *worker, struct irrun_error *err)
{
    const struct options *options = worker->options;
    const char *path = options->tap_records_path;
    return !path ||
           ((worker->tap_records || tap_file_open(path, worker->model, worker->session, true,
                                                  options->is_synced, &worker->tap_records, err)) &&
            tap_file_add(worker->tap_records, worker->session, err));
}

/* Writes the tensors of the last iteration now, because the next sequence reuses the memory of the
 * inputs. */
static bool write_tap_all(struct worker *worker, struct irrun_error *err)
{
    const struct options *options = worker->options;
    tap_file_free(worker->tap_all);
    worker->tap_all = NULL;
    return tap_file_open(options->tap_all_path, worker->model, worker->session, false,
                         options->is_synced, &worker->tap_all, err) &&
           tap_file_add(worker->tap_all, worker->session, err);
}

static bool compare_tensors(struct worker *worker, uint64_t index, struct irrun_error *err)
{
    uint64_t mode = set_denormals(worker);
    bool is_equal = diff_compare(worker->diff, index, err);
    restore_denormals(worker, mode);
    return is_equal;
}

/* Passes the results of an iteration to the outputs, --tap-records, --diff and --until, and back to
 * the inputs. */
static bool distribute(struct worker *worker, const struct sequence *sequence, uint64_t index,
                       bool *is_over, struct irrun_error *err)
{
    set_values(worker);
    return inputs_choose_next(worker->inputs, worker->values, worker->n_values,
                              worker->keys ? inputs_key(worker->inputs) : 0, err) &&
           (!collector_wants_all(worker->collector) ||
            collector_add(worker->collector, &worker->backlog, sequence, worker->values, index,
                          false, err)) &&
           write_tap_records(worker, err) && compare_tensors(worker, index, err) &&
           worker_until_is_reached(worker, is_over, err) && inputs_feed_back(worker->inputs, err);
}

bool worker_time_is_over(const struct worker *worker)
{
    return worker->end_ns != UINT64_MAX && clock_now_ns() >= worker->end_ns;
}

static bool iterate(struct worker *worker, const struct sequence *sequence, uint64_t *n_done,
                    struct irrun_error *err)
{
    const struct options *options = worker->options;
    bool distributes = collector_wants_all(worker->collector) ||
                       inputs_n_variables(worker->inputs) > 0 || options->until_name ||
                       options->tap_records_path || worker->diff;
    bool is_over = false;
    uint64_t start = *n_done, n_earlier = worker->stats.n_iterations;
    for (; *n_done < options->n_iterations && !is_over && !worker_time_is_over(worker); ++*n_done) {
        uint64_t index = *n_done;
        bool has_record;
        uint64_t begin = event_start(worker->track);
        if (!worker_read_record(worker, index, &has_record, err))
            return false;
        event_add(worker->track, "read", index, begin);
        if (!has_record) {
            inputs_warn_doubtful(worker->inputs);
            break;
        }
        if (worker->identity && index > start && !worker_checkpoint_step(worker, index, err))
            return false;
        uint64_t n_before = index; /* earlier records of the sequence, or of the key */
        if (worker->keys && !worker_keys_select(worker, &n_before, err))
            return false;
        if (worker_wants_reset(worker, n_before) && !worker_state_reset(worker, index, err))
            return false;
        if (!inputs_count(worker->inputs, err) || !worker_warm_up(worker, err) ||
            !worker_wait_for_record(worker, index, err))
            return false;
        if (worker->options->is_paced && worker_time_is_over(worker))
            break;
        if (!worker_run_once(worker, index, err))
            return index > 0 && fail_append(err, " (in iteration %" PRIu64 ")", index);
        begin = event_start(worker->track);
        if (distributes && !distribute(worker, sequence, index, &is_over, err))
            return false;
        event_add(worker->track, "write", index, begin);
        atomic_store_explicit(&worker->counter.n_iterations, n_earlier + index + 1 - start,
                              memory_order_relaxed);
    }
    return true;
}

/* Sets the expected number of iterations for the progress line, and the end of --duration. */
static void expect_iterations(struct worker *worker)
{
    const struct options *options = worker->options;
    uint64_t n = options->n_iterations != NO_LIMIT ? options->n_iterations
                 : repeats_records(worker)         ? 0
                                                   : inputs_n_expected(worker->inputs);
    atomic_store_explicit(&worker->counter.n_expected, n, memory_order_relaxed);
    if (options->duration_s > 0 && worker->end_ns == UINT64_MAX)
        worker->end_ns = clock_now_ns() + (uint64_t)(fmin(options->duration_s, 1e9) * 1e9);
}

/* Runs the records after those of worker->checkpoint, and writes the last record if --emit=last. */
static bool run_records(struct worker *worker, const struct sequence *sequence,
                        struct irrun_error *err)
{
    struct collector *collector = worker->collector;
    uint64_t start = worker->checkpoint.n_iterations, n_done = start;
    double start_s = stats_now_s();
    if (worker->checkpoint.is_finishing)
        return true;
    worker->pace = (struct pace){.start_ns = 0};
    lateness_begin_sequence(&worker->stats.lateness);
    expect_iterations(worker);
    bool is_run = worker->batch ? worker_batch_iterate(worker, &n_done, err)
                                : iterate(worker, sequence, &n_done, err);
    worker->stats.loop_s += stats_now_s() - start_s;
    worker->stats.n_iterations += n_done - start;
    worker->stats.n_records += inputs_n_records(worker->inputs);
    worker->stats.n_frames += (n_done - start) * inputs_n_frames(worker->inputs);
    if (worker->keys)
        worker->stats.keys = key_states_stats(worker->keys->states);
    atomic_fetch_add_explicit(&worker->counter.n_sequences, 1, memory_order_relaxed);
    if (!worker->batch)
        set_values(worker);
    return is_run && outputs_check_axes(collector_outputs(collector), worker->values, err) &&
           (n_done == start || !collector_wants_last(collector) ||
            collector_add(collector, &worker->backlog, sequence, worker->values, n_done - 1, true,
                          err)) &&
           (n_done == start || !worker->options->tap_all_path || write_tap_all(worker, err)) &&
           worker_checkpoint_finish(worker, n_done, err);
}

bool worker_run(struct worker *worker, const struct sequence *sequence, struct irrun_error *err)
{
    struct collector *collector = worker->collector;
    if (!worker_checkpoint_begin(worker, err) || !diff_copy_variables(worker->diff, err))
        return false;
    bool is_stacked = collector_writes_all(collector) &&
                      (inputs_are_stacked(worker->inputs) ||
                       (repeats_records(worker) && worker->options->n_iterations != 1));
    set_values(worker);
    return collector_begin(collector, &worker->backlog, sequence, worker->values, is_stacked,
                           err) &&
           run_records(worker, sequence, err) && irrun_model_check_weights(worker->model, err) &&
           collector_end(collector, &worker->backlog, sequence, err);
}
