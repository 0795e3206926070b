/* Parses decimal numbers, and converts those for which one correctly rounded operation is enough.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_DECIMAL_H
#define IRRUN_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* digits * 10^exponent */
struct decimal {
    uint64_t digits;
    int exponent;
    bool is_negative;
    bool is_rounded; /* digits were dropped, or the exponent is beyond 10^5 */
};

/* The largest power of ten that a double represents exactly: 5^22 < 2^53. */
#define MAX_EXACT_POWER 22
extern const double powers_of_ten[MAX_EXACT_POWER + 1];

/* Skips a sign, if there is one. Returns whether it is a minus. */
static inline bool decimal_skip_sign(const char **at, const char *end)
{
    bool is_negative = *at < end && **at == '-';
    *at += *at < end && (**at == '-' || **at == '+');
    return is_negative;
}

/* Parses the whole text: digits with an optional sign, point and exponent. Returns false for any
 * other text. */
bool decimal_scan(const char *text, size_t length, struct decimal *decimal);

/* Sets *value to the double nearest to the decimal. Returns false if more than one operation on
 * exact operands would be needed. */
bool decimal_to_f64(const struct decimal *decimal, double *value);

/* Sets *value to the float nearest to the decimal. Returns false if a double within 2 ulp of the
 * decimal does not determine it. */
bool decimal_to_f32(const struct decimal *decimal, float *value);

/* Returns whether an error of 2 ulp may move a double across the midpoint of two floats. */
bool is_near_float_midpoint(double value);

#endif
