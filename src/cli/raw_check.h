/* Whether the bytes of a raw input are what they are read as: 16-bit audio read as f32 is a matter
 * of time before it is NaN or a number that nothing measures.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RAW_CHECK_H
#define IRRUN_CLI_RAW_CHECK_H

#include "cli/feed.h"

/* So many elements from the beginning of an input are looked at. */
#define RAW_CHECK_ELEMENTS 4096

/* Whether the feed, which is open, reads raw floats for an input, and --raw-check lets them be
 * looked at. */
bool raw_check_is_due(const struct feed *feed);

/* Looks at n elements of source_dtype that follow the first n_before (below RAW_CHECK_ELEMENTS).
 * IRRUN_DATA with the byte and what to type instead if one is NaN or beyond 1e20. */
bool raw_check(const struct feed *feed, size_t n_before, const void *elements, size_t n,
               struct irrun_error *err);

#endif
