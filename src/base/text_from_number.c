/* Writes numbers with the fewest digits that read back as the same value, in any locale. Most
 * numbers take a fast path in double arithmetic, which detects when its result is uncertain. For
 * the others, snprintf and strtod try decimals of growing length.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

struct precision {
    int min_digits;    /* the first length tried for normal numbers; shorter ones end in zeros */
    int max_digits;    /* always sufficient */
    double min_normal; /* for smaller numbers the trial begins with one digit */
    bool is_f32;
    float (*narrow)(double decimal); /* see text_from_narrow; NULL for f32 and f64 */
};

static const struct precision f32_precision = {FLT_DIG, 9, (double)FLT_MIN, true, NULL};
static const struct precision f64_precision = {DBL_DIG, 17, DBL_MIN, false, NULL};

/* The float below a power of two is nearer to it than the float above. The shortest decimal that
 * reads back may then be the next decimal above the nearest one of the same length. */
static bool is_power_of_two(double value)
{
    int exponent;
    return frexp(value, &exponent) == 0.5;
}

/* Returns value * 10^power for |power| <= 2 * MAX_EXACT_POWER. The result is correctly rounded if
 * |power| <= MAX_EXACT_POWER; otherwise its error is below 2 ulp. */
static double scale(double value, int power)
{
    if (power > MAX_EXACT_POWER)
        return value * powers_of_ten[MAX_EXACT_POWER] * powers_of_ten[power - MAX_EXACT_POWER];
    if (power >= 0)
        return value * powers_of_ten[power];
    if (power >= -MAX_EXACT_POWER)
        return value / powers_of_ten[-power];
    return value / powers_of_ten[MAX_EXACT_POWER] / powers_of_ten[-power - MAX_EXACT_POWER];
}

/* Returns the nearest decimal of n digits. Skips the decimal point of the locale, which may have
 * several bytes. */
static struct decimal nearest_decimal(double value, int n_digits)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", n_digits - 1, value);
    struct decimal decimal = {.digits = 0};
    const char *at = text;
    for (; *at != '\0' && *at != 'e'; at++)
        if (text_is_digit(*at))
            decimal.digits = decimal.digits * 10 + (uint64_t)(*at - '0');
    decimal.exponent = (*at == 'e' ? (int)strtol(at + 1, NULL, 10) : 0) - (n_digits - 1);
    return decimal;
}

/* Returns the value that strtod would return. */
static double value_of(struct decimal decimal)
{
    double value;
    char text[48];
    if (decimal_to_f64(&decimal, &value))
        return value;
    snprintf(text, sizeof text, "%" PRIu64 "e%d", decimal.digits, decimal.exponent);
    return strtod(text, NULL);
}

/* Returns the nearest decimal of n digits; at a tie, either of the two. Avoids snprintf from 1e-12
 * to 1e12, where the powers of ten are exact. */
static struct decimal nearest_decimal_quickly(double value, int n_digits)
{
    if (value < 1e-12 || value >= 1e12)
        return nearest_decimal(value, n_digits);
    int power = n_digits;
    for (; power > n_digits - 12 && scale(value, power - n_digits) >= 1; power--)
        ;
    for (; scale(value, power - n_digits) < 0.1; power++)
        ;
    return (struct decimal){.digits = (uint64_t)rint(scale(value, power)), .exponent = -power};
}

static bool reads_back(struct decimal decimal, double value, const struct precision *precision)
{
    char text[48];
    if (precision->is_f32) {
        snprintf(text, sizeof text, "%" PRIu64 "e%d", decimal.digits, decimal.exponent);
        return strtof(text, NULL) == (float)value;
    }
    double read = value_of(decimal);
    return (precision->narrow ? (double)precision->narrow(read) : read) == value;
}

static struct decimal shortest_by_trial(double value, const struct precision *precision)
{
    bool has_uneven_spacing = is_power_of_two(value);
    int n_digits = value < precision->min_normal ? 1 : precision->min_digits;
    for (; n_digits < precision->max_digits; n_digits++) {
        struct decimal decimal = precision->narrow ? nearest_decimal_quickly(value, n_digits)
                                                   : nearest_decimal(value, n_digits);
        if (reads_back(decimal, value, precision))
            return decimal;
        decimal.digits++;
        if (has_uneven_spacing && reads_back(decimal, value, precision))
            return decimal;
    }
    return nearest_decimal(value, precision->max_digits);
}

/* Estimates floor(log10(value)). Rounding may make it one too large just below a power of ten.
 * Beyond MAX_EXACT_POWER the estimate is not corrected and may be one too small. */
static int decimal_exponent(double value)
{
    int exponent2;
    frexp(value, &exponent2);
    int exponent = (int)floor((exponent2 - 1) * 0.30102999566398120);
    if (exponent > MAX_EXACT_POWER || exponent < -MAX_EXACT_POWER)
        return exponent;
    return scale(value, -exponent) >= 10.0 ? exponent + 1 : exponent;
}

/* Tries 6 to 9 digits. `scaled` has an error of 2 ulp of a double, less than 1e-6 of the last
 * digit. Returns false if that error might change the result. */
static bool shortest_f32_quickly(double value, struct decimal *decimal)
{
    int exponent = decimal_exponent(value);
    for (int n_digits = FLT_DIG; n_digits <= 9; n_digits++) {
        int power = n_digits - 1 - exponent;
        if (power > 2 * MAX_EXACT_POWER || power < -2 * MAX_EXACT_POWER)
            return false;
        double scaled = scale(value, power);
        double digits = floor(scaled + 0.5);
        if (fabs(fabs(scaled - digits) - 0.5) < 1e-5)
            return false;
        double back = scale(digits, -power);
        if (is_near_float_midpoint(back))
            return false;
        if ((float)back == (float)value) {
            *decimal = (struct decimal){.digits = (uint64_t)digits, .exponent = -power};
            return true;
        }
        if (is_power_of_two(value))
            return false;
    }
    return false;
}

/* Tries 15 digits. A double represents them exactly, so reading back is one correctly rounded
 * operation. Returns false if more digits or other powers of ten are needed. */
static bool shortest_f64_quickly(double value, struct decimal *decimal)
{
    int power = DBL_DIG - 1 - decimal_exponent(value);
    if (power > MAX_EXACT_POWER || power < -MAX_EXACT_POWER)
        return false;
    double digits = floor(scale(value, power) + 0.5);
    if (digits >= 1e15 || scale(digits, -power) != value)
        return false;
    *decimal = (struct decimal){.digits = (uint64_t)digits, .exponent = -power};
    return true;
}

size_t text_from_u64(uint64_t value, char *out)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

static size_t fill(char *out, char c, size_t n)
{
    memset(out, c, n);
    return n;
}

/* Uses fixed notation from 1e-4 up to 1e16, as Python does, and otherwise an exponent of at least
 * two digits. */
static size_t write_decimal(struct decimal decimal, char *out)
{
    while (decimal.digits != 0 && decimal.digits % 10 == 0) {
        decimal.digits /= 10;
        decimal.exponent++;
    }
    char digits[20];
    size_t n = text_from_u64(decimal.digits, digits);
    int exponent = decimal.exponent + (int)n - 1;
    size_t length = 0;
    if (exponent >= -4 && exponent < 0) {
        out[length++] = '0';
        out[length++] = '.';
        length += fill(out + length, '0', (size_t)(-exponent - 1));
        memcpy(out + length, digits, n);
        return length + n;
    }
    bool is_fixed = exponent >= 0 && exponent < 16;
    size_t n_whole = is_fixed ? (size_t)exponent + 1 : 1;
    size_t n_copied = n < n_whole ? n : n_whole;
    memcpy(out, digits, n_copied);
    length = n_copied + fill(out + n_copied, '0', n_whole - n_copied);
    if (n > n_whole) {
        out[length++] = '.';
        memcpy(out + length, digits + n_whole, n - n_whole);
        length += n - n_whole;
    }
    if (is_fixed)
        return length;
    out[length++] = 'e';
    out[length++] = exponent < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)abs(exponent);
    if (magnitude < 10)
        out[length++] = '0';
    return length + text_from_u64(magnitude, out + length);
}

/* Writes the sign and the magnitude. */
static size_t write_signed(bool is_negative, struct decimal decimal, char *out)
{
    out[0] = '-';
    size_t length = is_negative + write_decimal(decimal, out + is_negative);
    out[length] = '\0';
    return length;
}

static size_t write_special(double value, char *out)
{
    return (size_t)sprintf(out, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
}

/* Returns whether the number is an integer below `limit`, up to which the type represents all
 * integers, so that its digits need no search. */
static bool is_whole(double magnitude, double limit)
{
    return magnitude < limit && magnitude == floor(magnitude);
}

size_t text_from_f32(float value, char out[TEXT_NUMBER_BYTES])
{
    double magnitude = fabs((double)value);
    struct decimal decimal;
    if (!isfinite(value))
        return write_special((double)value, out);
    if (is_whole(magnitude, 0x1p24))
        decimal = (struct decimal){.digits = (uint64_t)magnitude};
    else if (magnitude < (double)FLT_MIN || !shortest_f32_quickly(magnitude, &decimal))
        decimal = shortest_by_trial(magnitude, &f32_precision);
    return write_signed(signbit(value), decimal, out);
}

size_t text_from_f64(double value, char out[TEXT_NUMBER_BYTES])
{
    double magnitude = fabs(value);
    struct decimal decimal;
    if (!isfinite(value))
        return write_special(value, out);
    if (is_whole(magnitude, 0x1p53))
        decimal = (struct decimal){.digits = (uint64_t)magnitude};
    else if (magnitude < DBL_MIN || !shortest_f64_quickly(magnitude, &decimal))
        decimal = shortest_by_trial(magnitude, &f64_precision);
    return write_signed(signbit(value), decimal, out);
}

size_t text_from_narrow(float value, float (*narrow)(double), char out[TEXT_NUMBER_BYTES])
{
    float magnitude = fabsf(value);
    if (!isfinite(value) || is_whole((double)magnitude, 0x1p24))
        return text_from_f32(value, out);
    const struct precision precision = {1, f32_precision.max_digits, 0, false, narrow};
    return write_signed(signbit(value), shortest_by_trial((double)magnitude, &precision), out);
}
