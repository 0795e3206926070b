/* Functions that the files records*.c share, and raw_check.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RECORDS_INTERNAL_H
#define IRRUN_CLI_RECORDS_INTERNAL_H

#include "cli/records.h"

struct place records_place(const struct records *records);

/* Reads the header of the next array, unless it was read already. */
bool records_peek_array(struct records *records, bool *is_end, struct irrun_error *err);

/* Starts the next array: sets the type and shape of its records, and allocates one record. */
bool records_start_array(struct records *records, bool *is_end, struct irrun_error *err);

/* Converts elements of source_dtype into the record. Warns about the first value that --cast=any
 * changes. */
void records_convert(struct records *records, const void *source);

/* Returns whether records are first read into `staging`, because their type is converted, or
 * because the source may end inside a record while outputs are still views of the last record. */
bool records_are_staged(const struct records *records);

/* Makes records->whole the next array to read. */
void records_queue_whole(struct records *records);

/* Fails with IRRUN_DATA, or type_code, because the array does not fit the port. In
 * records_mistakes.c. */
bool records_fail_type(const struct records *records, const struct array_header *header,
                       struct irrun_error *err);

/* Chooses the channels that the reader returns. Fails with IRRUN_DATA if the type of the input does
 * not fit sound, or if the sound has the wrong rate. In records_audio.c. */
bool records_start_audio(struct records *records, const struct array_header *header,
                         struct irrun_error *err);

/* Returns the parts of "NAME=" for the text of an option: the name, and "=" in *equals. Both are ""
 * if the option needs no name. */
const char *records_option_name(const struct records *records, const char **equals);

/* Fails with IRRUN_USAGE because --axis is not one of the `rank` axes. */
bool records_fail_axis(const struct records *records, uint32_t rank, struct irrun_error *err);

/* Fails with IRRUN_USAGE if no record can have length `chunk` along the axis, as for --axis=1:500
 * if the length of a record is 512. */
bool records_check_chunk(const struct records *records, uint32_t axis, int64_t chunk,
                         struct irrun_error *err);

/* ---- raw_check.c: finds raw inputs that are read as the wrong type -----------------------------
 * 16-bit audio that is read as f32, for example, soon gives NaN or a huge number. */

/* The number of elements that are checked at the start of an input. */
#define RAW_CHECK_ELEMENTS 4096

/* Returns whether the open records are raw floats of an input, and --raw-check allows the check. */
bool raw_check_is_due(const struct records *records);

/* Checks n elements of source_dtype after the first n_before (below RAW_CHECK_ELEMENTS) elements.
 * Fails with IRRUN_DATA if an element is NaN or above 1e20 in magnitude, or if the input begins
 * with text. The message gives the byte offset of the element, and the hint suggests the right
 * format. */
bool raw_check(const struct records *records, size_t n_before, const void *elements, size_t n,
               struct irrun_error *err);

#endif
