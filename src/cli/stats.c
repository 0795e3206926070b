/* Reads clocks, and prints the table of --stats.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/cpu_count.h"
#include "cli/machine.h"
#include "cli/warning.h"

#define OUTLIER_RATIO 5 /* explain the slowest iteration if it took longer than this many medians */
#define MIN_CPU_SHARE 0.9 /* of the time of the iterations */

double stats_now_s(void)
{
    return (double)clock_now_ns() * 1e-9;
}

struct stats_clocks stats_read_clocks(void)
{
    return (struct stats_clocks){stats_now_s(), (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) * 1e-9};
}

/* getrusage is only a fallback: it includes the memory of the process before exec, which may have
 * been a copy of a large parent. */
uint64_t stats_peak_rss_bytes(void)
{
    uint64_t n_bytes = machine_status_bytes("VmHWM");
    struct rusage usage;
    if (n_bytes == 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        n_bytes = (uint64_t)usage.ru_maxrss * 1024;
    return n_bytes;
}

const char *stats_format_time(double seconds, char text[32])
{
    static const struct {
        double scale;
        const char *unit;
    } units[] = {{1e9, "ns"}, {1e6, "us"}, {1e3, "ms"}, {1, "s"}};
    size_t i = 0;
    while (i < 3 && seconds * units[i].scale >= 999.5)
        i++;
    double value = seconds * units[i].scale;
    int n_decimals = value >= 99.95 || i == 0 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(text, 32, "%.*f %s", n_decimals, value, units[i].unit);
    return text;
}

const char *stats_format_bytes(double n_bytes, char text[32])
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    size_t i = 0;
    for (; i < 4 && n_bytes >= 1000; i++)
        n_bytes /= 1024;
    snprintf(text, 32, "%.*f %s", i == 0 || n_bytes >= 99.95 ? 0 : 1, n_bytes, units[i]);
    return text;
}

static void print_time(const char *what, double seconds)
{
    char text[32];
    fprintf(stderr, "%-18s %s\n", what, stats_format_time(seconds, text));
}

static void print_bytes(const char *what, double n_bytes)
{
    char text[32];
    fprintf(stderr, "%-18s %s\n", what, stats_format_bytes(n_bytes, text));
}

static double outlier_ratio(const struct latency *latency)
{
    return latency->n > 0 ? (double)latency->max_ns * 1e-9 / latency_percentile_s(latency, 0.5) : 0;
}

static void print_slowest(const struct stats *stats)
{
    const struct slowest *slowest = &stats->slowest;
    struct text text = {0};
    slowest_describe(slowest, &text);
    fprintf(stderr, "%-18s iteration %" PRIu64, "  slowest", slowest->iteration);
    if (stats->n_sequences > 1)
        fprintf(stderr, " of sequence %" PRIu64, slowest->sequence);
    fprintf(stderr, ", %.*f times p50: %s\n", outlier_ratio(&stats->latency) < 10,
            outlier_ratio(&stats->latency), text.data ? text.data : "");
    text_free(&text);
}

/* Compares the CPU time of the run with the time of the loop or, if the loop may wait for input,
 * with the time of the iterations. */
void stats_check(const struct stats *stats, const struct options *options)
{
    bool waits =
        options->is_paced || (options->n_iterations == NO_LIMIT && options->duration_s <= 0);
    double busy_s = waits ? stats->busy_s : stats->loop_s;
    if (stats->is_timed && stats->cpu_s < MIN_CPU_SHARE * busy_s)
        warn(options,
             "the iterations had a CPU for at most %.0f %% of the time: the times are not those of "
             "irrun alone",
             stats->cpu_s / busy_s * 100);
}

static void print_latency(const struct latency *latency)
{
    static const struct {
        const char *name;
        double share;
    } rows[] = {
        {"  p50", 0.5}, {"  p90", 0.9}, {"  p95", 0.95}, {"  p99", 0.99}, {"  p99.9", 0.999}};
    if (latency->n == 0)
        return;
    fprintf(stderr, "time of an iteration\n");
    print_time("  min", (double)latency->min_ns * 1e-9);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        print_time(rows[i].name, latency_percentile_s(latency, rows[i].share));
    print_time("  max", (double)latency->max_ns * 1e-9);
    print_time("  mean", latency_mean_s(latency));
    print_time("  sd", latency_sd_s(latency));
}

void stats_merge(struct stats *stats, const struct stats *other)
{
    if (stats->latency.n == 0)
        stats->first_iteration_s = other->first_iteration_s;
    if (stats->is_timed)
        latency_merge(&stats->latency, &other->latency);
    slowest_merge(&stats->slowest, &other->slowest);
    lateness_merge(&stats->lateness, &other->lateness);
    stats->busy_s += other->busy_s;
    stats->plan_s += other->plan_s;
    stats->loop_s = fmax(stats->loop_s, other->loop_s);
    stats->n_iterations += other->n_iterations;
    stats->n_records += other->n_records;
    stats->n_sequences += other->n_sequences;
    stats->n_resets += other->n_resets;
    stats->n_frames += other->n_frames;
}

double stats_real_time_factor(const struct stats *stats, const struct options *options)
{
    double spent_s = stats->is_timed ? stats->busy_s : stats->loop_s;
    return options->rate_hz > 0 && stats->n_frames > 0
               ? spent_s * options->rate_hz / (double)stats->n_frames
               : NAN;
}

double stats_iterations_per_s(const struct stats *stats)
{
    return stats->loop_s > 0 ? (double)stats->n_iterations / stats->loop_s : NAN;
}

void stats_print(const struct stats *stats, const struct options *options,
                 const struct irrun_model *model, const struct irrun_session_info *info)
{
    print_time("load", stats->load_s);
    print_time("plan", stats->plan_s);
    if (stats->n_iterations > 0)
        print_time("first iteration", stats->first_iteration_s);
    print_latency(&stats->latency);
    if (outlier_ratio(&stats->latency) > OUTLIER_RATIO)
        print_slowest(stats);
    lateness_print(&stats->lateness);
    fprintf(stderr, "%-18s %" PRIu64 "\n", "iterations", stats->n_iterations);
    if (stats->loop_s > 0)
        fprintf(stderr, "%-18s %.*f\n", "iterations/s", stats_iterations_per_s(stats) < 100 ? 2 : 0,
                stats_iterations_per_s(stats));
    if (options->rate_hz > 0 && stats->n_frames > 0)
        fprintf(stderr, "%-18s %.4g\n", "real-time factor", stats_real_time_factor(stats, options));
    print_time("total", stats->total_s);
    fprintf(stderr, "%-18s %.2f\n", "CPU/wall",
            stats->total_s > 0 ? stats->cpu_s / stats->total_s : 0);
    if (irrun_model_n_variables(model) > 0)
        fprintf(stderr, "%-18s %" PRIu64 " (--reset=%s)\n", "resets", stats->n_resets,
                options->reset.text);
    if (options->key)
        fprintf(stderr,
                "%-18s %" PRIu64 " (%" PRIu64 " in memory, %" PRIu64 " written to --spill)\n",
                "keys", stats->keys.n_keys, stats->keys.n_held, stats->keys.n_spilled);
    if (stats->n_batches > 0)
        fprintf(stderr, "%-18s %" PRIu64 " (%.1f records each)\n", "batches", stats->n_batches,
                (double)stats->n_iterations / (double)stats->n_batches);
    unsigned n_cpus = count_cpus();
    fprintf(stderr, "%-18s %u", "threads", info->n_threads);
    if (info->n_threads > n_cpus)
        fprintf(stderr, " (CPUs: %u)", n_cpus);
    fputc('\n', stderr);
    fprintf(stderr, "%-18s %s\n", "simd", info->simd);
    fprintf(stderr, "%-18s %s (BLAS: %s)\n", "gemm", info->gemm, irrun_build()->blas);
    fprintf(stderr, "%-18s %s", "precision", info->precision);
    if (options->dynamic_quantization)
        fprintf(stderr, ", %zu product%s quantized", info->n_quantized_products,
                info->n_quantized_products == 1 ? "" : "s");
    fputc('\n', stderr);
    print_bytes("weights mapped", (double)info->weights_mapped_bytes);
    print_bytes("weights packed", (double)info->weights_packed_bytes);
    print_bytes("arena", (double)info->arena_bytes);
    print_bytes("state", (double)info->state_bytes);
    if (options->key)
        print_bytes("states of keys", (double)stats->keys.memory_bytes);
    print_bytes("peak RSS", (double)stats->peak_rss_bytes);
}
