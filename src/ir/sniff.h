/* Guesses the type of a wrong file from its first bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_SNIFF_H
#define IRRUN_IR_SNIFF_H

#include <stdbool.h>
#include <stddef.h>

#define SNIFF_BYTES 64

/* What the bytes at the beginning of a file look like ("a zip archive"), or NULL; *hint is what to
 * do about it, for a file given as model, or NULL; it may have one %s, where the file is named. */
const char *sniff(const unsigned char *head, size_t n, const char **hint);

/* Whether it is a Git LFS pointer file, not the content. */
bool sniff_is_lfs_pointer(const unsigned char *head, size_t n);

bool sniff_is_xml(const unsigned char *head, size_t n);

#endif
