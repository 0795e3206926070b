/* Random compressed matrices, whose codes, scales and zero points end at an unmapped page.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_COMPRESSED_PROBLEM_H
#define IRRUN_TESTS_COMPRESSED_PROBLEM_H

#include "check_kernels.h"

struct problem {
    struct compressed_matrix matrix;
    struct guarded codes, scales, zero_points;
};

/* Scales and zero points are missing, one for all, per row or per group. */
struct problem problem_new(enum irrun_dtype dtype, size_t n, size_t n_groups, size_t group);
void problem_free(struct problem *problem);

/* Allocates n_bytes that end at an unmapped page. */
void *guarded_alloc(struct guarded *guarded, size_t n_bytes);

bool is_float(enum irrun_dtype dtype);
bool has_4_bits(enum irrun_dtype dtype);

/* Return a scale or zero point, or `none` if the matrix has none; and the value of an element. */
float number_of(const struct group_params *numbers, size_t row, size_t group, float none);
float element_of(const struct compressed_matrix *matrix, size_t row, size_t k);

#endif
