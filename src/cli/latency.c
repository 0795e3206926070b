/* Adds latencies to a histogram, and computes percentiles, the mean and the standard deviation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/latency.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

bool latency_new(struct latency *latency, bool keeps_samples, struct irrun_error *err)
{
    *latency = (struct latency){.counts = new_array(LATENCY_BUCKETS, sizeof *latency->counts, err),
                                .keeps_samples = keeps_samples};
    return latency->counts != NULL;
}

void latency_free(struct latency *latency)
{
    free(latency->counts);
    free(latency->samples_ns);
    *latency = (struct latency){.counts = NULL};
}

/* Returns the bucket of a duration. Ignores the last k - 10 bits of a duration in [2^k, 2^(k+1)), k
 * >= 10. */
static size_t bucket_of(uint64_t duration_ns)
{
    if (duration_ns < 2 * LATENCY_STEPS)
        return (size_t)duration_ns;
    unsigned shift = 63 - (unsigned)__builtin_clzll(duration_ns) - 10;
    return (size_t)(shift * LATENCY_STEPS + (duration_ns >> shift));
}

/* Returns the middle of a bucket. */
static double bucket_middle(size_t bucket)
{
    if (bucket < 2 * LATENCY_STEPS)
        return (double)bucket;
    int shift = (int)(bucket / LATENCY_STEPS) - 1;
    double first = (double)(bucket - (size_t)shift * LATENCY_STEPS);
    return ldexp(first, shift) + (ldexp(1, shift) - 1) / 2;
}

static void keep_sample(struct latency *latency, uint64_t duration_ns)
{
    struct irrun_error ignored = {.code = IRRUN_OK};
    if (GROW_ARRAY(latency->samples_ns, latency->n_samples, latency->samples_capacity, &ignored))
        latency->samples_ns[latency->n_samples++] = duration_ns;
}

void latency_add(struct latency *latency, uint64_t duration_ns)
{
    if (latency->keeps_samples)
        keep_sample(latency, duration_ns);
    double duration = (double)duration_ns;
    latency->counts[bucket_of(duration_ns)]++;
    if (latency->n++ == 0 || duration_ns < latency->min_ns)
        latency->min_ns = duration_ns;
    if (duration_ns > latency->max_ns)
        latency->max_ns = duration_ns;
    double deviation = duration - latency->mean_ns;
    latency->mean_ns += deviation / (double)latency->n;
    latency->squared_deviations += deviation * (duration - latency->mean_ns);
}

void latency_merge(struct latency *latency, const struct latency *other)
{
    if (other->n == 0)
        return;
    double n = (double)latency->n, m = (double)other->n;
    double difference = other->mean_ns - latency->mean_ns;
    for (size_t i = 0; i < LATENCY_BUCKETS; i++)
        latency->counts[i] += other->counts[i];
    for (size_t i = 0; i < other->n_samples; i++)
        keep_sample(latency, other->samples_ns[i]);
    if (latency->n == 0 || other->min_ns < latency->min_ns)
        latency->min_ns = other->min_ns;
    if (other->max_ns > latency->max_ns)
        latency->max_ns = other->max_ns;
    latency->mean_ns += difference * m / (n + m);
    latency->squared_deviations +=
        other->squared_deviations + difference * difference * n * m / (n + m);
    latency->n += other->n;
}

double latency_percentile_s(const struct latency *latency, double share)
{
    uint64_t rank = (uint64_t)fmax(ceil(share * (double)latency->n), 1);
    uint64_t n_seen = latency->counts[0];
    size_t bucket = 0;
    while (n_seen < rank && bucket + 1 < LATENCY_BUCKETS)
        n_seen += latency->counts[++bucket];
    double middle = bucket_middle(bucket);
    return fmin(fmax(middle, (double)latency->min_ns), (double)latency->max_ns) * 1e-9;
}

double latency_mean_s(const struct latency *latency)
{
    return latency->mean_ns * 1e-9;
}

double latency_sd_s(const struct latency *latency)
{
    return latency->n > 0 ? sqrt(latency->squared_deviations / (double)latency->n) * 1e-9 : 0;
}
