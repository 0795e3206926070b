/* Numbers of a csv file. The common ones (up to 19 digits, a small exponent) are exact in two
 * operations of plain arithmetic; the others go the slow way.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/csv_number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tensor/tensor.h"

static const char not_a_number[] = "is not a number";
static const char does_not_fit[] = "does not fit";
static const char not_whole[] = "is not a whole number";
static const char not_boolean[] = "is neither 0 nor 1";

/* (-1)^is_negative * digits * 10^exponent */
struct decimal {
    uint64_t digits;
    int exponent;
    bool is_negative;
    bool is_exact; /* false: more digits than fit, or an exponent beyond the ordinary */
};

#define MAX_DIGITS 19       /* 10^19 - 1 < 2^64 */
#define MAX_EXPONENT 100000 /* of what is still read here */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits around the point; returns where they end, NULL if there is none. */
static const char *scan_digits(const char *at, const char *end, struct decimal *decimal)
{
    bool is_fraction = false, is_any = false;
    unsigned n_digits = 0;
    for (; at < end; at++) {
        if (*at == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        if (!is_digit(*at))
            break;
        is_any = true;
        if (n_digits == MAX_DIGITS) {
            decimal->is_exact = decimal->is_exact && is_fraction && *at == '0';
            continue;
        }
        decimal->digits = decimal->digits * 10 + (uint64_t)(*at - '0');
        n_digits += decimal->digits != 0;
        decimal->exponent -= is_fraction;
    }
    return is_any ? at : NULL;
}

static const char *scan_exponent(const char *at, const char *end, struct decimal *decimal)
{
    bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end || !is_digit(*at))
        return NULL;
    int exponent = 0;
    for (; at < end && is_digit(*at); at++)
        if (exponent < MAX_EXPONENT)
            exponent = exponent * 10 + (*at - '0');
    decimal->exponent += is_negative ? -exponent : exponent;
    decimal->is_exact = decimal->is_exact && exponent < MAX_EXPONENT;
    return at;
}

static bool scan_decimal(const char *text, size_t length, struct decimal *decimal)
{
    const char *at = text, *end = text + length;
    *decimal = (struct decimal){.is_exact = true};
    decimal->is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    at = scan_digits(at, end, decimal);
    if (at && at < end && (*at == 'e' || *at == 'E'))
        at = scan_exponent(at + 1, end, decimal);
    return at == end && at != NULL;
}

/* ---- Floats ---------------------------------------------------------------------------------- */

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define MAX_EXACT_POWER 22 /* 5^22 < 2^53 */

/* Both operands are exact, so the one operation rounds as the decimal would. */
static bool quick_f64(const struct decimal *decimal, double *value)
{
    if (!decimal->is_exact || decimal->digits > (uint64_t)1 << 53 ||
        decimal->exponent < -MAX_EXACT_POWER || decimal->exponent > MAX_EXACT_POWER)
        return false;
    double digits = (double)decimal->digits;
    *value = decimal->exponent < 0 ? digits / powers_of_ten[-decimal->exponent]
                                   : digits * powers_of_ten[decimal->exponent];
    return true;
}

/* A double that was rounded may only be rounded again if it does not lie on, or by its rounding
 * came to lie on, the middle between two floats; and subnormal floats have other middles. */
static bool is_safely_narrowed(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t below_f32 = ((uint64_t)1 << 29) - 1, middle = (uint64_t)1 << 28;
    return value == 0.0 || (value >= (double)FLT_MIN && (bits & below_f32) != middle);
}

/* The text without its point, so that strtof needs no locale. */
static bool slow_f32(const char *text, size_t length, float *value)
{
    char number[1100];
    size_t n = 0;
    long exponent = 0;
    bool is_fraction = false;
    size_t i = 0;
    for (; i < length && text[i] != 'e' && text[i] != 'E'; i++) {
        if (text[i] == '.') {
            is_fraction = true;
            continue;
        }
        if (n == 1024)
            return false;
        number[n++] = text[i];
        exponent -= is_fraction;
    }
    if (i < length) {
        char given[32];
        size_t n_given = length - i - 1 < sizeof given ? length - i - 1 : sizeof given - 1;
        memcpy(given, text + i + 1, n_given);
        given[n_given] = '\0';
        long shift = strtol(given, NULL, 10);
        exponent +=
            shift > MAX_EXPONENT ? MAX_EXPONENT : (shift < -MAX_EXPONENT ? -MAX_EXPONENT : shift);
    }
    snprintf(number + n, sizeof number - n, "e%ld", exponent);
    *value = strtof(number, NULL);
    return true;
}

static bool parse_f64(const char *text, size_t length, double *value, const char **why)
{
    struct decimal decimal;
    bool is_scanned = scan_decimal(text, length, &decimal);
    if (is_scanned && quick_f64(&decimal, value)) {
        *value = decimal.is_negative ? -*value : *value;
        return true;
    }
    if (!text_to_f64(text, length, value)) {
        *why = not_a_number;
        return false;
    }
    *why = does_not_fit;
    return !(is_scanned && isinf(*value));
}

static bool parse_f32(const char *text, size_t length, float *value, const char **why)
{
    struct decimal decimal;
    double quick;
    if (scan_decimal(text, length, &decimal)) {
        if (quick_f64(&decimal, &quick) && is_safely_narrowed(quick)) {
            *value = (float)(decimal.is_negative ? -quick : quick);
            return true;
        }
        *why = does_not_fit;
        return slow_f32(text, length, value) && !isinf(*value);
    }
    if (!text_to_f64(text, length, &quick)) {
        *why = not_a_number;
        return false;
    }
    *value = (float)quick; /* nan, inf, or written in hexadecimal */
    *why = does_not_fit;
    return isfinite(quick) ? isfinite(*value) : true;
}

static bool parse_small_float(const char *text, size_t length, enum irrun_dtype dtype,
                              void *element, const char **why)
{
    double value;
    if (!parse_f64(text, length, &value, why))
        return false;
    convert_elements(IRRUN_F64, &value, dtype, element, 1);
    *why = does_not_fit;
    return !isfinite(value) || isfinite(element_as_f64(dtype, element, 0));
}

/* ---- Integers -------------------------------------------------------------------------------- */

struct integer_range {
    int64_t min;
    uint64_t max;
};

static struct integer_range range_of(enum irrun_dtype dtype)
{
    switch (dtype) {
    case IRRUN_I4:
        return (struct integer_range){-8, 7};
    case IRRUN_I8:
        return (struct integer_range){INT8_MIN, INT8_MAX};
    case IRRUN_I16:
        return (struct integer_range){INT16_MIN, INT16_MAX};
    case IRRUN_I32:
        return (struct integer_range){INT32_MIN, INT32_MAX};
    case IRRUN_I64:
        return (struct integer_range){INT64_MIN, INT64_MAX};
    case IRRUN_U8:
        return (struct integer_range){0, UINT8_MAX};
    case IRRUN_U16:
        return (struct integer_range){0, UINT16_MAX};
    case IRRUN_U32:
        return (struct integer_range){0, UINT32_MAX};
    case IRRUN_U64:
        return (struct integer_range){0, UINT64_MAX};
    case IRRUN_U2:
        return (struct integer_range){0, 3};
    case IRRUN_U3:
        return (struct integer_range){0, 7};
    case IRRUN_U6:
        return (struct integer_range){0, 63};
    case IRRUN_U4:
    case IRRUN_NF4:
        return (struct integer_range){0, 15};
    default: /* boolean and u1 */
        return (struct integer_range){0, 1};
    }
}

/* Moves the exponent into the digits: 1e3, 3.0. */
static bool make_whole(struct decimal *decimal, const char **why)
{
    *why = decimal->is_exact || decimal->exponent >= 0 ? does_not_fit : not_whole;
    if (!decimal->is_exact)
        return false;
    if (decimal->digits == 0)
        decimal->exponent = 0;
    for (; decimal->exponent > 0; decimal->exponent--)
        if (__builtin_mul_overflow(decimal->digits, 10u, &decimal->digits))
            return false;
    *why = not_whole;
    for (; decimal->exponent < 0; decimal->exponent++) {
        if (decimal->digits % 10 != 0)
            return false;
        decimal->digits /= 10;
    }
    return true;
}

static void store_integer(uint64_t bits, size_t size_bytes, void *element)
{
    uint8_t bits8 = (uint8_t)bits;
    uint16_t bits16 = (uint16_t)bits;
    uint32_t bits32 = (uint32_t)bits;
    const void *source = size_bytes == 1   ? (const void *)&bits8
                         : size_bytes == 2 ? (const void *)&bits16
                         : size_bytes == 4 ? (const void *)&bits32
                                           : (const void *)&bits;
    memcpy(element, source, size_bytes);
}

/* Up to 20 digits without a point: the decimal's digits end at 19. */
static bool parse_plain_u64(const char *text, size_t length, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < length; i++)
        if (!is_digit(text[i]) || __builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, (uint64_t)(text[i] - '0'), value))
            return false;
    return length != 0;
}

static bool parse_integer(const char *text, size_t length, enum irrun_dtype dtype, void *element,
                          const char **why)
{
    struct decimal decimal;
    if (!scan_decimal(text, length, &decimal)) {
        double value;
        *why = text_to_f64(text, length, &value) ? not_whole : not_a_number;
        return false;
    }
    bool is_signed_text = text[0] == '-' || text[0] == '+';
    uint64_t plain;
    if (parse_plain_u64(text + is_signed_text, length - is_signed_text, &plain))
        decimal = (struct decimal){.digits = plain, .is_negative = decimal.is_negative};
    else if (!make_whole(&decimal, why))
        return false;
    struct integer_range range = range_of(dtype);
    uint64_t lowest = range.min < 0 ? (uint64_t)0 - (uint64_t)range.min : 0;
    *why = dtype == IRRUN_BOOLEAN ? not_boolean : does_not_fit;
    if (decimal.digits > (decimal.is_negative ? lowest : range.max))
        return false;
    uint64_t bits = decimal.is_negative ? (uint64_t)0 - decimal.digits : decimal.digits;
    store_integer(bits, dtype_size(dtype), element);
    return true;
}

bool csv_number_parse(const char *text, size_t length, enum irrun_dtype dtype, void *element,
                      const char **why)
{
    float f32;
    double f64;
    switch (dtype) {
    case IRRUN_F32:
        if (!parse_f32(text, length, &f32, why))
            return false;
        memcpy(element, &f32, sizeof f32);
        return true;
    case IRRUN_F64:
        if (!parse_f64(text, length, &f64, why))
            return false;
        memcpy(element, &f64, sizeof f64);
        return true;
    case IRRUN_F16:
    case IRRUN_BF16:
    case IRRUN_F8E4M3:
    case IRRUN_F8E5M2:
    case IRRUN_F4E2M1:
    case IRRUN_F8E8M0:
        return parse_small_float(text, length, dtype, element, why);
    default:
        return parse_integer(text, length, dtype, element, why);
    }
}
