/* Both helps, made from options.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include "cli/options.h"

#define HELP_COLUMN 28

static void print_row(FILE *out, const struct option_row *row)
{
    char left[80];
    const char *equals = row->argument == OPTION_FLAG    ? ""
                         : row->argument == OPTION_VALUE ? "="
                                                         : "[=";
    snprintf(left, sizeof left, "  %c%c%s --%s%s%s%s", row->letter ? '-' : ' ',
             row->letter ? row->letter : ' ', row->letter ? "," : " ", row->name, equals,
             row->argument == OPTION_FLAG ? "" : row->metavar,
             row->argument == OPTION_MAYBE ? "]" : "");
    fprintf(out, "%-*s %s\n", HELP_COLUMN, left, row->help);
}

void print_short_help(FILE *out)
{
    static const enum option_id common[] = {
        OPTION_ID_input, OPTION_ID_output, OPTION_ID_random, OPTION_ID_iterations,
        OPTION_ID_reset, OPTION_ID_axis,   OPTION_ID_expect, OPTION_ID_stats,
        OPTION_ID_check, OPTION_ID_inspect};
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
          out);
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        print_row(out, &option_rows[common[i]]);
    fputs("\nAll options: irrun --help=all. The manual: man irrun.\n", out);
}

void print_full_help(FILE *out)
{
    static const char *const titles[N_OPTION_GROUPS] = {"Inputs", "Running", "Outputs and checks",
                                                        "Measuring", "Actions and general"};
    fputs("irrun [options] MODEL.xml [WEIGHTS.bin]\n", out);
    for (size_t group = 0; group < N_OPTION_GROUPS; group++) {
        fprintf(out, "\n%s:\n", titles[group]);
        for (size_t i = 0; i < N_OPTIONS; i++) {
            if (option_rows[i].group == group)
                print_row(out, &option_rows[i]);
        }
    }
    fputs("\nNAME: an input or output by name, or @K (from 0). SRC, DST: a path, -, or "
          "FORMAT:PATH.\n",
          out);
}
