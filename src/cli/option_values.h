/* What options.c calls for every option on the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_OPTION_VALUES_H
#define IRRUN_CLI_OPTION_VALUES_H

#include "cli/options.h"

#define OPTION(id, name, letter, argument, metavar, repeats, group, help)                          \
    option_set_fn option_set_##id;
#include "cli/options.def"
#undef OPTION

#endif
