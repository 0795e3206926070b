/* Times a variant and a copy, which is the limit of kernels that only move bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check_kernels.h"

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double time_calls(void (*work)(const void *context), const void *context, size_t n)
{
    double start = now_s();
    for (size_t i = 0; i < n; i++)
        work(context);
    return (now_s() - start) / (double)n;
}

/* Times batches of calls for 0.2 s. A batch takes at least 100 us, so that reading the clock does
 * not matter. */
double measure_s(void (*work)(const void *context), const void *context)
{
    size_t n = 1;
    double best = time_calls(work, context, n);
    while (best * (double)n < 100e-6 && n < 1U << 20) {
        n *= 2;
        best = time_calls(work, context, n);
    }
    for (double end = now_s() + 0.2; now_s() < end;) {
        double seconds = time_calls(work, context, n);
        best = seconds < best ? seconds : best;
    }
    return best;
}

/* ---- the copy ---- */

struct copy {
    unsigned char *from, *to;
    size_t n_bytes;
};

static void run_copy(const void *context)
{
    const struct copy *copy = context;
    memcpy(copy->to, copy->from, copy->n_bytes);
}

static double measure_copy(size_t traffic_bytes)
{
    struct copy copy = {.n_bytes = traffic_bytes / 2 / 64 * 64};
    copy.from = aligned_alloc(64, copy.n_bytes);
    copy.to = aligned_alloc(64, copy.n_bytes);
    if (!copy.from || !copy.to || copy.n_bytes == 0)
        abort();
    memset(copy.from, 1, copy.n_bytes);
    memset(copy.to, 1, copy.n_bytes);
    double seconds = measure_s(run_copy, &copy);
    free(copy.from);
    free(copy.to);
    return 2 * (double)copy.n_bytes * 1e-9 / seconds;
}

double copy_limit(size_t traffic_bytes)
{
    static struct {
        size_t traffic_bytes;
        double rate;
    } known[64];
    size_t i = 0;
    for (; i < 63 && known[i].traffic_bytes != 0; i++)
        if (known[i].traffic_bytes == traffic_bytes)
            return known[i].rate;
    known[i].traffic_bytes = traffic_bytes;
    known[i].rate = measure_copy(traffic_bytes);
    return known[i].rate;
}

void measure_line(const char *what, double seconds, size_t traffic_bytes)
{
    double rate = (double)traffic_bytes * 1e-9 / seconds;
    printf("#   %-28s %10.3f us %8.1f GB/s %5.0f %% of a copy\n", what, seconds * 1e6, rate,
           100 * rate / copy_limit(traffic_bytes));
    fflush(stdout);
}
