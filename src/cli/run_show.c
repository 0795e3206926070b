/* Prints --stats and --profile, and writes the report.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cli/dot.h"
#include "cli/report.h"
#include "cli/run_internal.h"

/* Adds the statistics of all workers to those of the first. Sets *loops_s to the time of all
 * iterations of all workers. */
static void sum_workers(struct run *run, struct irrun_session_info *info, double *loops_s)
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

static bool make_profile(const struct run *run, const struct irrun_session_info *info,
                         double loops_s, struct profile *profile, struct irrun_error *err)
{
    const struct irrun_session **sessions = new_array(run->n_workers, sizeof *sessions, err);
    for (size_t i = 0; i < run->n_workers && sessions; i++)
        sessions[i] = run->workers[i].session;
    bool is_made = sessions && profile_new(profile, sessions, run->n_workers, loops_s, info, err);
    free(sessions);
    return is_made;
}

/* Prints and writes what the options ask for. is_complete: the run did not fail. */
static bool show_all(struct run *run, bool is_complete, struct report *report,
                     struct irrun_error *err)
{
    const struct options *options = run->options;
    struct stats *stats = &run->workers[0].stats;
    struct irrun_session_info info;
    struct profile profile = {.times = NULL};
    double loops_s;
    sum_workers(run, &info, &loops_s);
    if (options->wants_stats || option_is_given(options, OPTION_ID_profile))
        stats_check(stats, options);
    if (options->wants_stats && is_complete)
        stats_print(stats, options, run->model, &info);
    bool is_profiled = is_complete && option_is_given(options, OPTION_ID_profile);
    report->profile = is_profiled ? &profile : NULL;
    report->info = &info;
    bool is_shown =
        (!is_profiled ||
         (make_profile(run, &info, loops_s, &profile, err) &&
          profile_print(&profile, options->profiles_types, err) &&
          (!options_draw_profile(options) || dot_print_profile(options, &profile, err)))) &&
        (!options->report_path || report_write(report, err));
    profile_free(&profile);
    return is_shown;
}

bool run_show(struct run *run, const struct stats_clocks *start, double load_s,
              struct irrun_error *err)
{
    const struct options *options = run->options;
    struct stats *stats = &run->workers[0].stats;
    if (!options->wants_stats && !options->report_path &&
        !option_is_given(options, OPTION_ID_profile))
        return true;
    const struct stats_clocks end = stats_read_clocks();
    stats->load_s = load_s;
    stats->total_s = end.wall_s - start->wall_s;
    stats->cpu_s = end.cpu_s - start->cpu_s;
    stats->peak_rss_bytes = stats_peak_rss_bytes(); /* before a BLAS is loaded to get its name */
    struct report report = {.model = run->model,
                            .options = options,
                            .stats = stats,
                            .collector = run->collector,
                            .exit_code = (int)err->code};
    struct irrun_error show_error = {.code = IRRUN_OK};
    bool is_complete = err->code == IRRUN_OK || err->code == IRRUN_MISMATCH;
    if (show_all(run, is_complete, &report, &show_error))
        return true;
    if (err->code == IRRUN_OK)
        *err = show_error;
    return false;
}
