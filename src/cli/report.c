/* Collects the numbers of a run, and writes them as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/output_file.h"
#include "cli/json.h"
#include "cli/warning.h"

/* Returns the value of the first line "model name : ..." in /proc/cpuinfo; NULL if the file has no
 * such line. */
static const char *find_cpu(char *line, size_t size_bytes)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    const char *found = NULL;
    while (file && !found && fgets(line, (int)size_bytes, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        found = colon + 1 + strspn(colon + 1, " ");
        line[strcspn(line, "\n")] = '\0';
    }
    if (file)
        fclose(file);
    return found;
}

static void add_model(struct json *json, const struct report *report)
{
    struct irrun_model_info info;
    irrun_model_describe(report->model, &info);
    json_open(json, "model", '{');
    json_string(json, "xml", report->options->model_path);
    json_string(json, "bin", info.weights_path);
    json_count(json, "ir_version", info.ir_version);
    json_count(json, "ops", info.n_ops);
    json_count(json, "variables", irrun_model_n_variables(report->model));
    json_count(json, "weights_bytes", info.weights_bytes);
    json_close(json, '}');
}

static void add_host(struct json *json, const struct report *report)
{
    char line[256];
    json_open(json, "host", '{');
    json_string(json, "cpu", find_cpu(line, sizeof line));
    json_string(json, "simd", report->info->simd);
    json_count(json, "threads", report->info->n_threads);
    json_string(json, "gemm", report->info->gemm);
    json_string(json, "precision", report->info->precision);
    json_count(json, "quantized_products", report->info->n_quantized_products);
    json_string(json, "blas", irrun_build()->blas);
    json_close(json, '}');
}

static void add_run(struct json *json, const struct report *report)
{
    const struct stats *stats = report->stats;
    json_open(json, "run", '{');
    json_count(json, "iterations", stats->n_iterations);
    json_count(json, "warmup", report->options->n_warmups);
    json_count(json, "records", stats->n_records);
    json_count(json, "sequences", stats->n_sequences);
    json_count(json, "resets", stats->n_resets);
    json_count(json, "keys", stats->keys.n_keys);
    json_count(json, "keys_held", stats->keys.n_held);
    json_count(json, "keys_spilled", stats->keys.n_spilled);
    json_count(json, "batches", stats->n_batches);
    json_string(json, "reset", report->options->reset.text);
    json_count(json, "seed", report->options->seed);
    json_count(json, "exit", (uint64_t)report->exit_code);
    json_close(json, '}');
}

static void add_times(struct json *json, const struct stats *stats)
{
    json_open(json, "time_s", '{');
    json_number(json, "load", stats->load_s);
    json_number(json, "plan", stats->plan_s);
    json_number(json, "first_iteration", stats->n_iterations > 0 ? stats->first_iteration_s : NAN);
    json_number(json, "total", stats->total_s);
    json_number(json, "cpu", stats->cpu_s);
    json_close(json, '}');
}

static void add_latency(struct json *json, const struct stats *stats)
{
    const struct latency *latency = &stats->latency;
    static const struct {
        const char *key;
        double share;
    } rows[] = {{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99_9", 0.999}};
    double unknown = latency->n > 0 ? 0 : NAN; /* makes every number null */
    json_open(json, "latency_s", '{');
    json_number(json, "min", (double)latency->min_ns * 1e-9 + unknown);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        json_number(json, rows[i].key, latency_percentile_s(latency, rows[i].share) + unknown);
    json_number(json, "max", (double)latency->max_ns * 1e-9 + unknown);
    json_number(json, "mean", latency_mean_s(latency) + unknown);
    json_number(json, "sd", latency_sd_s(latency) + unknown);
    if (latency->keeps_samples) {
        json_open(json, "samples", '[');
        for (size_t i = 0; i < latency->n_samples; i++)
            json_number(json, NULL, (double)latency->samples_ns[i] * 1e-9);
        json_close(json, ']');
    }
    slowest_report(&stats->slowest, json);
    json_close(json, '}');
}

static void add_memory(struct json *json, const struct irrun_session_info *info,
                       const struct stats *stats)
{
    json_open(json, "memory_bytes", '{');
    json_count(json, "weights_mapped", info->weights_mapped_bytes);
    json_count(json, "weights_packed", info->weights_packed_bytes);
    json_count(json, "arena", info->arena_bytes);
    json_count(json, "state", info->state_bytes);
    json_count(json, "keys", stats->keys.memory_bytes);
    json_count(json, "peak_rss", stats->peak_rss_bytes);
    json_close(json, '}');
}

static void add_report(struct json *json, const struct report *report)
{
    const struct stats *stats = report->stats;
    const struct warnings *warnings = report->options->warnings;
    json_open(json, NULL, '{');
    json_string(json, "schema", "irrun.report/1");
    json_open(json, "tool", '{');
    json_string(json, "name", "irrun");
    json_string(json, "version", irrun_version());
    json_string(json, "build", irrun_build()->compiler);
    json_close(json, '}');
    add_model(json, report);
    add_host(json, report);
    add_run(json, report);
    add_times(json, stats);
    add_latency(json, stats);
    lateness_report(&stats->lateness, json);
    json_open(json, "throughput", '{');
    json_number(json, "iterations_per_s", stats_iterations_per_s(stats));
    json_number(json, "real_time_factor", stats_real_time_factor(stats, report->options));
    json_close(json, '}');
    add_memory(json, report->info, stats);
    if (report->profile)
        profile_report(report->profile, json);
    json_open(json, "expect", '[');
    collector_report(report->collector, json);
    json_close(json, ']');
    json_open(json, "warnings", '[');
    for (size_t i = 0; i < warnings->n; i++)
        json_string(json, NULL, warnings->texts[i]);
    json_close(json, ']');
    json_close(json, '}');
    text_add_bytes(json->text, "\n", 1);
}

bool report_write(const struct report *report, struct irrun_error *err)
{
    struct text text = {0};
    struct json json = {.text = &text};
    struct output_file file = {.fd = -1};
    add_report(&json, report);
    bool is_written =
        text_check(&text, err) && output_file_open(&file, report->options->report_path, err) &&
        output_file_write(&file, text.data, text.length, err) && output_file_finish(&file, err);
    if (!is_written)
        output_file_abort(&file);
    text_free(&text);
    return is_written;
}
