/* How fast a variant is, and a copy beside it: the limit of what only moves bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check_kernels.h"
#include "kernels/cpu.h"

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

/* Enough calls for 100 us at a time, so that the clock does not count, and 0.2 s of those in
 * all. */
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
    select_fn *select;
};

static void copy_plain(const void *context)
{
    const struct copy *copy = context;
    memcpy(copy->to, copy->from, copy->n_bytes);
}

/* Select with a condition that stands still copies as a kernel can. */
static void copy_streamed(const void *context)
{
    static const unsigned char is_then = 1;
    const struct copy *copy = context;
    copy->select(&(struct select_run){.n = copy->n_bytes,
                                      .n_rows = 1,
                                      .condition = &is_then,
                                      .then_values = copy->from,
                                      .else_values = copy->from,
                                      .out = copy->to,
                                      .then_stride = 1,
                                      .else_stride = 1,
                                      .is_streamed = true});
}

static double measure_copy(size_t traffic_bytes)
{
    struct kernels kernels;
    kernels_fill(&kernels, simd_best());
    struct copy copy = {.n_bytes = traffic_bytes / 2 / 64 * 64, .select = kernels.select_x8};
    copy.from = aligned_alloc(64, copy.n_bytes);
    copy.to = aligned_alloc(64, copy.n_bytes);
    if (!copy.from || !copy.to || copy.n_bytes == 0)
        abort();
    memset(copy.from, 1, copy.n_bytes);
    memset(copy.to, 1, copy.n_bytes);
    double plain = measure_s(copy_plain, &copy), streamed = measure_s(copy_streamed, &copy);
    free(copy.from);
    free(copy.to);
    return 2 * (double)copy.n_bytes * 1e-9 / (plain < streamed ? plain : streamed);
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
