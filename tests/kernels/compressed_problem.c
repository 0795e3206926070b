/* Makes random compressed matrices, and computes their elements by definition.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compressed_problem.h"

#include <math.h>
#include <string.h>

#include "tensor/half.h"
#include "tensor/small_float.h"

void *guarded_alloc(struct guarded *guarded, size_t n_bytes)
{
    *guarded = guarded_new(n_bytes);
    return guarded_last(guarded, n_bytes);
}

/* how: 0: one number for all; 1: one per row; 2: one per group. */
static void choose_steps(struct group_params *numbers, size_t n_groups, size_t how)
{
    numbers->row_step = how == 0 ? 0 : how == 1 ? 1 : n_groups;
    numbers->group_step = how == 2;
}

static size_t count_numbers(const struct group_params *numbers, size_t n, size_t n_groups)
{
    return (n - 1) * numbers->row_step + (n_groups - 1) * numbers->group_step + 1;
}

bool is_float(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 || dtype == IRRUN_F16 || dtype == IRRUN_BF16;
}

/* Fills rows of floats. f16 has any bits except those of numbers from 2 on; bf16 and f32 are
 * uniform below 2. */
static void fill_floats(enum irrun_dtype dtype, unsigned char *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float value = random_float(2);
        uint16_t half = (uint16_t)random_below(1 << 16);
        half = dtype == IRRUN_F16 ? half & 0xBFFF : bf16_from_f32(value);
        if (dtype == IRRUN_F32)
            memcpy(to + i * sizeof value, &value, sizeof value);
        else
            memcpy(to + i * sizeof half, &half, sizeof half);
    }
}

static float value_of(enum irrun_dtype dtype, uint8_t code)
{
    switch (dtype) {
    case IRRUN_I8:
        return (int8_t)code;
    case IRRUN_I4:
        return (float)((code ^ 8) - 8);
    case IRRUN_U8:
    case IRRUN_U4:
        return code;
    default:
        return small_float_to_f32(dtype, code);
    }
}

struct problem problem_new(enum irrun_dtype dtype, size_t n, size_t n_groups, size_t group)
{
    struct problem problem = {
        .matrix = {.dtype = dtype, .n = n, .k = n_groups * group, .group = group}};
    struct compressed_matrix *matrix = &problem.matrix;
    size_t n_bytes = compressed_bytes(matrix, n * matrix->k);
    unsigned char *codes = guarded_alloc(&problem.codes, n_bytes);
    if (is_float(dtype))
        fill_floats(dtype, codes, n * matrix->k);
    else
        random_fill(codes, n_bytes);
    matrix->row = codes;
    for (int code = 0; code < 16; code++)
        matrix->values[code] = is_float(dtype) ? 0 : value_of(dtype, (uint8_t)code);
    if (is_float(dtype))
        return problem;
    choose_steps(&matrix->scales, n_groups, random_below(3));
    choose_steps(&matrix->zero_points, n_groups, random_below(3));
    size_t n_scales = count_numbers(&matrix->scales, n, n_groups);
    float *scales = guarded_alloc(&problem.scales, n_scales * sizeof *scales);
    const float odd = (const float[]){1, 0x1p-30F, 0x1p20F}[random_below(3)];
    for (size_t i = 0; i < n_scales; i++)
        scales[i] = random_float(2) * (i % 2 == 1 ? odd : 1);
    matrix->scales.data = random_below(4) > 0 ? scales : NULL;
    matrix->scales.dtype = IRRUN_F32;
    size_t n_zeros = count_numbers(&matrix->zero_points, n, n_groups), kind = random_below(5);
    void *zero_points = guarded_alloc(&problem.zero_points, n_zeros * sizeof(float));
    random_fill(zero_points, n_zeros * sizeof(float));
    static const enum irrun_dtype kinds[] = {IRRUN_U8, IRRUN_I8, IRRUN_F32, IRRUN_U4};
    matrix->zero_points.dtype = kinds[kind % 4];
    for (size_t i = 0; kind == 3 && i < n_zeros; i++)
        ((uint8_t *)zero_points)[i] &= 15;
    for (size_t i = 0; kind == 2 && i < n_zeros; i++)
        ((float *)zero_points)[i] =
            small_float_is(dtype) ? random_float(9) : nearbyintf(random_float(300));
    matrix->zero_points.data = kind < 4 ? zero_points : NULL;
    return problem;
}

void problem_free(struct problem *problem)
{
    guarded_free(&problem->codes);
    guarded_free(&problem->scales);
    guarded_free(&problem->zero_points);
}

float number_of(const struct group_params *numbers, size_t row, size_t group, float none)
{
    size_t at = row * numbers->row_step + group * numbers->group_step;
    if (!numbers->data)
        return none;
    return numbers->dtype == IRRUN_F32  ? ((const float *)numbers->data)[at]
           : numbers->dtype == IRRUN_I8 ? (float)((const int8_t *)numbers->data)[at]
                                        : (float)((const uint8_t *)numbers->data)[at];
}

bool has_4_bits(enum irrun_dtype dtype)
{
    return dtype != IRRUN_U8 && dtype != IRRUN_I8 && !is_float(dtype);
}

float element_of(const struct compressed_matrix *matrix, size_t row, size_t k)
{
    size_t at = row * matrix->k + k, group = k / matrix->group;
    if (matrix->dtype == IRRUN_F32) {
        float value;
        memcpy(&value, matrix->row + at * sizeof value, sizeof value);
        return value;
    }
    if (is_float(matrix->dtype)) {
        uint16_t half;
        memcpy(&half, matrix->row + at * sizeof half, sizeof half);
        return matrix->dtype == IRRUN_F16 ? f16_to_f32(half) : bf16_to_f32(half);
    }
    uint8_t code =
        has_4_bits(matrix->dtype) ? matrix->row[at / 2] >> (at % 2 * 4) & 15 : matrix->row[at];
    volatile float shifted =
        value_of(matrix->dtype, code) - number_of(&matrix->zero_points, row, group, 0);
    return shifted * number_of(&matrix->scales, row, group, 1);
}
