/* kernels/sharing_gain: jobs are not shared for a while after sharing has cost time, and sleeping
 * threads are woken only for enough work.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "kernels/sharing_gain.h"

enum { US = 1000, MS = 1000000 };

/* Returns how long after `now` jobs are shared again. */
static uint64_t rest_after(struct sharing_gain *gain, uint64_t now)
{
    uint64_t start = now;
    while (!sharing_gain_may_share(gain, now, false))
        now += MS;
    return now - start;
}

static void rests_after_a_loss(void **state)
{
    (void)state;
    struct sharing_gain gain = sharing_gain_start();
    uint64_t now = 10000 * (uint64_t)MS, before = 5 * MS;
    for (int i = 0; i < 12; i++) {
        sharing_gain_add(&gain, now, now + 4 * MS, 3 * MS, 2);
        now += 4 * MS;
        uint64_t rest = rest_after(&gain, now);
        assert_int_equal(rest, before < 500 * MS ? 2 * before : 1000 * MS);
        now += rest;
        before = rest;
    }
    /* After a long time without a loss, the first rest is short again. */
    now += 20000 * (uint64_t)MS;
    sharing_gain_add(&gain, now, now + 4 * MS, 3 * MS, 2);
    assert_int_equal(rest_after(&gain, now + 4 * MS), 10 * MS);
}

static void shares_while_it_pays(void **state)
{
    (void)state;
    struct sharing_gain gain = sharing_gain_start();
    for (uint64_t now = 0; now < 100 * MS; now += MS) {
        assert_true(sharing_gain_may_share(&gain, now, false));
        sharing_gain_add(&gain, now, now + MS, 400 * US, 2);
    }
    for (int i = 0; i < 6; i++)
        sharing_gain_add(&gain, 100 * MS, 100 * MS + 200 * US, 150 * US, 2);
    assert_false(sharing_gain_may_share(&gain, 100 * MS + 200 * US, false));
    /* Waking threads that then run nothing costs time. */
    gain = sharing_gain_start();
    unsigned n_woken = 0;
    for (; sharing_gain_may_share(&gain, 200 * MS, true); n_woken++)
        sharing_gain_add(&gain, 200 * MS, 200 * MS + 200 * US, 0, 1);
    assert_in_range(n_woken, 10, 30);
}

static void wakes_threads_for_enough_work(void **state)
{
    (void)state;
    struct sharing_gain gain = sharing_gain_start();
    assert_true(sharing_gain_may_share(&gain, MS, true));
    sharing_gain_add(&gain, MS, MS + 50 * US, 0, 1);
    assert_false(sharing_gain_may_share(&gain, 2 * MS, true));
    assert_true(sharing_gain_may_share(&gain, 2 * MS, false));
    sharing_gain_add(&gain, 2 * MS, 2 * MS + 200 * US, 0, 1);
    assert_true(sharing_gain_may_share(&gain, 3 * MS, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rests_after_a_loss),
        cmocka_unit_test(shares_while_it_pays),
        cmocka_unit_test(wakes_threads_for_enough_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
