/* Lines on standard error that are no errors: warnings, and what --verbose tells.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_WARNING_H
#define IRRUN_CLI_WARNING_H

#include "cli/options.h"

/* "irrun: warning: …", unless -q was given; a whole line, written at once. */
void warn(const struct options *options, const char *format, ...) PRINTF_LIKE(2, 3);

/* "irrun: …", if -v was given. */
void tell(const struct options *options, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
