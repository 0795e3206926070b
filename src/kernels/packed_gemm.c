/* Packs matrices, and splits a product into tiles for the micro-kernels of a level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/packed_gemm.h"

#include <string.h>

#include "base/checked.h"
#include "kernels/pack_transpose.h"
#include "tensor/half.h"

#define FEW_ROWS 2

/* Returns the width of the widest micro-panel that has a micro-kernel for this many rows. */
static size_t choose_nr_groups(const struct gemm_microkernels *kernels, size_t width, size_t rows)
{
    size_t nr_groups = width;
    rows = rows < GEMM_MAX_MR ? rows : GEMM_MAX_MR;
    while (nr_groups > 1 && (width % nr_groups != 0 || !kernels->f32[nr_groups][rows]))
        nr_groups--;
    return nr_groups;
}

/* Returns the bytes of a column in a step: of an element, or of a pair. */
static size_t element_bytes(const struct packed_matrix *packed_b)
{
    return packed_b->step_k * weight_bytes(packed_b->type);
}

static size_t steps_of(const struct packed_matrix *packed_b)
{
    return packed_b->k / packed_b->step_k + packed_b->k % packed_b->step_k;
}

void packed_matrix_set_type(struct packed_matrix *packed_b, const struct gemm_microkernels *kernels,
                            enum weight_type source)
{
    bool has_type = source == WEIGHTS_BF16 ? kernels->round_pairs != NULL : kernels->has_f16;
    packed_b->type = has_type ? source : WEIGHTS_F32;
    packed_b->round = source != WEIGHTS_BF16 ? NULL
                      : has_type             ? kernels->round_pairs
                                             : bf16_round_n;
}

bool packed_matrix_layout(struct packed_matrix *packed_b, const struct gemm_microkernels *kernels,
                          size_t rows, size_t *size_bytes)
{
    size_t n_blocks = packed_b->k / GEMM_MAX_KC + (packed_b->k % GEMM_MAX_KC != 0);
    enum weight_type type = packed_b->type;

    if (type == WEIGHTS_F16 && rows <= FEW_ROWS && kernels->for_few_f16_rows)
        kernels = kernels->for_few_f16_rows;
    packed_b->nr_groups = choose_nr_groups(kernels, packed_b->width, rows);
    memcpy(packed_b->microkernels,
           (type == WEIGHTS_BF16  ? kernels->bf16
            : type == WEIGHTS_F16 ? kernels->f16
                                  : kernels->f32)[packed_b->nr_groups],
           sizeof packed_b->microkernels);
    packed_b->max_mr = 1;
    while (packed_b->max_mr < GEMM_MAX_MR && packed_b->microkernels[packed_b->max_mr + 1])
        packed_b->max_mr++;
    packed_b->step_k = type == WEIGHTS_BF16 ? 2 : 1;
    packed_b->step_bytes = packed_b->nr_groups * PANEL_GROUP * element_bytes(packed_b);
    packed_b->kc = n_blocks > 1 ? (packed_b->k + n_blocks - 1) / n_blocks : packed_b->k;
    packed_b->kc += n_blocks > 1 ? packed_b->kc % packed_b->step_k : 0;
    return checked_mul(packed_b->step_bytes, steps_of(packed_b), &packed_b->micropanel_bytes) &&
           checked_mul(packed_b->width / packed_b->nr_groups, packed_b->micropanel_bytes,
                       &packed_b->panel_bytes) &&
           checked_mul(packed_b->n_panels, packed_b->panel_bytes, size_bytes);
}

/* Packs fewer than 16 columns or elements; the rest of the block is zero. */
static void pack_edge(unsigned char *to, size_t to_step, const unsigned char *from,
                      size_t from_step, size_t n_columns, size_t n, size_t size)
{
    unsigned char block[PANEL_GROUP][PANEL_GROUP * sizeof(float)] = {{0}};

    for (size_t j = 0; j < n_columns; j++)
        for (size_t i = 0; i < n; i++)
            memcpy(block[i] + j * size, from + j * from_step + i * size, size);
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * to_step, block[i], PANEL_GROUP * size);
}

/* Transposes rows of a source of any alignment. Sixteen elements of a row of f32 are a cache line,
 * and are copied at once, so that every line of the source is read once. Pairs of bf16 are elements
 * of 32 bits; the last one may have only one half. */
static void pack_rows(const struct packed_matrix *packed_b, unsigned char *to,
                      const unsigned char *from, size_t from_step, size_t n_columns)
{
    size_t size = element_bytes(packed_b);

    for (size_t left = packed_b->k / packed_b->step_k; left > 0;) {
        size_t n = left < PANEL_GROUP ? left : PANEL_GROUP;
        if (n_columns == PANEL_GROUP && n == PANEL_GROUP)
            (size == sizeof(uint16_t) ? pack_transpose_f16 : pack_transpose_f32)(
                from, from_step, to, packed_b->step_bytes);
        else
            pack_edge(to, packed_b->step_bytes, from, from_step, n_columns, n, size);
        left -= n;
        to += n * packed_b->step_bytes;
        from += n * size;
    }
    if (packed_b->k % packed_b->step_k == 0)
        return;
    memset(to, 0, PANEL_GROUP * size);
    for (size_t j = 0; j < n_columns; j++)
        memcpy(to + j * size, from + j * from_step, sizeof(uint16_t));
}

/* This many elements of each column are widened at a time. */
#define WIDENED 64

static void widen(enum weight_type type, const void *from, void *to, size_t n)
{
    (type == WEIGHTS_BF16 ? bf16_to_f32_n : f16_to_f32_n)(from, to, n);
}

/* Does the same from f16 or bf16 to a packed matrix of f32. */
static void pack_widened(const struct packed_matrix *packed_b, unsigned char *to,
                         const unsigned char *from, enum weight_type type, size_t from_step,
                         size_t n_columns)
{
    float block[PANEL_GROUP][WIDENED];
    struct packed_matrix part = *packed_b;

    for (size_t first = 0; first < packed_b->k; first += WIDENED) {
        part.k = packed_b->k - first < WIDENED ? packed_b->k - first : WIDENED;
        for (size_t j = 0; j < n_columns; j++)
            widen(type, from + j * from_step + first * sizeof(uint16_t), block[j], part.k);
        pack_rows(&part, to + first * packed_b->step_bytes, (const unsigned char *)block,
                  sizeof block[0], n_columns);
    }
}

/* Returns the byte offset of a group of columns. */
static size_t group_at(const struct packed_matrix *packed_b, size_t panel, size_t group)
{
    return panel * packed_b->panel_bytes +
           group / packed_b->nr_groups * packed_b->micropanel_bytes +
           group % packed_b->nr_groups * PANEL_GROUP * element_bytes(packed_b);
}

void packed_matrix_pack_group(const struct packed_matrix *packed_b, void *data, size_t panel,
                              size_t group, const void *source, enum weight_type source_type,
                              size_t ld, size_t n_columns)
{
    unsigned char *to = (unsigned char *)data + group_at(packed_b, panel, group);

    if (source_type != packed_b->type)
        pack_widened(packed_b, to, source, source_type, ld * sizeof(uint16_t), n_columns);
    else
        pack_rows(packed_b, to, source, ld * weight_bytes(source_type), n_columns);
}

/* Interleaves two rows of bf16, or one with zeros (odd = NULL). */
static void pack_pairs(unsigned char *to, const unsigned char *even, const unsigned char *odd,
                       size_t n_columns)
{
    memset(to, 0, PANEL_GROUP * 2 * sizeof(uint16_t));
    for (size_t j = 0; j < n_columns; j++) {
        memcpy(to + 4 * j, even + 2 * j, sizeof(uint16_t));
        if (odd)
            memcpy(to + 4 * j + 2, odd + 2 * j, sizeof(uint16_t));
    }
}

void packed_matrix_pack_columns(const struct packed_matrix *packed_b, void *data, size_t panel,
                                size_t group, const void *source, enum weight_type source_type,
                                size_t ld, size_t n_columns)
{
    size_t group_bytes = PANEL_GROUP * element_bytes(packed_b);
    size_t source_bytes = weight_bytes(source_type), row_bytes = ld * source_bytes;
    unsigned char *to = (unsigned char *)data + group_at(packed_b, panel, group);
    const unsigned char *from = source;

    for (size_t k = 0; k < packed_b->k; k += packed_b->step_k) {
        if (n_columns < PANEL_GROUP)
            memset(to, 0, group_bytes);
        if (source_type != packed_b->type)
            widen(source_type, from, to, n_columns);
        else if (source_type == WEIGHTS_BF16)
            pack_pairs(to, from, k + 1 < packed_b->k ? from + row_bytes : NULL, n_columns);
        else if (n_columns == PANEL_GROUP && source_type == WEIGHTS_F32) /* memcpy is inlined */
            memcpy(to, from, PANEL_GROUP * sizeof(float));
        else
            memcpy(to, from, n_columns * source_bytes);
        to += packed_b->step_bytes;
        from += packed_b->step_k * row_bytes;
    }
}

/* Computes one tile, over all of k. */
static void multiply_tile(const struct packed_matrix *packed_b, size_t rows, struct gemm_args *args)
{
    size_t left = packed_b->k;

    args->k = left < packed_b->kc ? left : packed_b->kc;
    packed_b->microkernels[rows](args);
    while (left > packed_b->kc) {
        left -= packed_b->kc;
        args->b =
            (const unsigned char *)args->b + packed_b->kc / packed_b->step_k * packed_b->step_bytes;
        args->a += packed_b->kc / packed_b->step_k;
        args->k = left < packed_b->kc ? left : packed_b->kc;
        args->add = args->c;
        args->ld_add = args->ldc;
        packed_b->microkernels[rows](args);
    }
}

/* Multiplies all rows by one micro-panel, in tiles of nearly equal size. */
static void multiply_micropanel(const struct packed_matrix *packed_b,
                                const struct panel_product *product, const unsigned char *weights,
                                size_t column)
{
    size_t n_tiles = (product->rows + packed_b->max_mr - 1) / packed_b->max_mr, row = 0;

    for (size_t left = n_tiles; left > 0; left--) {
        size_t rows = (product->rows - row + left - 1) / left;
        multiply_tile(packed_b, rows,
                      &(struct gemm_args){
                          .b = weights,
                          .a = product->a + row * product->lda,
                          .lda = product->lda,
                          .add = product->add + row * product->ld_add + column,
                          .ld_add = product->ld_add,
                          .c = product->c + row * product->ldc + column,
                          .ldc = product->ldc,
                      });
        row += rows;
    }
}

/* Multiplies by the micro-panels of the first n columns of a panel. */
static void multiply_columns(const struct packed_matrix *packed_b,
                             const struct panel_product *product, size_t n)
{
    size_t columns = packed_b->nr_groups * PANEL_GROUP;
    const unsigned char *weights = (const unsigned char *)packed_b->data +
                                   (product->panel - packed_b->first_panel) * packed_b->panel_bytes;

    for (size_t column = 0; column < n; column += columns) {
        if (product->rows <= packed_b->max_mr)
            multiply_tile(packed_b, product->rows,
                          &(struct gemm_args){
                              .b = weights,
                              .a = product->a,
                              .lda = product->lda,
                              .add = product->add + column,
                              .ld_add = product->ld_add,
                              .c = product->c + column,
                              .ldc = product->ldc,
                          });
        else
            multiply_micropanel(packed_b, product, weights, column);
        weights += packed_b->micropanel_bytes;
    }
}

void packed_gemm_panel(const struct packed_matrix *packed_b, const struct panel_product *product)
{
    multiply_columns(packed_b, product, packed_b->width * PANEL_GROUP);
}

/* Rows multiplied at a time: their part of A stays in L2 for all panels. */
#define MC 96

static const float zeros[PANEL_MAX_WIDTH * PANEL_GROUP];

/* Computes the last columns. Its micro-panel may be wider than the rest of C, so rows are computed
 * in a buffer. */
static void multiply_last(const struct packed_matrix *packed_b, struct panel_product product,
                          size_t n)
{
    float tile[GEMM_MAX_MR * PANEL_MAX_WIDTH * PANEL_GROUP], *c = product.c;
    const float *add = product.add;
    size_t ldc = product.ldc, ld_add = product.ld_add, n_rows = product.rows;

    product.add = product.c = tile;
    product.ld_add = product.ldc = packed_b->width * PANEL_GROUP;
    for (size_t row = 0; row < n_rows; row += product.rows) {
        product.rows = n_rows - row < packed_b->max_mr ? n_rows - row : packed_b->max_mr;
        for (size_t r = 0; r < product.rows; r++) {
            memcpy(tile + r * product.ldc, add + (row + r) * ld_add, n * sizeof *c);
            memset(tile + r * product.ldc + n, 0, (product.ldc - n) * sizeof *c);
        }
        multiply_columns(packed_b, &product, n);
        for (size_t r = 0; r < product.rows; r++)
            memcpy(c + (row + r) * ldc, tile + r * product.ldc, n * sizeof *c);
        product.a += product.rows * product.lda;
    }
}

/* Runs the epilogue of some rows, in one call if the rows are contiguous. */
static void run_epilogue(const struct packed_gemm *matrix, size_t columns, size_t row, size_t rows)
{
    size_t begin = matrix->begin * columns, end = matrix->end * columns;
    size_t first = matrix->first + row * matrix->ldc + begin;

    if (begin >= matrix->n || !matrix->epilogue || !matrix->epilogue->fused)
        return;
    size_t n = (end < matrix->n ? end : matrix->n) - begin;
    if (n == matrix->ldc)
        epilogue_run(matrix->epilogue, first, rows * n);
    else
        for (size_t r = 0; r < rows; r++)
            epilogue_run(matrix->epilogue, first + r * matrix->ldc, n);
}

/* Some rows of a product, and the a of its first terms. */
struct row_block {
    size_t first, n;
    const float *a;
    size_t lda;
    bool is_added; /* to c; otherwise to the bias */
};

static void multiply_panels(const struct packed_matrix *packed_b, const struct packed_gemm *matrix,
                            const struct row_block *rows)
{
    size_t columns = packed_b->width * PANEL_GROUP;
    const float *bias = matrix->epilogue ? matrix->epilogue->bias : NULL;

    for (size_t panel = matrix->begin; panel < matrix->end; panel++) {
        struct panel_product product = {
            .panel = panel,
            .rows = rows->n,
            .a = rows->a,
            .lda = rows->lda,
            .add = bias ? bias + panel * columns : zeros,
            .c = matrix->c + rows->first * matrix->ldc + panel * columns,
            .ldc = matrix->ldc,
        };
        if (rows->is_added) {
            product.add = product.c;
            product.ld_add = product.ldc;
        }
        size_t left = matrix->n - panel * columns, n = left < columns ? left : columns;
        if (n % (packed_b->nr_groups * PANEL_GROUP) != 0)
            multiply_last(packed_b, product, n);
        else
            multiply_columns(packed_b, &product, n);
    }
}

/* Rows that are rounded at a time, of GEMM_MAX_KC terms in pairs, with a stride that is an odd
 * number of cache lines. With more rows, this buffer would not stay in an L1 cache. */
#define ROUNDED_ROWS 32
#define ROUNDED_FLOATS (ROUNDED_ROWS * (GEMM_MAX_KC / 2 + PANEL_GROUP))

static size_t rounded_stride(const struct packed_matrix *packed_b)
{
    size_t n_pairs = (packed_b->kc + packed_b->step_k - 1) / packed_b->step_k;
    return ((n_pairs + PANEL_GROUP - 1) / PANEL_GROUP | 1) * PANEL_GROUP;
}

/* Rounds kc terms of the rows at a time, and multiplies them. */
static void multiply_rounded(const struct packed_matrix *packed_b, const struct packed_gemm *matrix,
                             struct row_block rows)
{
    float rounded[ROUNDED_FLOATS];
    struct packed_matrix part = *packed_b;
    const float *a = rows.a;
    size_t lda = rows.lda, first = 0;

    rows.a = rounded;
    rows.lda = rounded_stride(packed_b);
    do {
        part.k = packed_b->k - first < packed_b->kc ? packed_b->k - first : packed_b->kc;
        part.data =
            (const unsigned char *)packed_b->data + first / packed_b->step_k * packed_b->step_bytes;
        for (size_t r = 0; r < rows.n; r++)
            packed_b->round(a + r * lda + first, rounded + r * rows.lda, part.k);
        rows.is_added = first > 0;
        multiply_panels(&part, matrix, &rows);
        first += part.k;
    } while (first < packed_b->k);
}

void packed_gemm(const struct packed_matrix *packed_b, const struct packed_gemm *matrix)
{
    size_t most = MC;

    if (packed_b->round && most > ROUNDED_FLOATS / rounded_stride(packed_b))
        most = ROUNDED_FLOATS / rounded_stride(packed_b);
    for (size_t row = 0; row < matrix->m; row += most) {
        struct row_block rows = {.first = row,
                                 .n = matrix->m - row < most ? matrix->m - row : most,
                                 .a = matrix->a + row * matrix->lda,
                                 .lda = matrix->lda};
        if (packed_b->round)
            multiply_rounded(packed_b, matrix, rows);
        else
            multiply_panels(packed_b, matrix, &rows);
        run_epilogue(matrix, packed_b->width * PANEL_GROUP, row, rows.n);
    }
}
