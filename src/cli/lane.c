/* The loop over the records of a sequence. Where records come from and where outputs go is not
 * decided here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/lane.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lane_parts.h"
#include "cli/machine.h"
#include "cli/warning.h"
#include "formats/csv_number.h"

/* ---- Preparing ------------------------------------------------------------------------------- */

/* Between these two floats are as --denormals says: the mode is that of what computes, not of what
 * reads and writes. */
static uint64_t begin_floats(const struct lane *lane)
{
    return lane->options->flushes_denormals ? machine_flush_denormals() : 0;
}

static void end_floats(const struct lane *lane, uint64_t mode)
{
    if (lane->options->flushes_denormals)
        machine_set_floats(mode);
}

/* Threads that the session has take the mode for floats from this one. */
static bool open_session(struct lane *lane, struct irrun_error *err)
{
    uint64_t mode = begin_floats(lane);
    bool is_open = irrun_session_new(lane->model, &lane->session, err);
    end_floats(lane, mode);
    return is_open;
}

static bool flush(void *context, struct irrun_error *err)
{
    struct lane *lane = context;
    return collector_flush(lane->collector, lane->sequence, err);
}

bool lane_open(struct lane *lane, struct irrun_model *model,
               const struct model_identity *model_identity, const struct options *options,
               struct collector *collector, struct irrun_error *err)
{
    const struct reset_policy *reset = &options->reset;
    *lane = (struct lane){.options = options,
                          .model = model,
                          .model_identity = model_identity,
                          .collector = collector,
                          .wait = {flush, lane},
                          .n_values = irrun_model_n_outputs(model),
                          .deadline_ns = UINT64_MAX};
    lane->reset_period = reset->when == RESET_ITERATION ? 1
                         : reset->when == RESET_EVERY   ? reset->every
                                                        : 0;
    lane->values = new_array(lane->n_values, sizeof(struct irrun_tensor *), err);
    if (!lane->values)
        return false;
    if (options->until_name &&
        !irrun_model_find_output(model, options->until_name, &lane->until_output, err))
        return false;
    lane->stats.is_timed = options->wants_stats || options->report_path;
    return open_session(lane, err) && inputs_new(model, options, &lane->wait, &lane->inputs, err) &&
           (!lane->stats.is_timed ||
            latency_new(&lane->stats.latency, options->wants_samples, err));
}

void lane_close(struct lane *lane)
{
    irrun_session_free(lane->session);
    inputs_free(lane->inputs);
    snapshot_free(&lane->snapshot);
    snapshot_free(&lane->loaded);
    latency_free(&lane->stats.latency);
    checkpoint_free(&lane->checkpoint);
    free(lane->identity);
    free(lane->backlog.bytes);
    free(lane->values);
    *lane = (struct lane){.options = NULL};
}

static void look_at_outputs(struct lane *lane)
{
    for (size_t i = 0; i < lane->n_values; i++)
        lane->values[i] = irrun_session_output(lane->session, i);
}

static void tell_plan(const struct lane *lane)
{
    struct irrun_session_info info;
    if (!lane->options->is_verbose)
        return;
    irrun_session_describe(lane->session, &info);
    inputs_tell(lane->inputs);
    tell(lane->options,
         "plan: %zu steps an iteration, gemm %s, SIMD %s, %zu bytes of values, %zu of state",
         info.n_steps, info.gemm, info.simd, info.arena_bytes, info.state_bytes);
    if (info.n_fused_ops > 0)
        tell(lane->options,
             "plan: %zu element-wise ops are joined with their neighbours into one step",
             info.n_fused_ops);
    if (info.n_view_ops > 0)
        tell(lane->options, "plan: %zu ops that would only copy are left out", info.n_view_ops);
    if (info.n_epilogue_ops > 0)
        tell(lane->options, "plan: %zu element-wise ops are done by the product before them",
             info.n_epilogue_ops);
}

/* Whether the records begin again once they have ended. */
static bool is_cyclic(const struct lane *lane)
{
    const struct options *options = lane->options;
    return options->n_iterations != NO_LIMIT || options->duration_s > 0 ||
           (options->until_name && !inputs_are_stacked(lane->inputs));
}

/* Inputs that only --feed fills never end. */
static bool check_end(const struct lane *lane, struct irrun_error *err)
{
    size_t n = lane->options->loops.n;
    if (n == 0 || n < irrun_model_n_inputs(lane->model) || is_cyclic(lane))
        return true;
    fail(err, IRRUN_USAGE, "every input is filled by --feed: nothing says when the sequence ends");
    return fail_hint(err, "-n, --until or --duration do");
}

bool lane_plan(struct lane *lane, struct irrun_error *err)
{
    double start_s = stats_now_s();
    uint64_t mode = begin_floats(lane);
    bool is_planned = irrun_session_plan(lane->session, err); /* computes constants */
    end_floats(lane, mode);
    lane->stats.plan_s += stats_now_s() - start_s;
    look_at_outputs(lane);
    return is_planned && outputs_check_axes(collector_outputs(lane->collector), lane->values, err);
}

bool lane_prepare(struct lane *lane, const struct sequence *sequence, struct irrun_error *err)
{
    lane->sequence = sequence;
    if (!inputs_open(lane->inputs, sequence, lane->session,
                     outputs_depend_on_layout(collector_outputs(lane->collector)), err) ||
        !check_end(lane, err) || !lane_plan(lane, err))
        return false;
    if (sequence->index == 0)
        tell_plan(lane);
    return true;
}

/* ---- Iterations ------------------------------------------------------------------------------ */

/* The next record; where records are cyclic the first follows the last. */
static bool pull_record(struct lane *lane, uint64_t index, bool cycles, bool *has_record,
                        struct irrun_error *err)
{
    *has_record = true;
    if (index > 0 && cycles && !inputs_are_stacked(lane->inputs))
        return true;
    if (!inputs_next(lane->inputs, lane->session, has_record, err))
        return false;
    if (*has_record || !cycles)
        return true;
    return inputs_rewind(lane->inputs, lane->session, err) &&
           inputs_next(lane->inputs, lane->session, has_record, err);
}

static bool run_session(struct lane *lane, struct irrun_error *err)
{
    uint64_t mode = begin_floats(lane);
    bool is_run = irrun_session_run(lane->session, err);
    end_floats(lane, mode);
    return is_run;
}

/* --warmup: runs on the first record that leave no trace. */
static bool warm_up(struct lane *lane, struct irrun_error *err)
{
    uint64_t n = lane->options->n_warmups;
    if (lane->is_warm || n == 0)
        return true;
    lane->is_warm = true;
    if (!snapshot_take(&lane->snapshot, lane->model, lane->session, err))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        if (!run_session(lane, err))
            return fail_more(err, " (in warm-up %" PRIu64 ")", i);
    }
    bool is_restored = snapshot_restore(&lane->snapshot, lane->session, err);
    snapshot_free(&lane->snapshot);
    return is_restored;
}

static bool run_once(struct lane *lane, struct irrun_error *err)
{
    struct stats *stats = &lane->stats;
    if (!stats->is_timed)
        return run_session(lane, err);
    uint64_t start_ns = stats_now_ns();
    bool is_run = run_session(lane, err);
    uint64_t duration_ns = stats_now_ns() - start_ns;
    if (stats->latency.n == 0)
        stats->first_iteration_s = (double)duration_ns * 1e-9;
    latency_add(&stats->latency, duration_ns);
    return is_run;
}

/* An integer is compared as one: a double would not tell 2^60 from 2^60 + 1. */
static bool equals_until(const struct options *options, const struct irrun_tensor *value)
{
    unsigned char wanted[sizeof(double)];
    const char *why, *text = options->until_text;
    if (!dtype_is_integer(value->dtype))
        return element_as_f64(value->dtype, value->data, 0) == options->until_value;
    return csv_number_parse(text, strlen(text), value->dtype, wanted, &why) &&
           memcmp(wanted, value->data, dtype_size(value->dtype)) == 0;
}

/* --until: whether the scalar has its value. */
static bool is_reached(const struct lane *lane, bool *is_over, struct irrun_error *err)
{
    const struct irrun_tensor *value = lane->values[lane->until_output];
    char shape[SHAPE_TEXT_BYTES];
    *is_over = false;
    if (!lane->options->until_name)
        return true;
    if (shape_n_elements(&value->shape) != 1)
        return fail(err, IRRUN_DATA, "--until: output \"%s\" is %s, but should be one number",
                    lane->options->until_name, shape_format(&value->shape, shape));
    *is_over = equals_until(lane->options, value);
    return true;
}

/* What an iteration has given goes to files, to --expect, and back to the inputs. */
static bool pass_on(struct lane *lane, const struct sequence *sequence, uint64_t index,
                    bool *is_over, struct irrun_error *err)
{
    look_at_outputs(lane);
    return (!collector_wants_all(lane->collector) ||
            collector_take(lane->collector, &lane->backlog, sequence, lane->values, index, false,
                           err)) &&
           is_reached(lane, is_over, err) &&
           inputs_feed_back(lane->inputs, lane->session, lane->values, err);
}

bool lane_is_late(const struct lane *lane)
{
    return lane->deadline_ns != UINT64_MAX && stats_now_ns() >= lane->deadline_ns;
}

static bool iterate(struct lane *lane, const struct sequence *sequence, uint64_t *n_done,
                    struct irrun_error *err)
{
    const struct options *options = lane->options;
    bool has_series = options->reset.when == RESET_IF, cycles = is_cyclic(lane);
    bool looks =
        collector_wants_all(lane->collector) || options->loops.n > 0 || options->until_name;
    bool is_over = false;
    uint64_t start = *n_done, n_before = lane->stats.n_iterations;
    for (; *n_done < options->n_iterations && !is_over && !lane_is_late(lane); ++*n_done) {
        uint64_t index = *n_done;
        bool has_record;
        if (!pull_record(lane, index, cycles, &has_record, err))
            return false;
        if (!has_record && index == 0)
            inputs_warn_empty(lane->inputs);
        if (!has_record)
            break;
        if (lane->identity && index > start && !lane_checkpoint_step(lane, index, err))
            return false;
        bool is_due = lane->reset_period > 0 && index > 0 && index % lane->reset_period == 0;
        if ((is_due || (has_series && inputs_ask_for_reset(lane->inputs))) &&
            !lane_state_reset(lane, err))
            return false;
        if (!warm_up(lane, err))
            return false;
        if (!run_once(lane, err))
            return index > 0 && fail_more(err, " (in iteration %" PRIu64 ")", index);
        if (looks && !pass_on(lane, sequence, index, &is_over, err))
            return false;
        atomic_store_explicit(&lane->counter.n_iterations, n_before + index + 1 - start,
                              memory_order_relaxed);
    }
    return true;
}

/* What the progress line can say of the end, and --duration of the beginning. */
static void expect_iterations(struct lane *lane)
{
    const struct options *options = lane->options;
    uint64_t n = options->n_iterations != NO_LIMIT ? options->n_iterations
                 : is_cyclic(lane)                 ? 0
                                                   : inputs_n_expected(lane->inputs);
    atomic_store_explicit(&lane->counter.n_expected, n, memory_order_relaxed);
    if (options->duration_s > 0 && lane->deadline_ns == UINT64_MAX)
        lane->deadline_ns = stats_now_ns() + (uint64_t)(fmin(options->duration_s, 1e9) * 1e9);
}

/* The records from lane->checkpoint on, and what is written of the last. */
static bool run_records(struct lane *lane, const struct sequence *sequence, struct irrun_error *err)
{
    struct collector *collector = lane->collector;
    uint64_t start = lane->checkpoint.n_iterations, n_done = start;
    double start_s = stats_now_s();
    if (lane->checkpoint.is_finishing)
        return true;
    expect_iterations(lane);
    bool is_run = iterate(lane, sequence, &n_done, err);
    lane->stats.loop_s += stats_now_s() - start_s;
    lane->stats.n_iterations += n_done - start;
    lane->stats.n_records += inputs_n_records(lane->inputs);
    lane->stats.n_frames += (n_done - start) * inputs_n_frames(lane->inputs);
    atomic_fetch_add_explicit(&lane->counter.n_sequences, 1, memory_order_relaxed);
    look_at_outputs(lane);
    return is_run && outputs_check_axes(collector_outputs(collector), lane->values, err) &&
           (n_done == start || !collector_wants_last(collector) ||
            collector_take(collector, &lane->backlog, sequence, lane->values, n_done - 1, true,
                           err)) &&
           lane_checkpoint_finish(lane, n_done, err);
}

bool lane_run(struct lane *lane, const struct sequence *sequence, struct irrun_error *err)
{
    struct collector *collector = lane->collector;
    if (!lane_state_begin(lane, sequence, err) || !lane_checkpoint_begin(lane, err))
        return false;
    bool is_stacked =
        collector_writes_all(collector) &&
        (inputs_are_stacked(lane->inputs) || (is_cyclic(lane) && lane->options->n_iterations != 1));
    look_at_outputs(lane);
    return collector_begin(collector, &lane->backlog, sequence, lane->values, is_stacked, err) &&
           run_records(lane, sequence, err) && irrun_model_check_weights(lane->model, err) &&
           lane_state_end_sequence(lane, sequence, err) &&
           collector_end(collector, &lane->backlog, sequence, err);
}
