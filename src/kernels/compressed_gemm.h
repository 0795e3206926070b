/* Multiplies f32 by matrices in the form in which files store them: rows of f32, f16 or bf16, or
 * compressed rows of 4-bit or 8-bit codes (integers or small floats), with a scale and perhaps a
 * zero point per group of a row. The kernels expand the codes in registers. The order of additions
 * does not depend on the number of threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COMPRESSED_GEMM_H
#define IRRUN_KERNELS_COMPRESSED_GEMM_H

#include <stddef.h>
#include <stdint.h>

#include "irrun.h"
#include "kernels/packed_gemm.h"

#define COMPRESSED_MAX_ROWS 4 /* maximum number of rows of x per call */
#define COMPRESSED_NOTES 96   /* floats at the end of an arranged row of x */
#define COMPRESSED_PAD 32     /* the groups of x are padded to a multiple of this many elements */

/* One number per group: that of group g of row r is element r * row_step + g * group_step. */
struct group_params {
    const void *data;       /* NULL: none */
    enum irrun_dtype dtype; /* f32, u8, i8, or u4 (one per byte) */
    size_t row_step, group_step;
};

static inline float param_of(const struct group_params *params, size_t row, size_t group,
                             float none)
{
    size_t at = row * params->row_step + group * params->group_step;
    if (!params->data)
        return none;
    switch (params->dtype) {
    case IRRUN_F32:
        return ((const float *)params->data)[at];
    case IRRUN_I8:
        return ((const int8_t *)params->data)[at];
    default:
        return ((const uint8_t *)params->data)[at];
    }
}

/* n rows of k elements. An element is (value of the code - zero point) * scale; floats have neither
 * zero point nor scale. */
struct compressed_matrix {
    /* f32, f16, bf16, u8, i8, or a type of 4 bits, low bits first: u4, i4, nf4, f4e2m1 */
    enum irrun_dtype dtype;
    size_t n, k;
    size_t group;             /* elements per scale group; divides k; even for types of 4 bits */
    const unsigned char *row; /* row 0; the rows are contiguous; any alignment */
    struct group_params scales, zero_points; /* scales: f32. Integer zero points are below 2^16. */
    float values[16];                        /* types of 4 bits: the values of the 16 codes */
};

/* Returns the size of n elements in bytes. */
static inline size_t compressed_bytes(const struct compressed_matrix *matrix, size_t n)
{
    switch (matrix->dtype) {
    case IRRUN_F32:
        return n * sizeof(float);
    case IRRUN_F16:
    case IRRUN_BF16:
        return n * sizeof(uint16_t);
    case IRRUN_U8:
    case IRRUN_I8:
        return n;
    default:
        return n / 2;
    }
}

/* Returns the number of floats that a group takes in an arranged row of x. */
static inline size_t compressed_group_floats(const struct compressed_matrix *matrix)
{
    return (matrix->group + COMPRESSED_PAD - 1) / COMPRESSED_PAD * COMPRESSED_PAD;
}

/* Returns the number of floats of an arranged row of x. The last COMPRESSED_NOTES of them tell
 * `multiply` how the row is arranged. */
static inline size_t compressed_row_floats(const struct compressed_matrix *matrix)
{
    return matrix->k / matrix->group * compressed_group_floats(matrix) + COMPRESSED_NOTES;
}

/* c[i][j] = start[j] + the dot product of row i of x and row j of the matrix, for begin <= j <
 * end. */
struct compressed_product {
    const struct compressed_matrix *matrix;
    size_t m; /* rows of x, at most COMPRESSED_MAX_ROWS */
    size_t begin, end;
    const float *x;     /* m rows that `arrange` has written */
    const float *start; /* NULL: zeros */
    float *c;
    size_t ldc;
};

/* Expands a row of codes. */
void compressed_expand_row(const struct compressed_matrix *matrix, size_t row, float *to);

/* Arguments of expand_columns, which writes elements `first` ... `first` + n - 1 of PANEL_GROUP
 * rows, from `row` on, as columns: element k of row i goes to to[(k - first) * step + i - row].
 * `first` and n are even for types of 4 bits. Rows past the end of the matrix repeat its last
 * row. */
struct compressed_columns {
    const struct compressed_matrix *matrix;
    size_t row, first, n;
    float *to;
    size_t step;  /* floats */
    size_t ahead; /* prefetch distance in bytes; wraps, as it may be negative */
};

struct compressed_kernels {
    /* Writes a row of x, of k elements, in the order that `multiply` reads. is_alone: x has only
     * this row. */
    void (*arrange)(const struct compressed_matrix *matrix, bool is_alone, const float *x,
                    float *to);
    void (*multiply)(const struct compressed_product *product);
    void (*expand_columns)(const struct compressed_columns *columns);
};

#endif
