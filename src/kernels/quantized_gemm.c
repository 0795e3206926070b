/* Runs the products of quantized_gemm.h: a few rows of x by the matrix in place, more by panels. It
 * packs a slice of a panel, and multiplies all rows of x by the slice while it is in the cache.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/quantized_gemm.h"

#include "base/checked.h"

/* The number of elements per matrix row that are packed at a time: 32 KB of a panel. */
#define SLICE 512
/* The number of rows of x whose sums are computed at a time: 8 KB of sums, or two AMX tiles. */
#define ROWS 32

static size_t count_slice_blocks(const struct quantized_blocks *blocks)
{
    size_t n = SLICE / blocks->max_elements;
    return n < blocks->n ? n : blocks->n;
}

size_t quantized_row_bytes(const struct compressed_matrix *matrix)
{
    struct quantized_blocks blocks = quantized_blocks_of(matrix);
    size_t block_bytes = sizeof(int32_t) + sizeof(float) + blocks.max_quads * INT8_QUAD;
    return align_to_line(blocks.n * QUANTIZED_IN_PLACE_ROWS * sizeof(int32_t) +
                         (blocks.n + QUANTIZED_IN_PLACE_ROWS) * block_bytes);
}

size_t quantized_panel_bytes(const struct quantized_kernels *kernels,
                             const struct compressed_matrix *matrix, size_t m)
{
    struct quantized_blocks blocks = quantized_blocks_of(matrix);
    if (quantized_reads_in_place(kernels, matrix, m))
        return m * quantized_row_bytes(matrix);
    return count_slice_blocks(&blocks) *
           (sizeof(struct quantized_columns) + blocks.max_quads * INT8_QUAD * QUANTIZED_PANEL_ROWS);
}

/* A slice: blocks first ... first + n - 1 of the panel that begins at matrix row `column`. */
struct slice {
    struct quantized_blocks blocks;
    struct quantized_panel panel;
    size_t column, n_groups, first, n;
};

static void pack(const struct quantized_product *p, const struct slice *slice)
{
    size_t row_bytes = compressed_bytes(p->matrix, p->matrix->k), none;
    size_t group_bytes = INT8_GROUP * row_bytes, last = slice->first + slice->n;
    size_t at = compressed_bytes(
        p->matrix, quantized_block_at(p->matrix, &slice->blocks, slice->first, &none));
    size_t next = last == slice->blocks.n
                      ? group_bytes * slice->n_groups
                      : compressed_bytes(
                            p->matrix, quantized_block_at(p->matrix, &slice->blocks, last, &none));
    for (size_t group = 0; group < slice->n_groups; group++)
        p->kernels->pack(&(struct quantized_packing){
            .matrix = p->matrix,
            .row = slice->column + group * INT8_GROUP,
            .first = slice->first,
            .n = slice->n,
            .group = group,
            .n_groups = slice->n_groups,
            .panel = &slice->panel,
            .ahead = group + 1 < slice->n_groups ? group_bytes : next - at - group * group_bytes,
        });
}

static void multiply_block(const struct quantized_product *p, const struct slice *slice,
                           size_t block, size_t row, size_t m)
{
    const size_t max_bytes = slice->blocks.max_quads * INT8_QUAD, n_blocks = slice->blocks.n;
    const struct quantized_columns *columns = &slice->panel.columns[block - slice->first];
    size_t n = p->end - slice->column, n_elements;
    float *c = p->c + row * p->ldc + slice->column;
    int32_t sums[ROWS][QUANTIZED_PANEL_ROWS];
    quantized_block_at(p->matrix, &slice->blocks, block, &n_elements);
    size_t n_quads = quantized_n_quads(p->matrix, n_elements);
    const uint8_t *a = p->codes + (row * n_blocks + block) * max_bytes;
    struct int8_product product = {
        .m = m,
        .n = slice->n_groups * INT8_GROUP,
        .n_segments = 1,
        .n_quads = n_quads,
        .end = slice->n_groups,
        .tile_rows = int8_tile_rows(p->int8, m, n_quads,
                                    (double)(m * slice->n_groups * INT8_GROUP * n_quads)),
        .a = &a,
        .lda = n_blocks * max_bytes,
        .b = slice->panel.codes + (block - slice->first) * max_bytes * QUANTIZED_PANEL_ROWS,
        .start = columns->start,
        .to = INT8_TO_I32,
        .c = sums,
        .ldc = QUANTIZED_PANEL_ROWS,
    };
    p->int8->multiply(&product);
    p->kernels->add(&(struct quantized_sums){
        .m = m,
        .n = n < QUANTIZED_PANEL_ROWS ? n : QUANTIZED_PANEL_ROWS,
        .sums = (const int32_t(*)[QUANTIZED_PANEL_ROWS])sums,
        .columns = columns,
        .rows = p->blocks + row * n_blocks + block,
        .row_step = n_blocks,
        .from = block > 0  ? c
                : p->start ? p->start + slice->column
                           : NULL,
        .from_step = block > 0 ? p->ldc : 0,
        .c = c,
        .ldc = p->ldc,
    });
}

void quantized_multiply(const struct quantized_product *p)
{
    struct slice slice = {.blocks = quantized_blocks_of(p->matrix)};
    if (quantized_reads_in_place(p->kernels, p->matrix, p->m)) {
        p->kernels->multiply_rows(p);
        return;
    }
    size_t max_blocks = count_slice_blocks(&slice.blocks);
    slice.panel.columns = p->panel;
    slice.panel.codes = (int8_t *)(slice.panel.columns + max_blocks);
    for (slice.column = p->begin; slice.column < p->end; slice.column += QUANTIZED_PANEL_ROWS) {
        slice.n_groups = int8_n_groups(p->end - slice.column);
        if (slice.n_groups > QUANTIZED_PANEL_GROUPS)
            slice.n_groups = QUANTIZED_PANEL_GROUPS;
        for (slice.first = 0; slice.first < slice.blocks.n; slice.first += slice.n) {
            size_t left = slice.blocks.n - slice.first;
            slice.n = left < max_blocks ? left : max_blocks;
            pack(p, &slice);
            for (size_t row = 0; row < p->m; row += ROWS)
                for (size_t block = slice.first; block < slice.first + slice.n; block++)
                    multiply_block(p, &slice, block, row, p->m - row < ROWS ? p->m - row : ROWS);
        }
    }
    if (p->int8->tiles_end)
        p->int8->tiles_end();
}
