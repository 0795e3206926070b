/* One number of a csv file, read exactly into the type asked for; never by the locale.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_CSV_NUMBER_H
#define IRRUN_FORMATS_CSV_NUMBER_H

#include "tensor/dtype.h"

/* Reads the whole of text[0 … length) as an element of `dtype` into `element`: decimals to the
 * nearest value (floats below 32 bits by way of f64); nan, inf and infinity in any case; integers
 * exactly, also when written as 3.0 or 1e3; booleans as 0 and 1. Otherwise false, with *why what
 * is wrong with it: "is not a number", "does not fit". */
bool csv_number_parse(const char *text, size_t length, enum irrun_dtype dtype, void *element,
                      const char **why);

#endif
