/* What feed.c and feed_read.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_FEED_PARTS_H
#define IRRUN_CLI_FEED_PARTS_H

#include "cli/feed.h"

struct place feed_place(const struct feed *feed);

/* Reads the header of the next array, unless that was done before. */
bool feed_peek_array(struct feed *feed, bool *is_end, struct irrun_error *err);

/* Goes to the next array: its type, the shape of its records, room for one of them. */
bool feed_take_array(struct feed *feed, bool *is_end, struct irrun_error *err);

/* The array in memory is the next one. */
void feed_pend_whole(struct feed *feed);

#endif
