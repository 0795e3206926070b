/* Packs constant matrices, and cuts a product into the tiles that a level has.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/panels.h"

#include <string.h>

#include "base/checked.h"
#include "kernels/panel_transpose.h"
#include "tensor/half.h"

/* Sums run over at most so many k before they are added to what is there: 1024 products in one f32
 * sum would come close to the error that a recurrent run may have. */
#define BLOCK_K 512

#define FEW_ROWS 2

/* The widest stream of which there is a tile with so many rows. */
static size_t choose_stream(const struct panel_kernels *kernels, size_t width, size_t rows)
{
    size_t stream = width;
    rows = rows < PANEL_MAX_ROWS ? rows : PANEL_MAX_ROWS;
    while (stream > 1 && (width % stream != 0 || !kernels->f32[stream][rows]))
        stream--;
    return stream;
}

static size_t element_bytes(const struct panels *panels)
{
    return panels->is_f16 ? sizeof(uint16_t) : sizeof(float);
}

bool panels_finish(struct panels *panels, const struct panel_kernels *kernels, size_t rows,
                   size_t *size_bytes)
{
    size_t n_blocks = panels->k / BLOCK_K + (panels->k % BLOCK_K != 0);

    if (panels->is_f16 && rows <= FEW_ROWS && kernels->for_few_f16_rows)
        kernels = kernels->for_few_f16_rows;
    panels->stream = choose_stream(kernels, panels->width, rows);
    memcpy(panels->tiles, (panels->is_f16 ? kernels->f16 : kernels->f32)[panels->stream],
           sizeof panels->tiles);
    panels->max_rows = 1;
    while (panels->max_rows < PANEL_MAX_ROWS && panels->tiles[panels->max_rows + 1])
        panels->max_rows++;
    panels->step_bytes = panels->stream * PANEL_GROUP * element_bytes(panels);
    panels->block_k = n_blocks > 1 ? (panels->k + n_blocks - 1) / n_blocks : panels->k;
    return checked_mul(panels->step_bytes, panels->k, &panels->stream_bytes) &&
           checked_mul(panels->width / panels->stream, panels->stream_bytes,
                       &panels->panel_bytes) &&
           checked_mul(panels->n_panels, panels->panel_bytes, size_bytes);
}

/* Some columns, or some elements of each: the rest of the block is zero. */
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

/* Rows of a source that may be misaligned become columns. Sixteen elements of a row of f32 are a
 * line: they are copied at once, so that every line of the source is fetched once. */
static void pack_rows(const struct panels *panels, unsigned char *to, const unsigned char *from,
                      size_t from_step, size_t n_columns)
{
    size_t size = element_bytes(panels);

    for (size_t left = panels->k; left > 0;) {
        size_t n = left < PANEL_GROUP ? left : PANEL_GROUP;
        if (n_columns == PANEL_GROUP && n == PANEL_GROUP)
            (panels->is_f16 ? panel_transpose_f16 : panel_transpose_f32)(from, from_step, to,
                                                                         panels->step_bytes);
        else
            pack_edge(to, panels->step_bytes, from, from_step, n_columns, n, size);
        left -= n;
        to += n * panels->step_bytes;
        from += n * size;
    }
}

/* So many elements of each column are widened at a time. */
#define WIDENED 64

/* The same from f16 for panels of f32. */
static void pack_widened(const struct panels *panels, unsigned char *to, const unsigned char *from,
                         size_t from_step, size_t n_columns)
{
    float block[PANEL_GROUP][WIDENED];
    struct panels part = *panels;

    for (size_t first = 0; first < panels->k; first += WIDENED) {
        part.k = panels->k - first < WIDENED ? panels->k - first : WIDENED;
        for (size_t j = 0; j < n_columns; j++)
            f16_to_f32_n(from + j * from_step + first * sizeof(uint16_t), block[j], part.k);
        pack_rows(&part, to + first * panels->step_bytes, (const unsigned char *)block,
                  sizeof block[0], n_columns);
    }
}

/* Where a group of columns begins, in bytes. */
static size_t group_at(const struct panels *panels, size_t panel, size_t group)
{
    return panel * panels->panel_bytes + group / panels->stream * panels->stream_bytes +
           group % panels->stream * PANEL_GROUP * element_bytes(panels);
}

void panels_pack_group(const struct panels *panels, void *data, size_t panel, size_t group,
                       const void *source, bool is_f16_source, size_t ld, size_t n_columns)
{
    unsigned char *to = (unsigned char *)data + group_at(panels, panel, group);

    if (is_f16_source && !panels->is_f16)
        pack_widened(panels, to, source, ld * sizeof(uint16_t), n_columns);
    else
        pack_rows(panels, to, source, ld * element_bytes(panels), n_columns);
}

void panels_pack_columns(const struct panels *panels, void *data, size_t panel, size_t group,
                         const void *source, bool is_f16_source, size_t ld, size_t n_columns)
{
    size_t group_bytes = PANEL_GROUP * element_bytes(panels);
    size_t source_bytes = is_f16_source ? sizeof(uint16_t) : sizeof(float);
    unsigned char *to = (unsigned char *)data + group_at(panels, panel, group);
    const unsigned char *from = source;

    for (size_t k = 0; k < panels->k; k++) {
        memset(to, 0, group_bytes);
        if (is_f16_source && !panels->is_f16)
            f16_to_f32_n(from, to, n_columns);
        else
            memcpy(to, from, n_columns * source_bytes);
        to += panels->step_bytes;
        from += ld * source_bytes;
    }
}

/* One tile over all of k. */
static void multiply_tile(const struct panels *panels, size_t rows, struct panel_tile *tile)
{
    panel_tile_fn *run = panels->tiles[rows];
    size_t left = panels->k;

    tile->k = panels->block_k;
    run(tile);
    while (left > panels->block_k) {
        left -= panels->block_k;
        tile->weights = (const unsigned char *)tile->weights + panels->block_k * panels->step_bytes;
        tile->a += panels->block_k;
        tile->k = left < panels->block_k ? left : panels->block_k;
        tile->add = tile->c;
        tile->ld_add = tile->ldc;
        run(tile);
    }
}

/* All rows of one stream, in tiles of nearly one size. */
static void multiply_stream(const struct panels *panels, const struct panel_product *product,
                            const unsigned char *weights, size_t column)
{
    size_t n_tiles = (product->rows + panels->max_rows - 1) / panels->max_rows, row = 0;

    for (size_t left = n_tiles; left > 0; left--) {
        size_t rows = (product->rows - row + left - 1) / left;
        multiply_tile(panels, rows,
                      &(struct panel_tile){
                          .weights = weights,
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

void panels_multiply(const struct panels *panels, const struct panel_product *product)
{
    size_t n_columns = panels->width * PANEL_GROUP, columns = panels->stream * PANEL_GROUP;
    const unsigned char *weights =
        (const unsigned char *)panels->data + product->panel * panels->panel_bytes;

    for (size_t column = 0; column < n_columns; column += columns) {
        if (product->rows <= panels->max_rows)
            multiply_tile(panels, product->rows,
                          &(struct panel_tile){
                              .weights = weights,
                              .a = product->a,
                              .lda = product->lda,
                              .add = product->add + column,
                              .ld_add = product->ld_add,
                              .c = product->c + column,
                              .ldc = product->ldc,
                          });
        else
            multiply_stream(panels, product, weights, column);
        weights += panels->stream_bytes;
    }
}

/* Rows at a time: their part of a stays in L2 while all panels pass. */
#define MATRIX_ROWS 96

static const float zeros[PANEL_MAX_WIDTH * PANEL_GROUP];

/* The last panel may be wider than what is left of c: its rows take a detour. */
static void multiply_last(const struct panels *panels, struct panel_product product, size_t n)
{
    float tile[PANEL_MAX_ROWS * PANEL_MAX_WIDTH * PANEL_GROUP], *c = product.c;
    float add[PANEL_MAX_WIDTH * PANEL_GROUP] = {0};
    size_t ldc = product.ldc, n_rows = product.rows;

    memcpy(add, product.add, n * sizeof *add);
    product.add = add;
    product.c = tile;
    product.ldc = panels->width * PANEL_GROUP;
    for (size_t row = 0; row < n_rows; row += product.rows) {
        product.rows = n_rows - row < panels->max_rows ? n_rows - row : panels->max_rows;
        panels_multiply(panels, &product);
        for (size_t r = 0; r < product.rows; r++)
            memcpy(c + (row + r) * ldc, tile + r * product.ldc, n * sizeof *c);
        product.a += product.rows * product.lda;
    }
}

/* The epilogue of some rows: in one piece where they lie without a gap. */
static void run_epilogue(const struct panel_matrix *matrix, size_t columns, size_t row, size_t rows)
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

void panels_multiply_matrix(const struct panels *panels, const struct panel_matrix *matrix)
{
    size_t columns = panels->width * PANEL_GROUP;
    const float *bias = matrix->epilogue ? matrix->epilogue->bias : NULL;

    for (size_t row = 0; row < matrix->m; row += MATRIX_ROWS) {
        size_t rows = matrix->m - row < MATRIX_ROWS ? matrix->m - row : MATRIX_ROWS;
        for (size_t panel = matrix->begin; panel < matrix->end; panel++) {
            struct panel_product product = {
                .panel = panel,
                .rows = rows,
                .a = matrix->a + row * matrix->lda,
                .lda = matrix->lda,
                .add = bias ? bias + panel * columns : zeros,
                .c = matrix->c + row * matrix->ldc + panel * columns,
                .ldc = matrix->ldc,
            };
            size_t left = matrix->n - panel * columns;
            if (left < columns)
                multiply_last(panels, product, left);
            else
                panels_multiply(panels, &product);
        }
        run_epilogue(matrix, columns, row, rows);
    }
}
