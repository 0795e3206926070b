/* Waits for another thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_SPIN_WAIT_H
#define IRRUN_KERNELS_SPIN_WAIT_H

#include <sched.h>

#include "base/clock.h"

struct spin_wait {
    unsigned n_turns;
    uint64_t start_ns, waited_ns; /* updated at every 32nd turn */
};

static inline void spin_wait_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Spins once. Returns for how long it has waited. */
static inline uint64_t spin_wait_turn(struct spin_wait *wait)
{
    spin_wait_relax();
    if (++wait->n_turns % 32 == 0) {
        uint64_t now = clock_now_ns();
        if (wait->start_ns == 0)
            wait->start_ns = now;
        wait->waited_ns = now - wait->start_ns;
    }
    return wait->waited_ns;
}

/* Returns for how long a wait that is over has lasted, or 0 if it was short. */
static inline uint64_t spin_wait_end(const struct spin_wait *wait)
{
    return wait->start_ns > 0 ? clock_now_ns() - wait->start_ns : 0;
}

#endif
