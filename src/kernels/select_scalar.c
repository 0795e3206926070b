/* Select in plain C: the specification of every other variant.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A run whose condition stands still: a copy of one side, or one element n times. */
static void take_side(const struct select_run *run, size_t width)
{
    bool is_then = *run->condition != 0;
    const unsigned char *side = is_then ? run->then_values : run->else_values;
    size_t stride = is_then ? run->then_stride : run->else_stride;
    unsigned char *out = run->out;

    if (stride == 1) {
        if (out != side)
            memcpy(out, side, run->n * width);
        return;
    }
    for (size_t i = 0; i < run->n; i++)
        memmove(out + i * width, side, width);
}

/* The element goes through an integer of its width, by memcpy: no alignment, no value. */
#define DEFINE_SELECT(name, type)                                                                  \
    void name(const struct select_run *run)                                                        \
    {                                                                                              \
        const unsigned char *then_values = run->then_values;                                       \
        const unsigned char *else_values = run->else_values;                                       \
        unsigned char *out = run->out;                                                             \
                                                                                                   \
        if (run->n == 0)                                                                           \
            return;                                                                                \
        if (run->condition_stride == 0) {                                                          \
            take_side(run, sizeof(type));                                                          \
            return;                                                                                \
        }                                                                                          \
        for (size_t i = 0; i < run->n; i++) {                                                      \
            type a, b;                                                                             \
            memcpy(&a, then_values + i * run->then_stride * sizeof a, sizeof a);                   \
            memcpy(&b, else_values + i * run->else_stride * sizeof b, sizeof b);                   \
            a = run->condition[i] != 0 ? a : b;                                                    \
            memcpy(out + i * sizeof a, &a, sizeof a);                                              \
        }                                                                                          \
    }

DEFINE_SELECT(select_x8_scalar, uint8_t)
DEFINE_SELECT(select_x16_scalar, uint16_t)
DEFINE_SELECT(select_x32_scalar, uint32_t)
DEFINE_SELECT(select_x64_scalar, uint64_t)
