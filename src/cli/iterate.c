/* The loop over the records of a sequence. Where records come from and where outputs go is not decided here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/iterate.h"

#include <inttypes.h>

#include "cli/compare.h"
#include "cli/inputs.h"
#include "cli/outputs.h"
#include "cli/warning.h"

struct run {
    const struct options *options;
    struct irrun_model *model;
    struct irrun_session *session;
    struct inputs *inputs;
    struct outputs *outputs;
    struct compare *compare; /* NULL: nothing is expected */
    struct stats stats;
    struct arena arena;
    uint64_t reset_period; /* iterations from one reset to the next within a sequence; 0: none */
    bool writes_all, writes_last;
};

/* ---- Preparing -------------------------------------------------------------------------------- */

static void settle_policies(struct run *run)
{
    const struct options *options = run->options;
    const struct reset_policy *reset = &options->reset;
    enum emit emit = options->emit != EMIT_DEFAULT ? options->emit
                     : options->has_iterations     ? EMIT_LAST
                                                   : EMIT_ALL;
    bool writes = !outputs_are_none(run->outputs);
    run->writes_all = writes && emit == EMIT_ALL;
    run->writes_last = writes && emit == EMIT_LAST;
    run->reset_period = reset->when == RESET_ITERATION ? 1
                        : reset->when == RESET_EVERY   ? reset->every
                                                       : 0;
    if (options->is_reset_given && irrun_model_n_variables(run->model) == 0)
        warn(options, "--reset=%s: the model has no variable", reset->text);
}

static bool prepare(struct run *run, struct irrun_error *err)
{
    const struct options *options = run->options;
    if (!irrun_session_new(run->model, &run->session, err) ||
        !inputs_new(run->model, options, &run->inputs, err) ||
        !outputs_new(run->model, options, &run->outputs, err) ||
        !compare_new(run->model, options, &run->compare, err))
        return false;
    settle_policies(run);
    run->stats.is_timed = options->wants_stats;
    return !run->stats.is_timed || latency_new(&run->stats.latency, err);
}

static void release(struct run *run)
{
    outputs_free(run->outputs);
    compare_free(run->compare);
    irrun_session_free(run->session);
    inputs_free(run->inputs);
    latency_free(&run->stats.latency);
    arena_free(&run->arena);
}

static bool plan(struct run *run, struct irrun_error *err)
{
    double start_s = stats_now_s();
    bool is_planned = irrun_session_plan(run->session, err);
    run->stats.plan_s += stats_now_s() - start_s;
    return is_planned;
}

/* ---- Iterations ------------------------------------------------------------------------------- */

/* The next record; with -n the first follows the last. */
static bool pull_record(struct run *run, uint64_t index, bool *has_record, struct irrun_error *err)
{
    *has_record = true;
    if (index > 0 && run->options->has_iterations && !inputs_are_stacked(run->inputs))
        return true;
    if (!inputs_next(run->inputs, run->session, has_record, err))
        return false;
    if (*has_record || !run->options->has_iterations)
        return true;
    return inputs_rewind(run->inputs, run->session, err) &&
           inputs_next(run->inputs, run->session, has_record, err);
}

static void tell_plan(const struct run *run)
{
    struct irrun_session_info info;
    irrun_session_describe(run->session, &info);
    inputs_tell(run->inputs);
    tell(run->options,
         "plan: %zu ops an iteration, gemm %s, SIMD %s, %zu bytes of values, %zu of state",
         info.n_steps, info.gemm, info.simd, info.arena_bytes, info.state_bytes);
}

static void reset(struct run *run)
{
    irrun_session_reset(run->session);
    run->stats.n_resets++;
}

static bool run_once(struct run *run, struct irrun_error *err)
{
    struct stats *stats = &run->stats;
    if (!stats->is_timed)
        return irrun_session_run(run->session, err);
    uint64_t start_ns = stats_now_ns();
    bool is_run = irrun_session_run(run->session, err);
    uint64_t duration_ns = stats_now_ns() - start_ns;
    if (stats->latency.n == 0)
        stats->first_iteration_s = (double)duration_ns * 1e-9;
    latency_add(&stats->latency, duration_ns);
    return is_run;
}

static bool iterate(struct run *run, struct irrun_error *err)
{
    uint64_t limit = run->options->has_iterations ? run->options->n_iterations : UINT64_MAX;
    bool has_series = run->options->reset.when == RESET_IF;
    uint64_t index = 0, n_since_reset = 0;
    for (; index < limit; index++) {
        bool has_record;
        if (!pull_record(run, index, &has_record, err))
            return false;
        if (!has_record)
            break;
        bool is_due = index > 0 && n_since_reset == run->reset_period;
        if ((run->reset_period > 0 && is_due) ||
            (has_series && inputs_ask_for_reset(run->inputs))) {
            reset(run);
            n_since_reset = 0;
        }
        n_since_reset++;
        if (!run_once(run, err))
            return index > 0 && fail_more(err, " (in iteration %" PRIu64 ")", index);
        if ((run->writes_all && !outputs_write(run->outputs, run->session, index, err)) ||
            (run->compare && !compare_iteration(run->compare, run->session, err)))
            return false;
    }
    run->stats.n_iterations += index;
    return !run->writes_last || index == 0 ||
           outputs_write(run->outputs, run->session, index - 1, err);
}

static bool run_sequence(struct run *run, const struct sequence *sequence, struct irrun_error *err)
{
    const struct options *options = run->options;
    if (!inputs_open(run->inputs, sequence, run->session, outputs_depend_on_layout(run->outputs),
                     err) ||
        !plan(run, err))
        return false;
    tell_plan(run);
    if (options->has_iterations && options->n_iterations == 0)
        return true;
    if (run->stats.n_sequences++ > 0 && options->reset.when != RESET_NEVER)
        reset(run);
    bool is_stacked = run->writes_all && (inputs_are_stacked(run->inputs) ||
                                          (options->has_iterations && options->n_iterations > 1));
    if (!outputs_begin_sequence(run->outputs, sequence, run->session, is_stacked, err))
        return false;
    double start_s = stats_now_s();
    bool is_run = iterate(run, err);
    run->stats.loop_s += stats_now_s() - start_s;
    run->stats.n_records += inputs_n_records(run->inputs);
    return is_run && outputs_end_sequence(run->outputs, err);
}

/* ---- The whole -------------------------------------------------------------------------------- */

static bool run_all(struct run *run, struct irrun_error *err)
{
    struct sequence sequence;
    if (!prepare(run, err) ||
        !sequence_of_command_line(run->options, &run->arena, &sequence, err) ||
        !run_sequence(run, &sequence, err) || !outputs_finish(run->outputs, err))
        return false;
    bool has_run = run->stats.n_iterations > 0 || !run->options->has_iterations;
    return !run->compare || !has_run || compare_finish(run->compare, run->session, err);
}

bool run_model(struct irrun_model *model, const struct options *options, double load_s,
               struct irrun_error *err)
{
    struct run run = {.options = options, .model = model, .stats = {.load_s = load_s}};
    double start_s = stats_now_s();
    bool is_done = run_all(&run, err);
    run.stats.total_s = load_s + stats_now_s() - start_s;
    run.stats.cpu_s = stats_cpu_s();
    if (options->wants_stats && (is_done || err->code == IRRUN_MISMATCH))
        stats_print(stderr, &run.stats, options, model, run.session);
    release(&run);
    return is_done;
}

/* ---- --check ---------------------------------------------------------------------------------- */

static bool has_open_dimensions(const struct irrun_model *model)
{
    for (size_t i = 0; i < irrun_model_n_inputs(model); i++) {
        if (!partial_shape_is_static(&irrun_model_input(model, i)->shape))
            return true;
    }
    return false;
}

bool check_model(struct irrun_model *model, const struct options *options, struct irrun_error *err)
{
    struct random_spec zeros = {.kind = RANDOM_ZEROS};
    struct options with_zeros = *options;
    bool has_inputs = options->inputs.n > 0 || options->randoms.n > 0;
    if (!has_inputs)
        with_zeros.randoms = (struct random_list){.items = &zeros, .n = 1};

    struct run run = {.options = &with_zeros, .model = model};
    struct sequence sequence;
    bool is_fine = prepare(&run, err);
    if (is_fine && !has_inputs && has_open_dimensions(model))
        tell(options, "the model has open dimensions: without inputs it is not planned");
    else
        is_fine = is_fine && sequence_of_command_line(options, &run.arena, &sequence, err) &&
                  inputs_open(run.inputs, &sequence, run.session, false, err) && plan(&run, err);
    release(&run);
    return is_fine;
}
