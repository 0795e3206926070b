/* Dynamic quantization: multiplies f32 rows x by compressed integer matrices, as products of bytes.
 * Each row of x is quantized to i8 block by block; a block is a scale group of the matrix
 * (compressed_matrix.group) or a part of a group. The sums within a block are exact; the sums of
 * the blocks are scaled and added in order. Results depend on neither the level nor the number of
 * rows.
 *
 * A row of the matrix is a column of the product. Up to max_rows rows of x are multiplied by the
 * matrix in place. For more rows, the matrix is packed panel by panel, in column groups of
 * INT8_GROUP (gemm_int8.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_QUANTIZED_GEMM_H
#define IRRUN_KERNELS_QUANTIZED_GEMM_H

#include "base/checked.h"
#include "kernels/compressed_gemm.h"
#include "kernels/gemm_int8.h"

#define QUANTIZED_BLOCK 128      /* maximum number of elements per block */
#define QUANTIZED_PANEL_GROUPS 4 /* column groups per panel */
/* The number of matrix rows per panel. */
#define QUANTIZED_PANEL_ROWS (QUANTIZED_PANEL_GROUPS * INT8_GROUP)

/* A block of a row of x: element i is scale * (code[i] - 128). */
struct quantized_block {
    float scale; /* 0 if all elements are below 2^-118, NaN if one is infinite or NaN */
    int32_t sum; /* sum of code[i] - 128 */
};

/* The division of a row into n blocks, blocks_per_group per scale group. The last block of a group
 * may have fewer than max_elements elements. */
struct quantized_blocks {
    size_t n, blocks_per_group, max_elements, max_quads;
};

/* Some blocks of QUANTIZED_PANEL_ROWS matrix rows. Elements are (code - zero) * scale. */
struct quantized_panel {
    struct quantized_columns {
        float scale[QUANTIZED_PANEL_ROWS];
        int32_t zero[QUANTIZED_PANEL_ROWS];
        int32_t start[QUANTIZED_PANEL_ROWS]; /* -128 times the sum of the codes */
    } * columns;                             /* one per block */
    int8_t *codes;                           /* packed as in gemm_int8.h, max_quads per block */
};

/* Arguments of `pack`: blocks first ... first + n - 1 of INT8_GROUP matrix rows, from `row` on,
 * become column group `group` of a panel of n_groups. Rows past the end of the matrix repeat its
 * last row. */
struct quantized_packing {
    const struct compressed_matrix *matrix;
    size_t row, first, n, group, n_groups;
    const struct quantized_panel *panel;
    size_t ahead; /* as in struct compressed_columns */
};

/* Arguments of `add`: the sums of a block for m rows of x and n columns. */
struct quantized_sums {
    size_t m, n;
    const int32_t (*sums)[QUANTIZED_PANEL_ROWS];
    const struct quantized_columns *columns;
    const struct quantized_block *rows; /* row_step elements from one row to the next */
    size_t row_step;
    const float *from; /* initial values: c, or one row for all rows (from_step 0); NULL: zeros */
    size_t from_step;
    float *c;
    size_t ldc;
};

struct quantized_product;

struct quantized_kernels {
    /* Quantizes a row of x. Writes max_quads quads of codes per block, in the order of the packed
     * matrix. */
    void (*quantize)(const struct compressed_matrix *matrix, const float *x, uint8_t *codes,
                     struct quantized_block *blocks);
    void (*pack)(const struct quantized_packing *packing);
    void (*add)(const struct quantized_sums *sums);
    /* Multiplies up to max_rows rows of x by the matrix in place (see quantized_reads_in_place);
     * for more rows, packing is faster. */
    void (*multiply_rows)(const struct quantized_product *product);
    size_t max_rows;
};

/* Returns whether products with dynamic quantization support a matrix of this type: integers
 * only. */
static inline bool quantized_is_supported(enum irrun_dtype dtype)
{
    return dtype == IRRUN_U8 || dtype == IRRUN_I8 || dtype == IRRUN_U4 || dtype == IRRUN_I4;
}

static inline bool quantized_is_4bit(const struct compressed_matrix *matrix)
{
    return compressed_bytes(matrix, 2) == 1;
}

/* Returns the number of quads of a block of n elements. Eight 4-bit codes take two quads: one of
 * the codes at even positions, one of the codes at odd positions. */
static inline size_t quantized_n_quads(const struct compressed_matrix *matrix, size_t n)
{
    return quantized_is_4bit(matrix) ? 2 * int8_n_quads(n / 2) : int8_n_quads(n);
}

static inline struct quantized_blocks quantized_blocks_of(const struct compressed_matrix *matrix)
{
    size_t max = matrix->group < QUANTIZED_BLOCK ? matrix->group : QUANTIZED_BLOCK;
    size_t n = divide_up(matrix->group, max);
    return (struct quantized_blocks){.n = matrix->k / matrix->group * n,
                                     .blocks_per_group = n,
                                     .max_elements = max,
                                     .max_quads = quantized_n_quads(matrix, max)};
}

/* Returns the index of the first element of a block, and sets *n to its number of elements. */
static inline size_t quantized_block_at(const struct compressed_matrix *matrix,
                                        const struct quantized_blocks *blocks, size_t block,
                                        size_t *n)
{
    size_t in_group = block % blocks->blocks_per_group * blocks->max_elements;
    *n = matrix->group - in_group;
    *n = *n < blocks->max_elements ? *n : blocks->max_elements;
    return block / blocks->blocks_per_group * matrix->group + in_group;
}

/* The number of matrix rows that are read in place at a time. Their blocks fill whole vectors. */
#define QUANTIZED_IN_PLACE_ROWS 16

/* Returns whether a product of m rows of x reads the matrix in place, without packing: if m is
 * small, and blocks have 16, 32, 64 or 128 bytes. */
static inline bool quantized_reads_in_place(const struct quantized_kernels *kernels,
                                            const struct compressed_matrix *matrix, size_t m)
{
    struct quantized_blocks blocks = quantized_blocks_of(matrix);
    size_t n_bytes = compressed_bytes(matrix, blocks.max_elements);
    return m <= kernels->max_rows && matrix->group % blocks.max_elements == 0 && n_bytes >= 16 &&
           (n_bytes & (n_bytes - 1)) == 0;
}

/* c[i][j] = start[j] + the dot product of row i of x and row j of the matrix, for m rows of x and
 * begin <= j < end. `begin` is a multiple of QUANTIZED_PANEL_ROWS. */
struct quantized_product {
    const struct quantized_kernels *kernels;
    const struct int8_kernels *int8;
    const struct compressed_matrix *matrix;
    size_t m, begin, end;
    const uint8_t *codes; /* codes of the rows of x, written by `quantize` */
    const struct quantized_block *blocks;
    const float *start; /* NULL: zeros */
    float *c;
    size_t ldc;
    void *panel; /* scratch memory of quantized_panel_bytes bytes */
};

/* Returns the size of the scratch memory for a product of m rows, a multiple of 64. */
size_t quantized_panel_bytes(const struct quantized_kernels *kernels,
                             const struct compressed_matrix *matrix, size_t m);
/* Returns the bytes of scratch memory per row of x if quantized_reads_in_place. */
size_t quantized_row_bytes(const struct compressed_matrix *matrix);
void quantized_multiply(const struct quantized_product *product);

#endif
