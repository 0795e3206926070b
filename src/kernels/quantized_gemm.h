/* Dynamic quantization: multiplies f32 by compressed matrices of integers, as products of bytes.
 * Rows of f32 are quantized to i8 block by block: a block is a scale group of the matrix
 * (compressed_matrix.group), or a part of one. The sums within a block are exact; those of blocks
 * are scaled and added in their order. Results depend on neither the level nor the number of rows.
 *
 * A row of the matrix is a column of the product. Up to max_rows rows of x, the f32 factor, are
 * multiplied by the matrix in place; more rows by panels, whose rows are packed in column groups of
 * INT8_GROUP (gemm_int8.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_QUANTIZED_GEMM_H
#define IRRUN_KERNELS_QUANTIZED_GEMM_H

#include "base/checked.h"
#include "kernels/compressed_gemm.h"
#include "kernels/gemm_int8.h"

#define QUANTIZED_BLOCK 128      /* maximum number of elements of a block */
#define QUANTIZED_PANEL_GROUPS 4 /* column groups of a panel */
/* Rows of the matrix in a panel. */
#define QUANTIZED_PANEL_ROWS (QUANTIZED_PANEL_GROUPS * INT8_GROUP)

/* A block of a row: element i is scale * (code[i] - 128). */
struct quantized_block {
    float scale; /* 0 if all elements are below 2^-118, NaN if one is infinite or NaN */
    int32_t sum; /* of code[i] - 128 */
};

/* The blocks of a row: n in all, n_of_group in each scale group, the last of which may have fewer
 * than max_elements. */
struct quantized_blocks {
    size_t n, n_of_group, max_elements, max_quads;
};

/* Some blocks of QUANTIZED_PANEL_ROWS rows of a matrix. Its elements are (code - zero) * scale. */
struct quantized_panel {
    struct quantized_columns {
        float scale[QUANTIZED_PANEL_ROWS];
        int32_t zero[QUANTIZED_PANEL_ROWS];
        int32_t start[QUANTIZED_PANEL_ROWS]; /* -128 times the sum of the codes */
    } * columns;                             /* of each block */
    int8_t *codes; /* packed as in gemm_int8.h, max_quads for each block */
};

/* Blocks first ... first + n - 1 of INT8_GROUP rows, from `row` on: column group `group` of a
 * panel of n_groups. The last row of the matrix replaces rows past its end. */
struct quantized_packing {
    const struct compressed_matrix *matrix;
    size_t row, first, n, group, n_groups;
    const struct quantized_panel *panel;
    size_t ahead; /* as in struct compressed_columns */
};

/* The sums of a block for m rows and n columns. */
struct quantized_sums {
    size_t m, n;
    const int32_t (*sums)[QUANTIZED_PANEL_ROWS];
    const struct quantized_columns *columns;
    const struct quantized_block *rows; /* row_step elements from one row to the next */
    size_t row_step;
    const float *from; /* initial values: c, or one row for all (from_step 0); NULL: zeros */
    size_t from_step;
    float *c;
    size_t ldc;
};

struct quantized_product;

struct quantized_kernels {
    /* Writes max_quads quads of codes for each block, in the order of the packed matrix. */
    void (*quantize)(const struct compressed_matrix *matrix, const float *x, uint8_t *codes,
                     struct quantized_block *blocks);
    void (*pack)(const struct quantized_packing *packing);
    void (*add)(const struct quantized_sums *sums);
    /* Multiplies up to max_rows rows if quantized_reads_in_place; for more, packing pays. */
    void (*multiply_rows)(const struct quantized_product *product);
    size_t max_rows;
};

/* Returns whether the codes are integers, as these products need. */
static inline bool quantized_is_supported(enum irrun_dtype dtype)
{
    return dtype == IRRUN_U8 || dtype == IRRUN_I8 || dtype == IRRUN_U4 || dtype == IRRUN_I4;
}

static inline bool quantized_is_4bit(const struct compressed_matrix *matrix)
{
    return compressed_bytes(matrix, 2) == 1;
}

/* Returns the number of quads of a block of n elements. Each 8 codes of 4 bits take two quads: one
 * of the codes at even positions, and one of those at odd positions. */
static inline size_t quantized_n_quads(const struct compressed_matrix *matrix, size_t n)
{
    return quantized_is_4bit(matrix) ? 2 * int8_n_quads(n / 2) : int8_n_quads(n);
}

static inline struct quantized_blocks quantized_blocks_of(const struct compressed_matrix *matrix)
{
    size_t max = matrix->group < QUANTIZED_BLOCK ? matrix->group : QUANTIZED_BLOCK;
    size_t n = divide_up(matrix->group, max);
    return (struct quantized_blocks){.n = matrix->k / matrix->group * n,
                                     .n_of_group = n,
                                     .max_elements = max,
                                     .max_quads = quantized_n_quads(matrix, max)};
}

/* Returns the first element of a block, and sets *n to the number of its elements. */
static inline size_t quantized_block_at(const struct compressed_matrix *matrix,
                                        const struct quantized_blocks *blocks, size_t block,
                                        size_t *n)
{
    size_t in_group = block % blocks->n_of_group * blocks->max_elements;
    *n = matrix->group - in_group;
    *n = *n < blocks->max_elements ? *n : blocks->max_elements;
    return block / blocks->n_of_group * matrix->group + in_group;
}

/* Rows of the matrix that are read in place at a time. Their blocks fill whole vectors. */
#define QUANTIZED_STREAM_ROWS 16

/* Returns whether a product of m rows reads the matrix in place, without packing: for few rows, and
 * blocks of 16, 32, 64 or 128 bytes. */
static inline bool quantized_reads_in_place(const struct quantized_kernels *kernels,
                                            const struct compressed_matrix *matrix, size_t m)
{
    struct quantized_blocks blocks = quantized_blocks_of(matrix);
    size_t n_bytes = compressed_bytes(matrix, blocks.max_elements);
    return m <= kernels->max_rows && matrix->group % blocks.max_elements == 0 && n_bytes >= 16 &&
           (n_bytes & (n_bytes - 1)) == 0;
}

/* Rows begin ... end - 1 of the matrix, where `begin` is a multiple of QUANTIZED_PANEL_ROWS:
 * c[i][j] = start[j] + the product of row i of x and row j of the matrix. */
struct quantized_product {
    const struct quantized_kernels *kernels;
    const struct int8_kernels *int8;
    const struct compressed_matrix *matrix;
    size_t m, begin, end;
    const uint8_t *codes; /* of the rows of x */
    const struct quantized_block *blocks;
    const float *start; /* NULL: zeros */
    float *c;
    size_t ldc;
    void *panel; /* memory of quantized_panel_bytes */
};

/* Returns the size of the memory of a product of m rows, a multiple of 64. */
size_t quantized_panel_bytes(const struct quantized_kernels *kernels,
                             const struct compressed_matrix *matrix, size_t m);
/* Returns how much of that memory each row of x takes if quantized_reads_in_place. */
size_t quantized_row_bytes(const struct compressed_matrix *matrix);
void quantized_multiply(const struct quantized_product *product);

#endif
