/* Parses decimal numbers, and converts those that need one correctly rounded operation.
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

/* The powers of ten that a double holds exactly: 5^22 < 2^53. */
#define MAX_EXACT_POWER 22
extern const double powers_of_ten[MAX_EXACT_POWER + 1];

/* Parses the whole text: digits with an optional sign, point and exponent. False if it is anything
 * else. */
bool decimal_scan(const char *text, size_t length, struct decimal *decimal);

/* The double nearest to the decimal, if a single operation on exact operands gives it. */
bool decimal_to_f64(const struct decimal *decimal, double *value);

/* The float nearest to the decimal, if a double within 2 ulp of it determines it. */
bool decimal_to_f32(const struct decimal *decimal, float *value);

/* Whether an error of 2 ulp may move a double across the midpoint of two floats. */
bool is_near_float_midpoint(double value);

#endif
