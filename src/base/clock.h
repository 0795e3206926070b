/* Reads clocks, in nanoseconds.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_CLOCK_H
#define IRRUN_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

#endif
