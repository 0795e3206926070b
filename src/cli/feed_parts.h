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

/* Fills the record from as many elements of source_dtype; warns of the first that --cast=any
 * changes. */
void feed_convert(struct feed *feed, const void *source);

/* The array in memory is the next one. */
void feed_pend_whole(struct feed *feed);

/* feed_mistakes.c. IRRUN_DATA: the array is none of the port's. */
bool feed_fail_form(const struct feed *feed, const struct array_header *header,
                    struct irrun_error *err);

/* IRRUN_DATA: samples from -1 to 1 for an input of integers, of which each would become 0. */
bool feed_check_audio(const struct feed *feed, struct irrun_error *err);

/* "NAME" and "=" for an option where there are several inputs to choose from, else "" both. */
const char *feed_option_name(const struct feed *feed, const char **equals);

/* IRRUN_USAGE: --axis is not one of the `rank` axes. */
bool feed_fail_axis(const struct feed *feed, uint32_t rank, struct irrun_error *err);

/* IRRUN_USAGE if no record is as long as a slice: --axis=1:500 where a record takes 512. */
bool feed_check_chunk(const struct feed *feed, uint32_t axis, int64_t chunk,
                      struct irrun_error *err);

/* raw_check.c: whether the bytes of a raw input are what they are read as. 16-bit audio read as f32
 * is a matter of time before it is NaN or a number that nothing measures. So many elements from the
 * beginning of an input are looked at. */
#define RAW_CHECK_ELEMENTS 4096

/* Whether the feed, which is open, reads raw floats for an input, and --raw-check lets them be
 * looked at. */
bool raw_check_is_due(const struct feed *feed);

/* Looks at n elements of source_dtype that follow the first n_before (below RAW_CHECK_ELEMENTS).
 * IRRUN_DATA with the byte and what to type instead if one is NaN or beyond 1e20. */
bool raw_check(const struct feed *feed, size_t n_before, const void *elements, size_t n,
               struct irrun_error *err);

#endif
