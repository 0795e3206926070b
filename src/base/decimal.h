/* Decimal numbers and doubles, where one correctly rounded operation leads from one to the other.
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
    bool is_rounded; /* text held more digits than these, or an exponent beyond 10^5 */
};

/* The powers of ten that a double holds exactly: 5^22 < 2^53. */
#define MAX_EXACT_POWER 22
extern const double powers_of_ten[MAX_EXACT_POWER + 1];

/* Reads the whole of text: digits, with a sign, a point and an exponent if there are such. False
 * if it is anything else. */
bool decimal_scan(const char *text, size_t length, struct decimal *decimal);

/* The double nearest to the decimal, if a single operation on exact operands gives it. */
bool decimal_to_f64(const struct decimal *decimal, double *value);

/* The float nearest to the decimal, if a double within 2 ulp of it decides which. */
bool decimal_to_f32(const struct decimal *decimal, float *value);

/* Whether a double may be on the other side of the middle between two floats if it is wrong by
 * two units in its last place. */
bool is_near_float_midpoint(double value);

#endif
