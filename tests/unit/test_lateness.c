/* cli/lateness: late results are counted, and --pace waits until each record is due.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=signals_pending */
#include "unit.h"

#include <signal.h>

#include "base/clock.h"
#include "cli/lateness.h"

static void late_results_are_counted(void **state)
{
    const uint64_t latencies[] = {10, 11, 14, 10, 9, 12, 12, 13, 1, 20};
    struct lateness lateness = {.deadline_ns = 10}, other = {.deadline_ns = 10};
    struct irrun_error err = {.code = IRRUN_OK};
    (void)state;
    for (size_t i = 0; i < 10; i++)
        lateness_add(&lateness, latencies[i]);
    assert_int_equal(lateness.n, 10);
    assert_int_equal(lateness.n_late, 6);
    assert_int_equal(lateness.longest_streak, 3);
    assert_int_equal(lateness.max_ns, 10);
    assert_int_equal((int)lateness.sum_ns, 1 + 4 + 2 + 2 + 3 + 10);
    /* A run of late results ends with its sequence. */
    for (size_t i = 0; i < 6; i++) {
        if (i == 3)
            lateness_begin_sequence(&lateness);
        lateness_add(&lateness, 11);
    }
    assert_int_equal(lateness.longest_streak, 4);
    for (size_t i = 0; i < 5; i++)
        lateness_add(&other, 40);
    lateness_merge(&lateness, &other);
    assert_int_equal(lateness.n, 21);
    assert_int_equal(lateness.n_late, 17);
    assert_int_equal(lateness.longest_streak, 5);
    assert_int_equal(lateness.max_ns, 30);
    assert_false(lateness_check(&lateness, &err));
    assert_int_equal(err.code, IRRUN_MISMATCH);
    assert_string_equal(err.message,
                        "--deadline: 17 of 21 results came later than 10 ns, by at most 30 ns");
}

static void without_a_deadline_nothing_is_late(void **state)
{
    struct lateness lateness = {.n = 0};
    struct irrun_error err = {.code = IRRUN_OK};
    (void)state;
    lateness_add(&lateness, UINT64_MAX);
    assert_int_equal(lateness.n, 0);
    assert_true(lateness_check(&lateness, &err));
}

/* Simulates a signal to another thread after some calls. */
static size_t n_checks_before_signal = SIZE_MAX;

int __wrap_signals_pending(void);
int __wrap_signals_pending(void)
{
    if (n_checks_before_signal == 0)
        return SIGTERM;
    n_checks_before_signal--;
    return 0;
}

static size_t n_calls;

static bool count_call(void *context, struct irrun_error *err)
{
    (void)context;
    (void)err;
    n_calls++;
    return true;
}

static bool refuse(void *context, struct irrun_error *err)
{
    (void)context;
    return fail(err, IRRUN_IO, "full");
}

static void records_are_available_period_by_period(void **state)
{
    const struct reader_wait before = {count_call, NULL}, full = {refuse, NULL};
    struct pace pace = {.period_ns = 2e6};
    struct irrun_error err = {.code = IRRUN_OK};
    uint64_t start_ns = clock_now_ns();
    (void)state;
    uint64_t first = pace_wait(&pace, 0, UINT64_MAX, &before, &err);
    assert_true(first >= start_ns + 2000000);
    assert_true(clock_now_ns() >= first);
    assert_int_equal(n_calls, 1);
    assert_int_equal(pace_wait(&pace, 4, UINT64_MAX, &before, &err), first + 4 * 2000000);
    assert_true(clock_now_ns() >= first + 4 * 2000000);
    /* There is no wait for a record that is due already. Its time is when it was due. */
    n_calls = 0;
    assert_int_equal(pace_wait(&pace, 2, UINT64_MAX, &before, &err), first + 2 * 2000000);
    assert_int_equal(n_calls, 0);
    /* A wait ends at end_ns. The time of a record that is not due yet is the current one. */
    uint64_t end_ns = clock_now_ns() + 3000000;
    pace = (struct pace){.period_ns = 1e30};
    uint64_t available_ns = pace_wait(&pace, 0, end_ns, &before, &err);
    assert_true(available_ns >= end_ns && available_ns <= clock_now_ns());
    pace = (struct pace){.period_ns = 1e15};
    assert_int_equal(pace_wait(&pace, 0, UINT64_MAX, &full, &err), 0);
    assert_string_equal(err.message, "full");
}

static void a_resumed_sequence_begins_where_it_stopped(void **state)
{
    const struct reader_wait before = {count_call, NULL};
    struct pace pace = {.period_ns = 1e6};
    struct irrun_error err = {.code = IRRUN_OK};
    uint64_t start_ns = clock_now_ns();
    (void)state;
    uint64_t due_ns = pace_wait(&pace, 1000000000, UINT64_MAX, &before, &err);
    assert_true(due_ns >= start_ns + 999000 && due_ns <= clock_now_ns());
}

static void a_signal_just_before_the_wait_ends_it(void **state)
{
    const struct reader_wait before = {count_call, NULL};
    struct pace pace = {.period_ns = 1e10};
    struct irrun_error err = {.code = IRRUN_OK};
    uint64_t start_ns = clock_now_ns();
    (void)state;
    n_checks_before_signal = 1;
    pace_wait(&pace, 0, UINT64_MAX, &before, &err);
    n_checks_before_signal = SIZE_MAX;
    assert_true(clock_now_ns() - start_ns < 9000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_results_are_counted),
        cmocka_unit_test(without_a_deadline_nothing_is_late),
        cmocka_unit_test(records_are_available_period_by_period),
        cmocka_unit_test(a_resumed_sequence_begins_where_it_stopped),
        cmocka_unit_test(a_signal_just_before_the_wait_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
