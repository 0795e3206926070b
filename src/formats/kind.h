/* Recognizes the format of a file by its first bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_KIND_H
#define IRRUN_FORMATS_KIND_H

#include "base/error.h"

#define KIND_BYTES ((size_t)12) /* enough for all formats */

/* Fails with IRRUN_DATA if the first n bytes are of another format than `wanted` ("raw", "npz",
 * ...). The hint has the right command. `path` is for messages. */
bool kind_check(const unsigned char *bytes, size_t n, const char *wanted, const char *path,
                struct irrun_error *err);

#endif
