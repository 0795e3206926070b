/* Parses decimal numbers. text_to_number.c converts those that this file cannot round.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#define MAX_EXPONENT 100000

const double powers_of_ten[MAX_EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool append_digit(uint64_t *digits, char c)
{
    uint64_t digit = (uint64_t)(c - '0');
    if (*digits > UINT64_MAX / 10 || (*digits == UINT64_MAX / 10 && digit > UINT64_MAX % 10))
        return false;
    *digits = *digits * 10 + digit;
    return true;
}

/* Scans the digits before and after the point. Returns their end, or NULL if there is no digit. */
static const char *scan_digits(const char *at, const char *end, struct decimal *decimal)
{
    bool is_fraction = false, has_digit = false;
    for (; at < end; at++) {
        if (*at == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        if (!text_is_digit(*at))
            break;
        has_digit = true;
        if (append_digit(&decimal->digits, *at))
            decimal->exponent -= is_fraction;
        else if (!is_fraction || *at != '0')
            decimal->is_rounded = true;
    }
    return has_digit ? at : NULL;
}

static const char *scan_exponent(const char *at, const char *end, struct decimal *decimal)
{
    bool is_negative = decimal_skip_sign(&at, end);
    if (at == end || !text_is_digit(*at))
        return NULL;
    int exponent = 0;
    for (; at < end && text_is_digit(*at); at++)
        if (exponent < MAX_EXPONENT)
            exponent = exponent * 10 + (*at - '0');
    decimal->exponent += is_negative ? -exponent : exponent;
    decimal->is_rounded = decimal->is_rounded || exponent >= MAX_EXPONENT;
    return at;
}

bool decimal_scan(const char *text, size_t length, struct decimal *decimal)
{
    const char *at = text, *end = text + length;
    *decimal = (struct decimal){.digits = 0};
    decimal->is_negative = decimal_skip_sign(&at, end);
    at = scan_digits(at, end, decimal);
    if (at && at < end && (*at == 'e' || *at == 'E'))
        at = scan_exponent(at + 1, end, decimal);
    return at == end && at != NULL;
}

static bool has_exact_power(const struct decimal *decimal)
{
    return !decimal->is_rounded && decimal->exponent >= -MAX_EXACT_POWER &&
           decimal->exponent <= MAX_EXACT_POWER;
}

/* May round twice: first the digits, if they need more than 53 bits, then the result. */
static double scale_digits(const struct decimal *decimal)
{
    double digits = decimal->is_negative ? -(double)decimal->digits : (double)decimal->digits;
    return decimal->exponent < 0 ? digits / powers_of_ten[-decimal->exponent]
                                 : digits * powers_of_ten[decimal->exponent];
}

bool decimal_to_f64(const struct decimal *decimal, double *value)
{
    if (!has_exact_power(decimal) || decimal->digits > (uint64_t)1 << 53)
        return false;
    *value = scale_digits(decimal);
    return true;
}

bool is_near_float_midpoint(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t below_float = bits & (((uint64_t)1 << 29) - 1);
    uint64_t midpoint = (uint64_t)1 << 28;
    return below_float + 8 > midpoint && below_float < midpoint + 8;
}

bool decimal_to_f32(const struct decimal *decimal, float *value)
{
    if (!has_exact_power(decimal))
        return false;
    double scaled = scale_digits(decimal);
    /* is_near_float_midpoint is right only for normal floats. */
    if (decimal->digits != 0 && (fabs(scaled) < (double)FLT_MIN || is_near_float_midpoint(scaled)))
        return false;
    *value = (float)scaled;
    return true;
}
