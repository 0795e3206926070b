/* Adds, multiplies and rounds sizes that come from files. The functions checked_* return false on
 * overflow.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_CHECKED_H
#define IRRUN_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool checked_add(size_t a, size_t b, size_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

static inline bool checked_mul(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* Returns a / b, rounded up; b > 0. */
static inline size_t divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

/* Returns a / b, rounded up; a >= 0 and b > 0. */
static inline int64_t divide_up_i64(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* Rounds up to whole cache lines of 64 bytes; size_bytes is at most PTRDIFF_MAX. */
static inline size_t align_to_line(size_t size_bytes)
{
    return (size_bytes + 63) / 64 * 64;
}

/* Sets *rounded to size_bytes rounded up to a multiple of `unit`. */
static inline bool checked_round_up(size_t size_bytes, size_t unit, size_t *rounded)
{
    if (!checked_add(size_bytes, unit - 1, rounded))
        return false;
    *rounded -= *rounded % unit;
    return true;
}

static inline bool checked_add_i64(int64_t a, int64_t b, int64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

static inline bool checked_mul_i64(int64_t a, int64_t b, int64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

#endif
