/* Which element types may stand for which: the rules of --cast.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_CAST_H
#define IRRUN_CLI_CAST_H

#include "tensor/dtype.h"

/* Whether every value of `from` is a value of `to`. */
bool cast_is_safe(enum irrun_dtype from, enum irrun_dtype to);

#endif
