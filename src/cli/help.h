/* What --help and --help=all print.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_HELP_H
#define IRRUN_CLI_HELP_H

#include <stdio.h>

void print_short_help(FILE *out); /* 24 lines: examples, and the common options */
void print_full_help(FILE *out);  /* every row of options.def */

#endif
