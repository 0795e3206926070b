/* Converts the numbers of a csv file to an element type. base/decimal.h and base/text.h scan them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/csv_number.h"

#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text.h"
#include "formats/byte_order.h"
#include "tensor/tensor.h"

static const char not_a_number[] = "is not a number";
static const char does_not_fit[] = "does not fit";
static const char not_whole[] = "is not a whole number";
static const char not_boolean[] = "is neither 0 nor 1";

/* Returns whether the value is infinite although the text is a number, not inf or infinity. */
static bool is_overflow(const char *text, size_t length, double value)
{
    return isinf(value) && !memchr(text, 'i', length) && !memchr(text, 'I', length);
}

static bool parse_f64(const char *text, size_t length, double *value, const char **why)
{
    bool is_number = text_to_f64(text, length, value);
    *why = is_number ? does_not_fit : not_a_number;
    return is_number && !is_overflow(text, length, *value);
}

static bool parse_f32(const char *text, size_t length, float *value, const char **why)
{
    bool is_number = text_to_f32(text, length, value);
    *why = is_number ? does_not_fit : not_a_number;
    return is_number && !is_overflow(text, length, (double)*value);
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

/* Returns the largest magnitude of the type with this sign: 128 for negative i8. */
static uint64_t largest_magnitude(enum irrun_dtype dtype, bool is_negative)
{
    unsigned bits = dtype == IRRUN_BOOLEAN ? 1 : dtype_stored_bits(dtype);
    if (dtype_is_signed(dtype))
        return ((uint64_t)1 << (bits - 1)) - !is_negative;
    return is_negative ? 0 : UINT64_MAX >> (64 - bits);
}

/* Rewrites a whole number such as 1e3 or 3.0 with exponent 0. */
static bool make_whole(struct decimal *decimal, const char **why)
{
    if (decimal->digits == 0)
        return true;
    *why = decimal->exponent >= 0 ? does_not_fit : not_whole;
    if (decimal->is_rounded)
        return false;
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

static bool parse_integer(const char *text, size_t length, enum irrun_dtype dtype, void *element,
                          const char **why)
{
    struct decimal decimal;
    if (!decimal_scan(text, length, &decimal)) {
        double value;
        *why = text_to_f64(text, length, &value) ? not_whole : not_a_number;
        return false;
    }
    if (!make_whole(&decimal, why))
        return false;
    *why = dtype == IRRUN_BOOLEAN ? not_boolean : does_not_fit;
    if (decimal.digits > largest_magnitude(dtype, decimal.is_negative))
        return false;
    uint64_t bits = decimal.is_negative ? (uint64_t)0 - decimal.digits : decimal.digits;
    size_t size_bytes = dtype_size(dtype);
    size_t skip_bytes = is_little_endian() ? 0 : sizeof bits - size_bytes;
    memcpy(element, (const unsigned char *)&bits + skip_bytes, size_bytes);
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
