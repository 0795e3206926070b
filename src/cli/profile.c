/* Prints the table of --profile, and adds it to the report.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "cli/stats.h"

#define PEAK_S 0.05         /* duration of the peak measurement */
#define CLOCK_SHARE 0.02    /* a larger share of the time for reading the clock is reported */
#define TYPE_BYTES 96       /* size of a row's type, such as "MatMul+Add+Relu" */
#define MAX_TYPES 3         /* op types shown for a step */
#define MAX_TYPE_COLUMNS 32 /* largest width of the column of types */

bool profile_new(struct profile *profile, const struct irrun_session *const *sessions,
                 size_t n_sessions, double total_s, const struct irrun_session_info *info,
                 struct irrun_error *err)
{
    *profile = (struct profile){.total_s = total_s, .info = info};
    return irrun_profile_new(sessions, n_sessions, &profile->times, err) &&
           irrun_session_measure_peak(sessions[0], PEAK_S, &profile->peak, err);
}

void profile_free(struct profile *profile)
{
    irrun_profile_free(profile->times);
    profile->times = NULL;
}

/* ---- Table rows ------------------------------------------------------------------------------ */

struct row {
    char type[TYPE_BYTES];
    const struct irrun_op_time *op; /* NULL: the row sums all ops of its type */
    uint64_t n_calls;
    double time_s, flops, bytes;
    bool has_bodies;
};

struct rows {
    struct row *items;
    size_t n;
};

/* Joins the types of a step: "MatMul+Add+Relu", "Multiply+Add+Abs+4". */
static void join_types(const struct irrun_op_time *op, char type[TYPE_BYTES])
{
    size_t length = 0;
    for (size_t i = 0; i < op->n_members && i < MAX_TYPES && length < TYPE_BYTES; i++)
        length += (size_t)snprintf(type + length, TYPE_BYTES - length, "%s%s", i > 0 ? "+" : "",
                                   op->members[i].type);
    if (op->n_members > MAX_TYPES && length < TYPE_BYTES)
        snprintf(type + length, TYPE_BYTES - length, "+%zu", op->n_members - MAX_TYPES);
}

static int by_type(const void *a, const void *b)
{
    return strcmp(((const struct row *)a)->type, ((const struct row *)b)->type);
}

static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->time_s < y->time_s ? 1 : x->time_s > y->time_s ? -1 : by_type(a, b);
}

/* Adds up rows of the same type. The ops of a body have rows of their own, so the time of a row
 * here excludes the bodies. */
static void merge_types(struct rows *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        struct row *row = &rows->items[i];
        row->time_s -= row->op->in_bodies_s;
        row->op = NULL;
    }
    qsort(rows->items, rows->n, sizeof *rows->items, by_type);
    for (size_t i = 0; i < rows->n; i++) {
        struct row *row = &rows->items[i], *last = &rows->items[n > 0 ? n - 1 : 0];
        if (n == 0 || strcmp(last->type, row->type) != 0) {
            rows->items[n++] = *row;
            continue;
        }
        last->n_calls += row->n_calls;
        last->time_s += row->time_s;
        last->flops += row->flops;
        last->bytes += row->bytes;
    }
    rows->n = n;
    qsort(rows->items, n, sizeof *rows->items, by_time);
}

static bool make_rows(const struct profile *profile, bool is_by_type, struct rows *rows,
                      struct irrun_error *err)
{
    rows->n = profile->times->n_ops;
    rows->items = new_array(rows->n, sizeof *rows->items, err);
    for (size_t i = 0; i < rows->n && rows->items; i++) {
        const struct irrun_op_time *op = &profile->times->ops[i];
        struct row *row = &rows->items[i];
        *row = (struct row){.op = op,
                            .n_calls = op->n_calls,
                            .time_s = op->time_s,
                            .flops = op->flops,
                            .bytes = op->bytes,
                            .has_bodies = op->in_bodies_s > 0};
        join_types(op, row->type);
        if (row->has_bodies && is_by_type)
            row->flops = 0;
    }
    if (rows->items && is_by_type && rows->n > 0)
        merge_types(rows);
    return rows->items != NULL;
}

/* Returns the time that the machine would need at peak performance, as a fraction of the measured
 * time. */
static double peak_share(const struct profile *profile, const struct row *row)
{
    double least_s =
        fmax(row->flops / profile->peak.flops_per_s, row->bytes / profile->peak.bytes_per_s);
    return row->time_s > 0 && !row->has_bodies ? least_s / row->time_s : NAN;
}

static double outside_ops_s(const struct profile *profile)
{
    double inside = profile->times->plan_s;
    for (size_t i = 0; i < profile->times->n_ops; i++)
        inside += profile->times->ops[i].depth == 0 ? profile->times->ops[i].time_s : 0;
    return fmax(profile->total_s - inside, 0);
}

/* ---- The table ------------------------------------------------------------------------------- */

/* Prints a number, or a dash for NaN. */
static void print_number(int width, int n_decimals, double value)
{
    if (isfinite(value))
        fprintf(stderr, "%*.*f ", width, n_decimals, value);
    else
        fprintf(stderr, "%*s ", width, "-");
}

static void print_shares(double time_s, double sum_s, double total_s)
{
    print_number(11, 3, time_s * 1e3);
    print_number(6, 2, time_s / total_s * 100);
    print_number(6, 2, sum_s / total_s * 100);
}

static void print_name(const struct irrun_op_time *op)
{
    fprintf(stderr, " %6" PRIu32 "  ", op->members[0].line);
    for (size_t i = 0; i < op->n_members; i++)
        fprintf(stderr, "%s%s", i > 0 ? " + " : "", op->members[i].name);
}

static void print_row(const struct profile *profile, const struct row *row, double sum_s,
                      int n_columns)
{
    uint32_t depth = row->op ? row->op->depth : 0;
    print_shares(row->time_s, depth == 0 ? sum_s : NAN, profile->total_s);
    fprintf(stderr, "%9" PRIu64 " ", row->n_calls);
    print_number(10, 3, row->time_s / (double)row->n_calls * 1e6);
    print_number(8, 2, row->flops > 0 ? row->flops / row->time_s * 1e-9 : NAN);
    print_number(8, 2, row->has_bodies ? NAN : row->bytes / row->time_s * 1e-9);
    print_number(6, 1, peak_share(profile, row) * 100);
    if (row->op) {
        fprintf(stderr, " %*s%-*s", (int)(2 * depth), "", n_columns - (int)(2 * depth), row->type);
        print_name(row->op);
    } else {
        fprintf(stderr, " %s", row->type);
    }
    putc('\n', stderr);
}

/* Prints a row that is not an op. n_calls: NAN if not counted. */
static void print_other(const struct profile *profile, double time_s, double sum_s,
                        const char *name, double n_calls)
{
    print_shares(time_s, sum_s, profile->total_s);
    print_number(9, 0, n_calls);
    print_number(10, 3, time_s / n_calls * 1e6);
    fprintf(stderr, "%8s %8s %6s  %s\n", "-", "-", "-", name);
}

static int count_columns(const struct rows *rows)
{
    size_t most = 0;
    for (size_t i = 0; i < rows->n; i++) {
        uint32_t depth = rows->items[i].op ? rows->items[i].op->depth : 0;
        size_t n = strlen(rows->items[i].type) + 2 * (size_t)depth;
        most = n > most ? n : most;
    }
    return (int)(most < MAX_TYPE_COLUMNS ? most : MAX_TYPE_COLUMNS);
}

static void print_header(const struct profile *profile, bool is_by_type, int n_columns)
{
    char bytes[32];
    fprintf(stderr, "%s, %u thread%s, can do %.1f GFLOP/s, and read %.1f GB/s from %s\n",
            profile->info->simd, profile->info->n_threads, profile->info->n_threads == 1 ? "" : "s",
            profile->peak.flops_per_s * 1e-9, profile->peak.bytes_per_s * 1e-9,
            stats_format_bytes((double)profile->peak.n_bytes, bytes));
    fprintf(stderr, "%11s %6s %6s %9s %10s %8s %8s %6s  ", "total ms", "%", "sum %", "calls",
            "us a call", "GFLOP/s", "GB/s", "% peak");
    if (is_by_type)
        fprintf(stderr, "type\n");
    else
        fprintf(stderr, "%-*s %6s  %s\n", n_columns, "type", "line", "name");
}

bool profile_print(const struct profile *profile, bool by_type, struct irrun_error *err)
{
    struct rows rows;
    double sum_s = 0, total_s = profile->total_s, clock_s = profile->times->clock_s;
    if (!make_rows(profile, by_type, &rows, err))
        return false;
    int n_columns = count_columns(&rows);
    print_header(profile, by_type, n_columns);
    for (size_t i = 0; i < rows.n; i++) {
        const struct row *row = &rows.items[i];
        sum_s += row->op && row->op->depth > 0 ? 0 : row->time_s;
        print_row(profile, row, sum_s, n_columns);
    }
    if (profile->times->n_plans > 0) {
        double plan_s = profile->times->plan_s, n_plans = (double)profile->times->n_plans;
        print_other(profile, plan_s, sum_s + plan_s, "planning", n_plans);
    }
    print_other(profile, outside_ops_s(profile), total_s, "outside ops", NAN);
    print_other(profile, total_s, total_s, "total", NAN);
    if (clock_s > CLOCK_SHARE * total_s)
        fprintf(stderr, "of this, reading the clock took %.1f %%\n", clock_s / total_s * 100);
    free(rows.items);
    return true;
}

/* ---- The report ------------------------------------------------------------------------------ */

static void report_op(const struct profile *profile, const struct irrun_op_time *op,
                      struct json *json)
{
    const struct row row = {.time_s = op->time_s,
                            .flops = op->flops,
                            .bytes = op->bytes,
                            .has_bodies = op->in_bodies_s > 0};
    json_open(json, NULL, '{');
    json_open(json, "members", '[');
    for (size_t i = 0; i < op->n_members; i++) {
        json_open(json, NULL, '{');
        json_string(json, "type", op->members[i].type);
        json_string(json, "name", op->members[i].name);
        json_count(json, "line", op->members[i].line);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_count(json, "depth", op->depth);
    json_count(json, "calls", op->n_calls);
    json_number(json, "time_s", op->time_s);
    json_number(json, "in_bodies_s", op->in_bodies_s);
    json_number(json, "flops", op->flops);
    json_number(json, "bytes", op->bytes);
    json_number(json, "peak_share", peak_share(profile, &row));
    json_close(json, '}');
}

void profile_report(const struct profile *profile, struct json *json)
{
    json_open(json, "profile", '{');
    json_number(json, "total_s", profile->total_s);
    json_count(json, "plans", profile->times->n_plans);
    json_number(json, "planning_s", profile->times->plan_s);
    json_number(json, "outside_ops_s", outside_ops_s(profile));
    json_number(json, "clock_s", profile->times->clock_s);
    json_number(json, "peak_flops_per_s", profile->peak.flops_per_s);
    json_number(json, "peak_bytes_per_s", profile->peak.bytes_per_s);
    json_close(json, '}');
    json_open(json, "ops", '[');
    for (size_t i = 0; i < profile->times->n_ops; i++)
        report_op(profile, &profile->times->ops[i], json);
    json_close(json, ']');
}
