/* What records.c and records_read.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RECORDS_INTERNAL_H
#define IRRUN_CLI_RECORDS_INTERNAL_H

#include "cli/records.h"

struct place records_place(const struct records *records);

/* Reads the header of the next array, unless that was done before. */
bool records_peek_array(struct records *records, bool *is_end, struct irrun_error *err);

/* Goes to the next array: its type, the shape of its records, room for one of them. */
bool records_take_array(struct records *records, bool *is_end, struct irrun_error *err);

/* Fills the record from as many elements of source_dtype; warns of the first that --cast=any
 * changes. */
void records_convert(struct records *records, const void *source);

/* Makes the array in memory the next one. */
void records_pend_whole(struct records *records);

/* records_mistakes.c. IRRUN_DATA: the array is none of the port's. */
bool records_fail_form(const struct records *records, const struct array_header *header,
                       struct irrun_error *err);

/* Decides which channels the reader gives. Fails with IRRUN_DATA if the input is not for sound, or
 * the sound has another rate. In records_audio.c. */
bool records_take_audio(struct records *records, const struct array_header *header,
                        struct irrun_error *err);

/* Returns "NAME" and sets *equals to "=", for the text of an option, if there are several inputs;
 * otherwise both are "". */
const char *records_option_name(const struct records *records, const char **equals);

/* Fails with IRRUN_USAGE because --axis is not one of the `rank` axes. */
bool records_fail_axis(const struct records *records, uint32_t rank, struct irrun_error *err);

/* Fails with IRRUN_USAGE if no record has the length of a slice, as for --axis=1:500 if a record
 * has 512. */
bool records_check_chunk(const struct records *records, uint32_t axis, int64_t chunk,
                         struct irrun_error *err);

/* raw_check.c: whether the bytes of a raw input are what they are read as. 16-bit audio read as f32
 * is a matter of time before it is NaN or a number that nothing measures. So many elements from the
 * beginning of an input are looked at. */
#define RAW_CHECK_ELEMENTS 4096

/* Whether the records, which are open, are raw floats for an input, and --raw-check lets them be
 * looked at. */
bool raw_check_is_due(const struct records *records);

/* Looks at n elements of source_dtype that follow the first n_before (below RAW_CHECK_ELEMENTS).
 * IRRUN_DATA with the byte and what to type instead if one is NaN or beyond 1e20. */
bool raw_check(const struct records *records, size_t n_before, const void *elements, size_t n,
               struct irrun_error *err);

#endif
