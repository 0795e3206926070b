/* cli/latency: percentiles of a histogram against percentiles of the sorted numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "cli/latency.h"

static struct latency measured(const uint64_t *durations, size_t n)
{
    struct latency latency;
    struct irrun_error err = {.code = IRRUN_OK};
    assert_true(latency_new(&latency, false, &err));
    for (size_t i = 0; i < n; i++)
        latency_add(&latency, durations[i]);
    return latency;
}

static int compare_durations(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void is_exact_below_two_microseconds(void **state)
{
    (void)state;
    const uint64_t durations[] = {5, 3, 2047, 1000, 1};
    struct latency latency = measured(durations, 5);
    assert_int_equal(latency.min_ns, 1);
    assert_int_equal(latency.max_ns, 2047);
    assert_true(fabs(latency_percentile_s(&latency, 0.2) * 1e9 - 1) < 1e-6);
    assert_true(fabs(latency_percentile_s(&latency, 0.5) * 1e9 - 5) < 1e-6);
    assert_true(fabs(latency_percentile_s(&latency, 0.8) * 1e9 - 1000) < 1e-6);
    assert_true(fabs(latency_percentile_s(&latency, 1) * 1e9 - 2047) < 1e-6);
    latency_free(&latency);
}

static void is_off_by_less_than_a_thousandth_above(void **state)
{
    (void)state;
    enum { N = 5000 };
    uint64_t durations[N];
    uint64_t bits = 88172645463325252U;
    for (size_t i = 0; i < N; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        durations[i] = (bits >> 24) >> (i % 40);
    }
    struct latency latency = measured(durations, N);
    qsort(durations, N, sizeof *durations, compare_durations);
    const double shares[] = {0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        double want = (double)durations[(size_t)ceil(shares[i] * N) - 1];
        double got = latency_percentile_s(&latency, shares[i]) * 1e9;
        assert_true(fabs(got - want) <= want / 1024 + 1e-3);
    }
    latency_free(&latency);
}

static void holds_the_longest_duration_there_is(void **state)
{
    (void)state;
    const uint64_t durations[] = {UINT64_MAX, 2048, 2049};
    struct latency latency = measured(durations, 3);
    assert_true(fabs(latency_percentile_s(&latency, 0.1) * 1e9 - 2048.5) < 1);
    assert_true(latency_percentile_s(&latency, 1) > 1.8e10);
    latency_free(&latency);
}

static void knows_mean_and_spread(void **state)
{
    (void)state;
    const uint64_t durations[] = {2000000004, 2000000007, 2000000013, 2000000016};
    struct latency latency = measured(durations, 4);
    assert_true(fabs(latency_mean_s(&latency) * 1e9 - 2000000010) < 1e-3);
    assert_true(fabs(latency_sd_s(&latency) * 1e9 - sqrt(22.5)) < 1e-6);
    latency_free(&latency);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_exact_below_two_microseconds),
        cmocka_unit_test(is_off_by_less_than_a_thousandth_above),
        cmocka_unit_test(holds_the_longest_duration_there_is),
        cmocka_unit_test(knows_mean_and_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
