/* Collects the latencies of iterations in a histogram of fixed size and, if keeps_samples, in a
 * list.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_LATENCY_H
#define IRRUN_CLI_LATENCY_H

#include <stdint.h>

#include "base/error.h"

/* Durations are counted in nanoseconds: exactly below 2048, and above that in 1024 steps for each
 * power of two. A percentile is the middle of a step, so its error is at most 0.05 %. */
#define LATENCY_STEPS 1024
#define LATENCY_BUCKETS (LATENCY_STEPS * (64 - 9))

/* Zeros except for `counts`: no measurements. */
struct latency {
    uint64_t *counts; /* [LATENCY_BUCKETS] */
    bool keeps_samples;
    uint64_t *samples_ns; /* [n_samples], fewer than n if memory is short */
    size_t n_samples, samples_capacity;
    uint64_t n, min_ns, max_ns;
    double mean_ns, squared_deviations; /* running mean; sum of squares in ns^2 (Welford) */
};

bool latency_new(struct latency *latency, bool keeps_samples, struct irrun_error *err);
void latency_free(struct latency *latency);
void latency_add(struct latency *latency, uint64_t duration_ns);
/* Adds the durations of `other`. */
void latency_merge(struct latency *latency, const struct latency *other);

/* Returns the percentile share * 100 of the durations, by the nearest-rank method. Needs n > 0 and
 * a share in [0, 1]. */
double latency_percentile_s(const struct latency *latency, double share);
double latency_mean_s(const struct latency *latency);
double latency_sd_s(const struct latency *latency); /* standard deviation of the n samples */

#endif
