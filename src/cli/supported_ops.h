/* The list of operators.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SUPPORTED_OPS_H
#define IRRUN_CLI_SUPPORTED_OPS_H

#include "base/error.h"

/* On standard output, whose errors the caller looks for: a line an operator, or one JSON object. */
bool supported_ops_print(bool is_json, struct irrun_error *err);

#endif
