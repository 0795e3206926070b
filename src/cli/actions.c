/* Runs the action that the command line selects. The actions without a model are implemented here.
 * main closes standard output and checks for write errors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/actions.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/diff.h"
#include "cli/dot.h"
#include "cli/inspect.h"
#include "cli/json.h"
#include "cli/machine.h"
#include "cli/run.h"
#include "cli/signals.h"
#include "cli/stats.h"
#include "cli/warning.h"

/* ---- --help, --version ----------------------------------------------------------------------- */

static void print_row(const struct option_row *row)
{
    static const char *const formats[] = {
        [OPTION_FLAG] = "%s", [OPTION_VALUE] = "%s=%s", [OPTION_MAYBE] = "%s[=%s]"};
    char letter[] = {row->letter ? '-' : ' ', row->letter, '\0'}, name[80];
    snprintf(name, sizeof name, formats[row->argument], row->name, row->metavar);
    printf("  %-2s%c --%-20s %s\n", letter, row->letter ? ',' : ' ', name, row->help);
}

/* Prints at most 24 lines, so that the help fits a terminal. */
static void print_short_help(void)
{
    static const enum option_id common[] = {
        OPTION_ID_input,  OPTION_ID_output,   OPTION_ID_axis, OPTION_ID_feed,
        OPTION_ID_reset,  OPTION_ID_manifest, OPTION_ID_jobs, OPTION_ID_iterations,
        OPTION_ID_expect, OPTION_ID_inspect};
    fputs("irrun runs an OpenVINO IR model, and keeps its variables from record to record.\n"
          "\n"
          "  irrun [options] MODEL.xml [WEIGHTS.bin]\n"
          "\n"
          "Examples:\n"
          "  irrun m.xml -i x.npy -o y.npy           a record, or a stack of records\n"
          "  irrun m.xml -i a=a.npy -i b=b.npy       two inputs; the outputs as text\n"
          "  sox a.wav -r 16000 -c 1 -t f32 - | irrun m.xml -i raw:- --partial=pad -o csv:-\n"
          "  irrun m.xml -i in.npz --expect=out.npz  exit 1 if an output differs\n"
          "  irrun m.xml --random -n 1000 -s -o none:\n"
          "  irrun --inspect m.xml\n"
          "\n",
          stdout);
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        print_row(&option_rows[common[i]]);
    puts("\nAll options: irrun --help=all. The manual: man irrun.");
}

static void print_full_help(void)
{
    static const char *const titles[N_OPTION_GROUPS] = {"Inputs", "Running", "Outputs and checks",
                                                        "Measuring", "Actions and general"};
    puts("irrun [options] MODEL.xml [WEIGHTS.bin]");
    for (size_t group = 0; group < N_OPTION_GROUPS; group++) {
        printf("\n%s:\n", titles[group]);
        for (size_t i = 0; i < N_OPTIONS; i++)
            if (option_rows[i].group == group)
                print_row(&option_rows[i]);
    }
    puts("\nNAME: an input or output by name, or @K (from 0).\n"
         "SRC, DST: a path, -, or FORMAT:PATH.");
}

static void print_version(void)
{
    const struct irrun_build *build = irrun_build();
    printf("irrun %s\ncompiler  %s\nBLAS      %s\nexpat     %s\n", irrun_version(), build->compiler,
           build->blas, build->expat);
}

/* ---- --list-kernels -------------------------------------------------------------------------- */

static bool print_kernels(const char *simd, struct irrun_error *err)
{
    const char *used = irrun_simd_used(simd, err), *family, *level;
    for (size_t i = 0; used && (family = irrun_kernel_family(i)); i++) {
        printf("%s\t", family);
        for (size_t k = 0; (level = irrun_simd_level(k)); k++)
            printf("%s%s", k > 0 ? " " : "", level);
        printf("\t%s\n", used);
    }
    return used != NULL;
}

/* ---- --supported-ops ------------------------------------------------------------------------- */

static void print_supported_ops(void)
{
    struct irrun_supported_op op;
    for (size_t i = 0; irrun_supported_op(i, &op); i++) {
        const char *separator = "";
        printf("%s\topset%u", op.type, op.opset_first);
        if (op.opset_last != op.opset_first)
            printf("-%u", op.opset_last);
        putchar('\t');
        for (int dtype = IRRUN_BOOLEAN; dtype < IRRUN_N_DTYPES; dtype++) {
            if (!(op.types >> dtype & 1U))
                continue;
            printf("%s%s", separator, irrun_dtype_name((enum irrun_dtype)dtype));
            separator = " ";
        }
        putchar('\n');
    }
}

static bool print_supported_ops_json(struct irrun_error *err)
{
    struct text text = {0};
    struct json json = {.text = &text};
    struct irrun_supported_op op;
    json_open(&json, NULL, '{');
    json_string(&json, "schema", "irrun.supported-ops/1");
    json_open(&json, "ops", '[');
    for (size_t i = 0; irrun_supported_op(i, &op); i++) {
        json_open(&json, NULL, '{');
        json_string(&json, "type", op.type);
        json_count(&json, "opset_first", op.opset_first);
        json_count(&json, "opset_last", op.opset_last);
        json_open(&json, "types", '[');
        for (int dtype = IRRUN_BOOLEAN; dtype < IRRUN_N_DTYPES; dtype++)
            if (op.types >> dtype & 1U)
                json_string(&json, NULL, irrun_dtype_name((enum irrun_dtype)dtype));
        json_close(&json, ']');
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    return json_print(&json, err);
}

/* ---- Actions that need a model --------------------------------------------------------------- */

/* Prints the warnings and notes of the loaded model. */
static void print_load_warnings(const struct irrun_model *model, const struct options *options)
{
    struct irrun_model_info info;
    irrun_model_describe(model, &info);
    for (size_t i = 0; i < info.n_warnings; i++)
        warn(options, "%s", info.warnings[i]);
    for (size_t i = 0; i < info.n_notes; i++)
        inform(options, "%s", info.notes[i]);
}

static bool load_and_run(const struct options *options, const struct irrun_options *model_options,
                         struct irrun_error *err)
{
    struct irrun_model *model, *reference = NULL;
    const struct stats_clocks start = stats_read_clocks();
    if (options->action == ACTION_RUN && options->checkpoint_path)
        signals_set_resumable();
    if (options->timeout_s > 0)
        signals_set_timeout(options->timeout_s);
    if (!machine_limit_memory(options->max_memory_bytes, err) ||
        !machine_check_denormals(options->flushes_denormals, err) ||
        !run_sandbox_enter(options, err) ||
        !irrun_model_load(options->model_path, model_options, &model, err))
        return false;
    double load_s = stats_now_s() - start.wall_s;
    print_load_warnings(model, options);
    bool is_done;
    if (options->action == ACTION_INSPECT)
        is_done = inspect_as_text(model, options, err);
    else if (options->action == ACTION_INSPECT_JSON)
        is_done = inspect_as_json(model, options, err);
    else if (options->action == ACTION_LIST_OPS)
        is_done = inspect_list_ops(model, err);
    else if (options->action == ACTION_DOT)
        is_done = dot_print(model, err);
    else if (options->action == ACTION_CHECK)
        is_done = check_model(model, options, err);
    else
        is_done = diff_load(options, model_options, &reference, err) &&
                  run_model(model, reference, options, &start, load_s, err);
    irrun_model_free(model);
    irrun_model_free(reference);
    return is_done;
}

static bool run_model_action(const struct options *options, struct irrun_error *err)
{
    struct irrun_options model_options = {.weights_path = options->weights_path,
                                          .gemm = options->gemm,
                                          .simd = options->simd,
                                          .n_threads = options->n_threads,
                                          .keep_ops = options->keeps_ops,
                                          .taps = options->taps.items,
                                          .n_taps = options->taps.n,
                                          .traces_all = options_trace_all(options),
                                          .stops_at_nan = options->stops_at_nan,
                                          .allows_inf = options->allows_inf,
                                          .times_ops = options_time_ops(options),
                                          .low_latency = options->low_latency,
                                          .precision = options->precision,
                                          .dynamic_quantization = options->dynamic_quantization,
                                          .is_dry = action_is_dry(options->action)};
    const char **names = set_read_outputs(options, &model_options, err);
    bool is_done = names && load_and_run(options, &model_options, err);
    free(names);
    return is_done;
}

bool do_action(const struct options *options, struct irrun_error *err)
{
    switch (options->action) {
    case ACTION_HELP:
        print_short_help();
        return true;
    case ACTION_HELP_ALL:
        print_full_help();
        return true;
    case ACTION_VERSION:
        print_version();
        return true;
    case ACTION_SUPPORTED_OPS:
        print_supported_ops();
        return true;
    case ACTION_SUPPORTED_OPS_JSON:
        return print_supported_ops_json(err);
    case ACTION_LIST_KERNELS:
        return print_kernels(options->simd, err);
    default:
        return run_model_action(options, err);
    }
}
