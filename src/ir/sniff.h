/* Recognizes the type of a file from its first bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_SNIFF_H
#define IRRUN_IR_SNIFF_H

#include <stdbool.h>
#include <stddef.h>

#define SNIFF_BYTES 64 /* callers pass at most this many bytes */

/* Returns the type of a file from its first n bytes, such as "a zip archive", or NULL if it is
 * unknown. *hint says what to do if the file was given as a model, or is NULL. It may contain one
 * %s, which stands for the name of the file. */
const char *sniff(const unsigned char *head, size_t n, const char **hint);

/* Returns whether the bytes begin a Git LFS pointer file. */
bool sniff_is_lfs_pointer(const unsigned char *head, size_t n);

bool sniff_is_xml(const unsigned char *head, size_t n);

#endif
