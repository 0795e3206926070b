/* Decodes small floats with a formula. Encodes by a binary search for the nearest code, because the
 * values increase with the codes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor/small_float.h"

#include <math.h>

#include "tensor/sub_byte.h"

struct format {
    int mantissa_bits, bias;
    uint8_t sign;        /* the sign bit; 0: there are no negative numbers */
    uint8_t max_code;    /* the code of the largest finite value */
    uint8_t overflow;    /* the code of values above the range */
    uint8_t nan;         /* 0: none */
    bool has_subnormals; /* false: an exponent field of 0 is an ordinary exponent */
};

static const struct format formats[IRRUN_N_DTYPES] = {
    [IRRUN_F8E4M3] = {3, 7, 0x80, 0x7E, 0x7F, 0x7F, true},
    [IRRUN_F8E5M2] = {2, 15, 0x80, 0x7B, 0x7C, 0x7F, true},
    [IRRUN_F4E2M1] = {1, 1, 0x08, 0x07, 0x07, 0, true},
    [IRRUN_F8E8M0] = {0, 127, 0, 0xFE, 0xFE, 0xFF, false},
};

bool small_float_is(enum irrun_dtype dtype)
{
    return dtype == IRRUN_NF4 || formats[dtype].max_code != 0;
}

/* Decodes a code that is at most max_code and has no sign. */
static float decode_finite(const struct format *format, unsigned code)
{
    unsigned one = 1u << format->mantissa_bits;
    unsigned exponent = code >> format->mantissa_bits;
    unsigned mantissa = code & (one - 1);
    if (exponent != 0 || !format->has_subnormals)
        mantissa |= one;
    else
        exponent = 1;
    return ldexpf((float)mantissa, (int)exponent - format->bias - format->mantissa_bits);
}

static float decode(const struct format *format, uint8_t code)
{
    unsigned used = format->max_code | format->nan | format->sign;
    unsigned magnitude = code & used & ~(unsigned)format->sign;
    float value;
    if (magnitude <= format->max_code)
        value = decode_finite(format, magnitude);
    else
        value = magnitude == format->overflow && format->overflow != format->nan ? INFINITY : NAN;
    return code & format->sign ? -value : value;
}

static uint8_t encode_magnitude(const struct format *format, float magnitude)
{
    /* Finds the largest code whose value is <= magnitude. */
    unsigned low = 0, high = format->max_code;
    while (low < high) {
        unsigned middle = (low + high + 1) / 2;
        if (decode_finite(format, middle) <= magnitude)
            low = middle;
        else
            high = middle - 1;
    }
    /* Overflow is treated as one more value after the largest, at the same distance. */
    double below = (double)decode_finite(format, low);
    double above = low < format->max_code ? (double)decode_finite(format, low + 1)
                                          : 2.0 * below - (double)decode_finite(format, low - 1);
    double middle = (below + above) / 2.0;
    bool is_up = (double)magnitude > middle || ((double)magnitude == middle && (low & 1) != 0);
    if (!is_up)
        return (uint8_t)low;
    return low < format->max_code ? (uint8_t)(low + 1) : format->overflow;
}

static uint8_t encode_nf4(float value)
{
    uint8_t code = 0;
    if (isnan(value))
        value = 0.0f;
    while (code < 15 &&
           (double)value >
               ((double)nf4_to_f32(code) + (double)nf4_to_f32((uint8_t)(code + 1))) / 2.0)
        code++;
    return code;
}

float small_float_to_f32(enum irrun_dtype dtype, uint8_t code)
{
    if (dtype == IRRUN_NF4)
        return nf4_to_f32(code);
    return decode(&formats[dtype], code);
}

uint8_t small_float_from_f32(enum irrun_dtype dtype, float value)
{
    if (dtype == IRRUN_NF4)
        return encode_nf4(value);
    const struct format *format = &formats[dtype];
    if (isnan(value))
        return format->nan;
    if (!signbit(value))
        return encode_magnitude(format, value);
    if (format->sign == 0)
        return value < 0.0f ? format->nan : 0;
    return (uint8_t)(format->sign | encode_magnitude(format, -value));
}
