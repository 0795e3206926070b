/* What a file says of itself in its first bytes, whatever it was asked to be read as.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_KIND_H
#define IRRUN_FORMATS_KIND_H

#include "base/error.h"

#define KIND_BYTES ((size_t)12) /* enough to tell */

/* IRRUN_DATA if the n bytes begin a file of another format than `wanted` ("raw", "npz", …), with
 * what to type instead. `path` as it is shown. */
bool kind_check(const unsigned char *bytes, size_t n, const char *wanted, const char *path,
                struct irrun_error *err);

#endif
