/* kernels/indexed_copy, cum_sum, elementwise_scalar, embedding, resample and grid_sample: sizes,
 * limits, empty inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "kernels/cum_sum.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/grid_sample.h"
#include "kernels/indexed_copy.h"
#include "kernels/resample.h"

static void scatter_reverses_gather_for_every_block_size(void **state)
{
    (void)state;
    unsigned char from[12 * 12], picked[3 * 12], back[12 * 12];
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)i;
    for (size_t size = 0; size <= 12; size++) {
        const int64_t offsets[] = {(int64_t)(7 * size), 0, (int64_t)(11 * size)};
        memset(back, 255, sizeof back);
        indexed_gather(from, offsets, 3, size, picked);
        indexed_scatter(picked, 3, size, back, offsets);
        for (size_t i = 0; i < 12 * size; i++) {
            bool is_picked = i < size || (i >= 7 * size && i < 8 * size) || i >= 11 * size;
            assert_int_equal(back[i], is_picked ? from[i] : 255);
        }
    }
}

static void cum_sum_runs_both_ways_and_wraps(void **state)
{
    (void)state;
    const int8_t in[] = {100, 100, 100};
    int8_t out[3];
    cum_sum_scalar(IRRUN_I8)(in, out, 3, 1, false, false);
    assert_true(out[0] == 100 && out[1] == -56 && out[2] == 44);
    cum_sum_scalar(IRRUN_I8)(in, out, 3, 1, true, true);
    assert_true(out[0] == -56 && out[1] == 100 && out[2] == 0);
}

static void columns_are_summed_like_one_column(void **state)
{
    (void)state;
    enum { ROWS = 5, COLUMNS = 70 };
    float in[ROWS * COLUMNS], out[ROWS * COLUMNS];
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        in[i] = (float)(i % 13) - 6;
    cum_sum_scalar(IRRUN_F32)(in, out, ROWS, COLUMNS, true, false);
    for (size_t column = 0; column < COLUMNS; column++) {
        float sum = 0;
        for (size_t row = 0; row < ROWS; row++) {
            assert_true(out[row * COLUMNS + column] == sum);
            sum += in[row * COLUMNS + column];
        }
    }
}

static void shifts_out_of_range_move_all_bits_out(void **state)
{
    (void)state;
    const int64_t a[] = {5, -5, -5, INT64_MIN, 1}, by[] = {64, 64, -1, 63, 63};
    int64_t left[5], right[5];
    binary_scalar(BINARY_SHIFT_LEFT, IRRUN_I64)(a, by, left, 5);
    binary_scalar(BINARY_SHIFT_RIGHT, IRRUN_I64)(a, by, right, 5);
    assert_true(left[0] == 0 && left[1] == 0 && left[2] == 0 && left[4] == INT64_MIN);
    assert_true(right[0] == 0 && right[1] == -1 && right[2] == -1 && right[3] == -1);
}

static void bitwise_ops_on_booleans_are_logical(void **state)
{
    (void)state;
    const uint8_t a[] = {2, 2, 0}, b[] = {1, 2, 4};
    uint8_t out[3];
    binary_scalar(BINARY_BIT_AND, IRRUN_BOOLEAN)(a, b, out, 3);
    assert_true(out[0] == 1 && out[1] == 1 && out[2] == 0);
    binary_scalar(BINARY_BIT_XOR, IRRUN_BOOLEAN)(a, b, out, 3);
    assert_true(out[0] == 0 && out[1] == 0 && out[2] == 1);
}

static void embedding_rows_are_weighted_added_and_divided(void **state)
{
    (void)state;
    int16_t sum[] = {10, -10}, row[] = {300, -7}, weight = 3;
    const struct embedding_fns *fns = embedding_scalar(IRRUN_I16);
    fns->add(sum, row, NULL, 2);
    assert_true(sum[0] == 310 && sum[1] == -17);
    fns->add(sum, row, &weight, 2);
    assert_true(sum[0] == 1210 && sum[1] == -38);
    fns->divide(sum, 4, 2);
    assert_true(sum[0] == 302 && sum[1] == -9);
}

static void resampling_adds_weighted_taps(void **state)
{
    (void)state;
    size_t first[] = {0, 2, 2, 3}, index[] = {0, 2, 1};
    double weight[] = {0.5, 0.25, 4};
    const struct taps taps = {3, 3, first, index, weight};
    enum { INNER = 67 };
    double in[3 * INNER], out[3 * INNER];
    const float line[] = {2, 3, 8};
    float resized[3];
    for (size_t i = 0; i < 3 * INNER; i++)
        in[i] = (double)i;
    resample_f32(&taps, 1, 1, line, resized);
    assert_true(resized[0] == 3 && resized[1] == 0 && resized[2] == 12);
    resample_f64(&taps, 1, INNER, in, out);
    for (size_t i = 0; i < INNER; i++) {
        assert_true(out[i] == 0.5 * in[i] + 0.25 * in[2 * INNER + i]);
        assert_true(out[INNER + i] == 0 && out[2 * INNER + i] == 4 * in[INNER + i]);
    }
}

static void far_points_read_elements_within_the_plane(void **state)
{
    (void)state;
    const double far[] = {0, -1e300, 1e300, INFINITY, -INFINITY, NAN, 1e10, -7.5};
    struct grid_plane plane = {GRID_BICUBIC, GRID_ZEROS, false, 3, 1};
    for (int padding = GRID_ZEROS; padding <= GRID_REFLECTION; padding++) {
        for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
            struct grid_point point;
            plane.padding = (enum grid_padding)padding;
            plane.align_corners = i % 2;
            grid_find(&plane, far[i], far[sizeof far / sizeof *far - 1 - i], &point);
            assert_true(point.n <= GRID_MAX_TAPS);
            for (size_t k = 0; k < point.n; k++)
                assert_true(point.index[k] < 3);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scatter_reverses_gather_for_every_block_size),
        cmocka_unit_test(cum_sum_runs_both_ways_and_wraps),
        cmocka_unit_test(columns_are_summed_like_one_column),
        cmocka_unit_test(shifts_out_of_range_move_all_bits_out),
        cmocka_unit_test(bitwise_ops_on_booleans_are_logical),
        cmocka_unit_test(embedding_rows_are_weighted_added_and_divided),
        cmocka_unit_test(resampling_adds_weighted_taps),
        cmocka_unit_test(far_points_read_elements_within_the_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
