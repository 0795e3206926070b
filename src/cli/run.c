/* Gives the sequences to lanes, ends the run, and shows what it took.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/run.h"

#include "cli/lane_state.h"
#include "cli/warning.h"

struct run {
    const struct options *options;
    struct irrun_model *model;
    struct sequences *sequences;
    struct collector *collector;
    struct lane lane;
};

static void release(struct run *run)
{
    sequences_free(run->sequences);
    collector_free(run->collector);
    lane_close(&run->lane);
}

/* Outputs first: a state without them would let the next run leave records out. */
static bool finish(struct run *run, struct irrun_error *err)
{
    return collector_finish(run->collector, err) && lane_state_end_run(&run->lane, err) &&
           collector_judge(run->collector, err);
}

static bool run_sequences(struct run *run, struct irrun_error *err)
{
    bool is_dry = run->options->has_iterations && run->options->n_iterations == 0;
    for (;;) {
        struct sequence sequence;
        bool has_one;
        bool is_done = sequences_next(run->sequences, &sequence, &has_one, err) &&
                       (!has_one || (lane_prepare(&run->lane, &sequence, err) &&
                                     (is_dry || lane_run(&run->lane, &sequence, err))));
        sequence_free(&sequence);
        if (!is_done || !has_one)
            return is_done && (is_dry || finish(run, err));
    }
}

static bool prepare(struct run *run, struct irrun_error *err)
{
    const struct options *options = run->options;
    if (!lane_state_check(options, err) ||
        !collector_new(run->model, options, &run->collector, err) ||
        !lane_open(&run->lane, run->model, options, run->collector, err) ||
        !sequences_new(options, &run->sequences, err))
        return false;
    bool wants_state = options->is_reset_given || options->state_in || options->state_out;
    if (wants_state && irrun_model_n_variables(run->model) == 0)
        warn(options, "%s: the model has no variable",
             options->is_reset_given ? "--reset" : "--state-in, --state-out");
    return true;
}

bool run_model(struct irrun_model *model, const struct options *options, double load_s,
               struct irrun_error *err)
{
    struct run run = {.options = options, .model = model};
    double start_s = stats_now_s();
    bool is_done = prepare(&run, err) && run_sequences(&run, err);
    struct stats *stats = &run.lane.stats;
    stats->load_s = load_s;
    stats->total_s = load_s + stats_now_s() - start_s;
    stats->cpu_s = stats_cpu_s();
    if (options->wants_stats && (is_done || err->code == IRRUN_MISMATCH))
        stats_print(stderr, stats, options, model, run.lane.session);
    release(&run);
    return is_done;
}

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
    struct run run = {.options = options, .model = model};
    struct sequence sequence = {.key = NULL};
    bool has_inputs = options->inputs.n > 0 || options->randoms.n > 0, has_one = false;
    bool is_fine = prepare(&run, err);
    if (is_fine && has_inputs)
        is_fine = sequences_next(run.sequences, &sequence, &has_one, err) &&
                  (!has_one || lane_prepare(&run.lane, &sequence, err));
    else if (is_fine && has_open_dimensions(model))
        tell(options, "the model has open dimensions: without inputs it is not planned");
    else
        is_fine = is_fine && irrun_session_plan(run.lane.session, err);
    sequence_free(&sequence);
    release(&run);
    return is_fine;
}
