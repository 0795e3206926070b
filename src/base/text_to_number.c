/* Parses numbers in any locale: short ones by exact arithmetic, others by strtod, which gets no
 * decimal point.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/decimal.h"

struct slice slice_trim(struct slice slice)
{
    while (slice.at < slice.end && text_is_blank(*slice.at))
        slice.at++;
    while (slice.at < slice.end && text_is_blank(slice.end[-1]))
        slice.end--;
    return slice;
}

bool text_to_i64(const char *text, size_t length, int64_t *value)
{
    struct slice number = slice_trim((struct slice){text, text + length});
    const char *at = number.at, *end = number.end;
    bool is_negative = decimal_skip_sign(&at, end);
    if (at == end || !text_is_digit(*at))
        return false;
    /* The sum is negative, because the minimum has no positive counterpart. */
    int64_t sum = 0;
    for (; at < end && text_is_digit(*at); at++)
        if (!checked_mul_i64(sum, 10, &sum) || !checked_add_i64(sum, -(int64_t)(*at - '0'), &sum))
            return false;
    if (at != end || (!is_negative && sum == INT64_MIN))
        return false;
    *value = is_negative ? sum : -sum;
    return true;
}

/* 768 digits determine every double. Beyond them it only matters whether any digit is not 0. */
#define MAX_DIGITS 800
#define EXPONENT_LIMIT 1000000

struct digits {
    char text[MAX_DIGITS + 32];
    size_t n;              /* significant digits kept */
    int64_t exponent;      /* the value is the digits as an integer, times base^exponent */
    bool has_digits;       /* even if all are 0 */
    bool has_nonzero_tail; /* a dropped digit is not 0 */
};

static bool is_digit_of(char c, bool is_hex)
{
    return text_is_digit(c) || (is_hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

static const char *parse_digits(struct digits *digits, const char *at, const char *end, bool is_hex)
{
    bool is_fraction = false;
    for (; at < end; at++) {
        if (*at == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        if (!is_digit_of(*at, is_hex))
            break;
        digits->has_digits = true;
        /* A leading zero is not stored, nor does it count as a dropped digit. */
        bool is_kept = digits->n < MAX_DIGITS && (*at != '0' || digits->n != 0);
        bool is_dropped = !is_kept && digits->n != 0;
        if (is_kept)
            digits->text[digits->n++] = *at;
        digits->has_nonzero_tail |= is_dropped && *at != '0';
        digits->exponent += is_dropped - is_fraction;
    }
    return at;
}

/* Returns the end of the exponent, if there is one; NULL if its number is missing. */
static const char *parse_exponent(const char *at, const char *end, char mark, int64_t *exponent)
{
    *exponent = 0;
    if (at == end || (*at | 0x20) != mark)
        return at;
    at++;
    bool is_negative = decimal_skip_sign(&at, end);
    if (at == end || !text_is_digit(*at))
        return NULL;
    /* The limit is far above the exponents of doubles, because a number may have so many digits
     * that they compensate for a large exponent. */
    for (; at < end && text_is_digit(*at); at++)
        if (*exponent < INT64_MAX / 100)
            *exponent = *exponent * 10 + (*at - '0');
    if (is_negative)
        *exponent = -*exponent;
    return at;
}

/* Returns the correctly rounded value. strtod gets no decimal point, since that depends on the
 * locale. */
static double value_of_digits(struct digits *digits, int64_t exponent, bool is_hex, bool is_f32)
{
    if (digits->n == 0)
        return 0.0;
    if (digits->has_nonzero_tail) {
        digits->text[digits->n++] = '1';
        exponent -= is_hex ? 4 : 1;
    }
    if (exponent > EXPONENT_LIMIT)
        exponent = EXPONENT_LIMIT;
    if (exponent < -EXPONENT_LIMIT)
        exponent = -EXPONENT_LIMIT;
    char number[sizeof digits->text + 2];
    snprintf(number, sizeof number, "%s%.*s%c%d", is_hex ? "0x" : "", (int)digits->n, digits->text,
             is_hex ? 'p' : 'e', (int)exponent);
    return is_f32 ? (double)strtof(number, NULL) : strtod(number, NULL);
}

static bool equals_word(const char *at, const char *end, const char *word)
{
    for (; at < end && *word != '\0' && (*at | 0x20) == *word; at++)
        word++;
    return at == end && *word == '\0';
}

/* Parses a number of any length, in decimal or hexadecimal. */
static bool parse_magnitude(const char *at, const char *end, bool is_f32, double *value)
{
    bool is_hex = end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x';
    struct digits digits = {.n = 0};
    at = parse_digits(&digits, is_hex ? at + 2 : at, end, is_hex);
    if (!digits.has_digits)
        return false;
    int64_t exponent;
    at = parse_exponent(at, end, is_hex ? 'p' : 'e', &exponent);
    if (at != end)
        return false;
    exponent += digits.exponent * (is_hex ? 4 : 1);
    *value = value_of_digits(&digits, exponent, is_hex, is_f32);
    return true;
}

static bool parse_unsigned(const char *at, const char *end, bool is_f32, double *value)
{
    if (equals_word(at, end, "nan"))
        *value = (double)NAN;
    else if (equals_word(at, end, "inf") || equals_word(at, end, "infinity"))
        *value = (double)INFINITY;
    else
        return parse_magnitude(at, end, is_f32, value);
    return true;
}

/* Parses what the fast path cannot: numbers of any length, blanks, nan and inf. */
static bool parse_slowly(const char *text, size_t length, bool is_f32, double *value)
{
    struct slice number = slice_trim((struct slice){text, text + length});
    const char *at = number.at;
    bool is_negative = decimal_skip_sign(&at, number.end);
    double magnitude;
    if (!parse_unsigned(at, number.end, is_f32, &magnitude))
        return false;
    *value = is_negative ? -magnitude : magnitude;
    return true;
}

bool text_to_f64(const char *text, size_t length, double *value)
{
    struct decimal decimal;
    return (decimal_scan(text, length, &decimal) && decimal_to_f64(&decimal, value)) ||
           parse_slowly(text, length, false, value);
}

bool text_to_f32(const char *text, size_t length, float *value)
{
    struct decimal decimal;
    if (decimal_scan(text, length, &decimal) && decimal_to_f32(&decimal, value))
        return true;
    double rounded;
    if (!parse_slowly(text, length, true, &rounded))
        return false;
    *value = (float)rounded;
    return true;
}
