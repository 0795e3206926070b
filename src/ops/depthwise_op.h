/* Prepares depthwise convolutions and poolings for kernels/depthwise.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_DEPTHWISE_OP_H
#define IRRUN_OPS_DEPTHWISE_OP_H

#include "kernels/depthwise.h"
#include "ops/op.h"

/* Called by prepare after it has set the first members of the plan (see depthwise_plan). Fills the
 * other members and requests scratch memory. Sets *is_possible to whether the depthwise kernels can
 * run the op. */
static inline bool depthwise_prepare(struct prepare *prepare, struct depthwise *plan,
                                     bool *is_possible)
{
    if (!depthwise_plan(plan, prepare->arena, is_possible, prepare->err))
        return false;
    if (*is_possible &&
        !depthwise_memory(plan, thread_pool_n_threads(prepare->pool), &prepare->made.scratch_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    return true;
}

#endif
