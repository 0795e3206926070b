/* cli/sampler: the indices that :sample(T,K,P) draws for given random numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>

#include "cli/sampler.h"

/* Returns the index drawn from n logits; -1: an error. */
static int64_t draw(const double *logits, size_t n, struct sampling sampling, double unit)
{
    struct sampler sampler = {.row = NULL};
    struct irrun_error err;
    struct irrun_tensor row = {
        .dtype = IRRUN_F64, .shape = {1, {(int64_t)n}}, .data = (void *)(uintptr_t)logits};
    int64_t index = -1;
    error_clear(&err);
    if (!sampler_draw(&sampler, &sampling, &row, 0, n, unit, &index, &err))
        index = -1;
    sampler_free(&sampler);
    return index;
}

#define JUST_BELOW(x) ((x)-1e-12)
#define JUST_ABOVE(x) ((x) + 1e-12)

static void probabilities_are_those_of_the_logits(void **state)
{
    (void)state;
    /* Weights 1 2 4 1. */
    const double logits[] = {3, 3 + log(2), 3 + log(4), 3};
    const struct sampling all = {.temperature = 1, .top_p = 1};
    assert_int_equal(draw(logits, 4, all, 0), 0);
    assert_int_equal(draw(logits, 4, all, JUST_BELOW(0.125)), 0);
    assert_int_equal(draw(logits, 4, all, JUST_ABOVE(0.125)), 1);
    assert_int_equal(draw(logits, 4, all, JUST_BELOW(0.375)), 1);
    assert_int_equal(draw(logits, 4, all, JUST_ABOVE(0.375)), 2);
    assert_int_equal(draw(logits, 4, all, JUST_BELOW(0.875)), 2);
    assert_int_equal(draw(logits, 4, all, JUST_ABOVE(0.875)), 3);
    assert_int_equal(draw(logits, 4, all, 0x1.fffffffffffffp-1), 3);
    /* With half the temperature, weights 1 4 16 1; with twice the temperature, 1 sqrt(2) 2 1. */
    const struct sampling cold = {.temperature = 0.5, .top_p = 1};
    assert_int_equal(draw(logits, 4, cold, JUST_BELOW(5.0 / 22)), 1);
    assert_int_equal(draw(logits, 4, cold, JUST_ABOVE(5.0 / 22)), 2);
    const struct sampling warm = {.temperature = 2, .top_p = 1};
    assert_int_equal(draw(logits, 4, warm, JUST_BELOW(1 / (4 + sqrt(2)))), 0);
    assert_int_equal(draw(logits, 4, warm, JUST_ABOVE(1 / (4 + sqrt(2)))), 1);
}

static void exponentials_are_exact(void **state)
{
    (void)state;
    /* The border between the weights e^-x and 1 is e^-x / (1 + e^-x). */
    const struct sampling all = {.temperature = 1, .top_p = 1};
    for (double x = 0.01; x < 30; x *= 1.37) {
        const double logits[] = {-x, 0};
        double border = exp(-x) / (1 + exp(-x));
        assert_int_equal(draw(logits, 2, all, border * (1 - 1e-14)), 0);
        assert_int_equal(draw(logits, 2, all, border * (1 + 1e-14)), 1);
    }
    const double far[] = {-1e300, 0, -746};
    assert_int_equal(draw(far, 3, all, 0), 1);
    assert_int_equal(draw(far, 3, all, 0x1.fffffffffffffp-1), 1);
}

static void top_k_keeps_the_largest(void **state)
{
    (void)state;
    const double logits[] = {3, 3 + log(2), 3 + log(4), 3};
    const struct sampling one = {1, 1, 1}, two = {1, 2, 1}, three = {1, 3, 1}, many = {1, 9, 1};
    assert_int_equal(draw(logits, 4, one, 0.999), 2);
    assert_int_equal(draw(logits, 4, two, JUST_BELOW(4.0 / 6)), 2);
    assert_int_equal(draw(logits, 4, two, JUST_ABOVE(4.0 / 6)), 1);
    assert_int_equal(draw(logits, 4, two, 0.999), 1);
    /* Of the two smallest, the first is kept. */
    assert_int_equal(draw(logits, 4, three, JUST_BELOW(6.0 / 7)), 1);
    assert_int_equal(draw(logits, 4, three, 0.999), 0);
    assert_int_equal(draw(logits, 4, many, 0.999), 3);
}

static void top_p_keeps_the_fewest(void **state)
{
    (void)state;
    const double logits[] = {3, 3 + log(2), 3 + log(4), 3};
    const struct sampling half = {1, 0, 0.49}, more = {1, 0, 0.51}, both = {1, 2, 0.7};
    assert_int_equal(draw(logits, 4, half, 0.999), 2);
    assert_int_equal(draw(logits, 4, more, JUST_BELOW(4.0 / 6)), 2);
    assert_int_equal(draw(logits, 4, more, 0.999), 1);
    /* Of the two that top-k keeps, the first has 4/6. */
    assert_int_equal(draw(logits, 4, both, 0.999), 1);
    assert_int_equal(draw(logits, 4, (struct sampling){1, 2, 0.66}, 0.999), 2);
}

static void large_rows_are_sorted(void **state)
{
    (void)state;
    /* Logits 0 1 2 ... 96 in another order, since 97 is prime. */
    double logits[97];
    for (size_t i = 0; i < 97; i++)
        logits[i * 53 % 97] = (double)i / 8;
    for (uint64_t k = 1; k < 97; k++)
        assert_int_equal(draw(logits, 97, (struct sampling){1, k, 1}, 0x1.fffffffffffffp-1),
                         (97 - k) * 53 % 97);
}

static void nan_and_infinity(void **state)
{
    (void)state;
    const struct sampling all = {1, 0, 1}, two = {1, 2, 1};
    const double with_nan[] = {NAN, 1, -INFINITY, 1}, none[] = {NAN, -INFINITY};
    const double infinite[] = {1, INFINITY, NAN, INFINITY};
    assert_int_equal(draw(with_nan, 4, all, 0), 1);
    assert_int_equal(draw(with_nan, 4, all, 0.4), 1);
    assert_int_equal(draw(with_nan, 4, all, 0.999), 3);
    assert_int_equal(draw(with_nan, 4, two, 0.999), 3);
    assert_int_equal(draw(infinite, 4, all, 0), 1);
    assert_int_equal(draw(infinite, 4, all, 0.999), 3);
    assert_int_equal(draw(none, 2, all, 0.5), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_are_those_of_the_logits),
        cmocka_unit_test(exponentials_are_exact),
        cmocka_unit_test(top_k_keeps_the_largest),
        cmocka_unit_test(top_p_keeps_the_fewest),
        cmocka_unit_test(large_rows_are_sorted),
        cmocka_unit_test(nan_and_infinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
