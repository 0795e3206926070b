/* Reads one number of a csv file exactly, in any locale.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_CSV_NUMBER_H
#define IRRUN_FORMATS_CSV_NUMBER_H

#include "tensor/dtype.h"

/* Parses all of text[0 … length) as an element of `dtype` into `element`: decimals to the nearest
 * value (floats below 32 bits via f64); nan, inf and infinity in any case; integers exactly, even
 * if written as 3.0 or 1e3; booleans as 0 and 1. For any other text, returns false and sets *why,
 * for example to "does not fit". */
bool csv_number_parse(const char *text, size_t length, enum irrun_dtype dtype, void *element,
                      const char **why);

#endif
