/* --cast=safe: allows only conversions that keep every value.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_CAST_H
#define IRRUN_CLI_CAST_H

#include "tensor/dtype.h"

/* Returns whether `to` can represent every value of `from`. */
bool cast_is_safe(enum irrun_dtype from, enum irrun_dtype to);

#endif
