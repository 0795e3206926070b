/* --pace: waits so that records become available at the rate of --rate.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "cli/worker_internal.h"

bool worker_wait_for_record(struct worker *worker, uint64_t index, struct irrun_error *err)
{
    struct pace *pace = &worker->pace;
    if (!worker->options->is_paced)
        return true;
    if (pace->start_ns == 0) {
        pace->period_ns = (double)inputs_n_frames(worker->inputs) / worker->options->rate_hz * 1e9;
        if (worker->options->deadline_s <= 0)
            worker->stats.lateness.deadline_ns = (uint64_t)ceil(fmin(pace->period_ns, 0x1p62));
    }
    worker->available_ns = pace_wait(pace, index, worker->end_ns, &worker->wait, err);
    return worker->available_ns > 0;
}
