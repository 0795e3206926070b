/* Decides whether a conversion between element types keeps every value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cast.h"

/* The values that a type can represent. */
struct value_set {
    bool is_float, is_signed;
    int n_bits; /* integer bits without the sign, or significand bits with the hidden bit */
    int max_exponent, min_exponent; /* exponents of the largest and the smallest positive float */
};

static bool describe_values(enum irrun_dtype dtype, struct value_set *set)
{
    switch (dtype) {
    case IRRUN_BOOLEAN:
    case IRRUN_U1:
        *set = (struct value_set){false, false, 1, 0, 0};
        return true;
    case IRRUN_F16:
        *set = (struct value_set){true, true, 11, 15, -24};
        return true;
    case IRRUN_BF16:
        *set = (struct value_set){true, true, 8, 127, -133};
        return true;
    case IRRUN_F32:
        *set = (struct value_set){true, true, 24, 127, -149};
        return true;
    case IRRUN_F64:
        *set = (struct value_set){true, true, 53, 1023, -1074};
        return true;
    default:
        if (!dtype_is_integer(dtype))
            return false;
        bool is_signed = dtype_is_signed(dtype);
        *set =
            (struct value_set){false, is_signed, (int)dtype_stored_bits(dtype) - is_signed, 0, 0};
        return true;
    }
}

bool cast_is_safe(enum irrun_dtype from, enum irrun_dtype to)
{
    struct value_set a, b;
    if (from == to)
        return true;
    if (to == IRRUN_BOOLEAN || !describe_values(from, &a) || !describe_values(to, &b))
        return from == IRRUN_U1 && to == IRRUN_BOOLEAN;
    if (a.is_float)
        return b.is_float && a.n_bits <= b.n_bits && a.max_exponent <= b.max_exponent &&
               a.min_exponent >= b.min_exponent;
    if (b.is_float)
        return a.n_bits <= b.n_bits; /* the minimum, such as -128, fits: it is a power of two */
    return a.n_bits <= b.n_bits && (b.is_signed || !a.is_signed);
}
