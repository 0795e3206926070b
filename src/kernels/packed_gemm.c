/* Multiplies by a packed matrix: splits the product into tiles for the micro-kernels of a level.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "kernels/packed_gemm.h"

/* The number of rows multiplied at a time; their part of A stays in L2 while all panels are
 * read. */
#define MC 144

static void skip_terms(const struct packed_matrix *packed_b, struct gemm_args *args, size_t n)
{
    n /= packed_b->step_k;
    args->b = (const unsigned char *)args->b + n * packed_b->step_bytes;
    args->a += n;
}

/* The prefetch distance in bytes. Micro-kernels of several rows consume cache lines faster than L3
 * delivers them. A distance of 16 KB is as fast. For a matrix in L2, prefetching takes up to 10 %
 * of the time. */
#define PREFETCH_AHEAD 8192

static void run_microkernel(const struct packed_matrix *packed_b, const struct gemm_args *args)
{
    (packed_b->tiles ? packed_b->tiles->multiply[args->n_groups]
                     : packed_b->microkernels[args->rows])(args);
}

/* Multiplies all rows by the same terms of a micro-panel. Micro-kernels take nearly equal numbers
 * of rows. AMX tiles take 16 rows until fewer are left, which take the same time. The second call
 * prefetches the weights that follow these terms. */
static void multiply_tiles(const struct packed_matrix *packed_b, size_t rows,
                           const struct gemm_args *first)
{
    struct gemm_args args = *first;

    for (size_t n = divide_up(rows, packed_b->max_mr); n > 0; n--) {
        args.rows = packed_b->tiles && n > 1 ? TILE_ROWS : divide_up(rows, n);
        run_microkernel(packed_b, &args);
        rows -= args.rows;
        args.ahead =
            args.ahead == PREFETCH_AHEAD ? args.k / packed_b->step_k * packed_b->step_bytes : 0;
        args.a += args.rows * args.lda;
        args.add += args.rows * args.ld_add;
        args.c += args.rows * args.ldc;
    }
}

/* Multiplies all rows by a micro-panel. */
static void multiply_micropanel(const struct packed_matrix *packed_b, struct gemm_args *args)
{
    for (size_t left = packed_b->k;; left -= args->k) {
        args->k = left < packed_b->kc ? left : packed_b->kc;
        if (args->rows <= packed_b->max_mr)
            run_microkernel(packed_b, args);
        else
            multiply_tiles(packed_b, args->rows, args);
        if (left == args->k)
            return;
        skip_terms(packed_b, args, args->k);
        args->add = args->c;
        args->ld_add = args->ldc;
    }
}

/* Multiplies by the first n columns of a panel: by one micro-panel after another or, with AMX
 * tiles, by all groups at once. */
static void multiply_columns(const struct packed_matrix *packed_b,
                             const struct panel_product *product, size_t n)
{
    size_t n_groups = packed_b->tiles ? divide_up(n, PANEL_GROUP) : packed_b->nr_groups;
    size_t columns = n_groups * PANEL_GROUP;
    const unsigned char *weights = (const unsigned char *)packed_b->data +
                                   (product->panel - packed_b->first_panel) * packed_b->panel_bytes;

    for (size_t column = 0; column < n; column += columns) {
        multiply_micropanel(packed_b, &(struct gemm_args){
                                          .rows = product->rows,
                                          .ahead = packed_b->prefetches ? PREFETCH_AHEAD : 0,
                                          .n_groups = n_groups,
                                          .b = weights,
                                          .b_group_bytes = packed_b->micropanel_bytes,
                                          .a = product->a,
                                          .lda = product->lda,
                                          .add = product->add + column,
                                          .ld_add = product->ld_add,
                                          .c = product->c + column,
                                          .ldc = product->ldc,
                                      });
        weights += packed_b->micropanel_bytes;
    }
}

void packed_gemm_panel(const struct packed_matrix *packed_b, const struct panel_product *product)
{
    multiply_columns(packed_b, product, packed_b->width * PANEL_GROUP);
}

void packed_gemm_end(const struct packed_matrix *packed_b)
{
    if (packed_b->tiles)
        packed_b->tiles->end();
}

static const float zeros[PANEL_MAX_WIDTH * PANEL_GROUP];

/* Computes the last n columns of C. Their micro-panel may be wider than n, so rows are computed in
 * a buffer. */
static void multiply_last(const struct packed_matrix *packed_b, struct panel_product product,
                          size_t n)
{
    float tile[TILE_ROWS * PANEL_MAX_WIDTH * PANEL_GROUP], *c = product.c;
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

/* Runs the epilogue on the computed columns of some rows, in one call if the rows are
 * contiguous. */
static void run_epilogue(const struct packed_gemm *gemm, size_t columns, size_t row, size_t rows)
{
    size_t begin = gemm->begin * columns, end = gemm->end * columns;
    size_t first = gemm->first + row * gemm->ldc + begin;

    if (begin >= gemm->n || !gemm->epilogue || !gemm->epilogue->fused)
        return;
    size_t n = (end < gemm->n ? end : gemm->n) - begin;
    if (n == gemm->ldc)
        epilogue_run(gemm->epilogue, first, rows * n);
    else
        for (size_t r = 0; r < rows; r++)
            epilogue_run(gemm->epilogue, first + r * gemm->ldc, n);
}

/* n rows of a product, from row `first` on. */
struct row_block {
    size_t first, n;
    const float *a; /* row `first` of A */
    size_t lda;
    bool is_added; /* adds the product to c; otherwise to the bias */
};

static void multiply_panels(const struct packed_matrix *packed_b, const struct packed_gemm *gemm,
                            const struct row_block *rows)
{
    size_t columns = packed_b->width * PANEL_GROUP;
    const float *bias = gemm->epilogue ? gemm->epilogue->bias : NULL;

    for (size_t panel = gemm->begin; panel < gemm->end; panel++) {
        struct panel_product product = {
            .panel = panel,
            .rows = rows->n,
            .a = rows->a,
            .lda = rows->lda,
            .add = bias ? bias + panel * columns : zeros,
            .c = gemm->c + rows->first * gemm->ldc + panel * columns,
            .ldc = gemm->ldc,
        };
        if (rows->is_added) {
            product.add = product.c;
            product.ld_add = product.ldc;
        }
        size_t left = gemm->n - panel * columns, n = left < columns ? left : columns;
        if (n % (packed_b->nr_groups * PANEL_GROUP) != 0)
            multiply_last(packed_b, product, n);
        else
            multiply_columns(packed_b, &product, n);
    }
}

/* The buffer of rounded rows, each of up to GEMM_MAX_KC terms in pairs. Their stride is an odd
 * number of cache lines. With more rows, the buffer would not stay in an L1 cache. */
#define ROUNDED_ROWS 32
#define ROUNDED_FLOATS (ROUNDED_ROWS * (GEMM_MAX_KC / 2 + PANEL_GROUP))

static size_t rounded_stride(const struct packed_matrix *packed_b)
{
    size_t n_pairs = (packed_b->kc + packed_b->step_k - 1) / packed_b->step_k;
    return ((n_pairs + PANEL_GROUP - 1) / PANEL_GROUP | 1) * PANEL_GROUP;
}

/* Rounds kc terms of all rows at a time, and multiplies them. */
static void multiply_rounded(const struct packed_matrix *packed_b, const struct packed_gemm *gemm,
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
        rows.is_added = gemm->is_added || first > 0;
        multiply_panels(&part, gemm, &rows);
        first += part.k;
    } while (first < packed_b->k);
}

void packed_gemm(const struct packed_matrix *packed_b, const struct packed_gemm *gemm)
{
    size_t max_rows = MC;

    if (packed_b->round && max_rows > ROUNDED_FLOATS / rounded_stride(packed_b))
        max_rows = ROUNDED_FLOATS / rounded_stride(packed_b);
    for (size_t row = 0; row < gemm->m; row += max_rows) {
        struct row_block rows = {.first = row,
                                 .n = gemm->m - row < max_rows ? gemm->m - row : max_rows,
                                 .a = gemm->a + row * gemm->lda,
                                 .lda = gemm->lda,
                                 .is_added = gemm->is_added};
        if (packed_b->round)
            multiply_rounded(packed_b, gemm, rows);
        else
            multiply_panels(packed_b, gemm, &rows);
        run_epilogue(gemm, packed_b->width * PANEL_GROUP, row, rows.n);
    }
    packed_gemm_end(packed_b);
}
