/* Implements sharing_gain.h. Sharing costs more time than it saves while other processes use the
 * cores of the threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/sharing_gain.h"

#define WAKE_NS 30000          /* maximum time to wake threads (on a virtual machine) */
#define WORTH_WAKING_NS 100000 /* minimum work between two pauses that is worth waking threads */

/* If sharing costs more than it saves, no jobs are shared for a rest of REST_MIN_NS to REST_MAX_NS.
 * At most SAVED_MAX_NS of the saved time count, so that a lost time slice causes a rest, but a
 * delay of 0.4 ms by a virtual machine does not. */
#define SAVED_MAX_NS 500000
#define REST_MIN_NS 10000000
#define REST_MAX_NS 1000000000

struct sharing_gain sharing_gain_start(void)
{
    return (struct sharing_gain){.work_ns = WORTH_WAKING_NS, .saved_ns = SAVED_MAX_NS};
}

/* Starts a rest, twice as long as the last rest unless the latter ended long ago. */
static void start_rest(struct sharing_gain *gain, uint64_t now_ns)
{
    bool is_first = now_ns - gain->rest_end_ns > 10 * gain->rest_ns;
    gain->rest_ns = is_first ? REST_MIN_NS : 2 * gain->rest_ns;
    if (gain->rest_ns > REST_MAX_NS)
        gain->rest_ns = REST_MAX_NS;
    gain->rest_end_ns = now_ns + gain->rest_ns;
    gain->saved_ns = SAVED_MAX_NS;
}

bool sharing_gain_may_share(struct sharing_gain *gain, uint64_t now_ns, bool are_sleeping)
{
    if (now_ns - gain->end_ns > SHARING_IDLE_NS) {
        gain->before_ns = gain->work_ns;
        gain->work_ns = 0;
    }
    if (gain->saved_ns < 0)
        start_rest(gain, now_ns);
    if (now_ns < gain->rest_end_ns ||
        (are_sleeping && gain->before_ns < WORTH_WAKING_NS && gain->work_ns < WORTH_WAKING_NS))
        return false;
    gain->saved_ns -= are_sleeping ? WAKE_NS : 0;
    return true;
}

void sharing_gain_add(struct sharing_gain *gain, uint64_t start_ns, uint64_t end_ns,
                      uint64_t waited_ns, double all_to_own)
{
    double own_ns = (double)(end_ns - start_ns - waited_ns);
    gain->saved_ns += (int64_t)(own_ns * (all_to_own - 1)) - (int64_t)waited_ns;
    if (gain->saved_ns > SAVED_MAX_NS)
        gain->saved_ns = SAVED_MAX_NS;
    gain->work_ns += (uint64_t)(own_ns * all_to_own);
    gain->end_ns = end_ns;
}
