/* kernels/pool against its definition, for random windows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <float.h>
#include <math.h>

#include "kernels/pool.h"
#include "window_data.h"

static void pools_follow_the_definition(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct window w = next_window();
        int64_t n_out = window_product(w.out), n_kernel = window_product(w.kernel);
        float *in = new_numbers(window_product(w.in)), *out = new_numbers(n_out);
        float *means = new_numbers(n_out);
        int64_t *places = malloc((size_t)n_out * sizeof *places);
        max_pool_scalar(IRRUN_F32)(&w, in, out, places);
        avg_pool_scalar(IRRUN_F32)(&w, true, in, means);
        for (int64_t o = 0; o < n_out; o++) {
            double highest = -FLT_MAX, sum = 0;
            int64_t place = 0, n = 0;
            for (int64_t k = 0; k < n_kernel; k++) {
                int64_t at = input_index(&w, o, k);
                if (at < 0)
                    continue;
                sum += (double)in[at];
                if (n++ == 0 || (double)in[at] > highest) {
                    highest = (double)in[at];
                    place = at;
                }
            }
            assert_true((double)out[o] == highest);
            assert_int_equal(places[o], place);
            assert_true(fabs((double)means[o] - (n ? sum / (double)n : 0)) < 1e-6);
        }
        free(in);
        free(out);
        free(means);
        free(places);
    }
}

static void pads_count_in_means_unless_excluded(void **state)
{
    (void)state;
    struct window w = {.in = {1, 1, 2},
                       .out = {1, 1, 3},
                       .kernel = {1, 1, 2},
                       .stride = {1, 1, 1},
                       .dilation = {1, 1, 1},
                       .pad_begin = {0, 0, 1},
                       .pad_end = {0, 0, 1}};
    double in[] = {4, 8}, out[3];
    avg_pool_scalar(IRRUN_F64)(&w, false, in, out);
    assert_true(out[0] == 2 && out[1] == 6 && out[2] == 4);
    avg_pool_scalar(IRRUN_F64)(&w, true, in, out);
    assert_true(out[0] == 4 && out[1] == 6 && out[2] == 8);
}

static void max_pool_keeps_minus_infinity(void **state)
{
    (void)state;
    struct window w = {.in = {1, 1, 2},
                       .out = {1, 1, 1},
                       .kernel = {1, 1, 2},
                       .stride = {1, 1, 1},
                       .dilation = {1, 1, 1}};
    float in[] = {-INFINITY, -INFINITY}, out;
    int64_t place;
    max_pool_scalar(IRRUN_F32)(&w, in, &out, &place);
    assert_true(out == -INFINITY && place == 0);
    in[0] = NAN;
    max_pool_scalar(IRRUN_F32)(&w, in, &out, &place);
    assert_true(out == -INFINITY && place == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_follow_the_definition),
        cmocka_unit_test(pads_count_in_means_unless_excluded),
        cmocka_unit_test(max_pool_keeps_minus_infinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
