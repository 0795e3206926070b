/* Packs constant matrices, and cuts a product into the tiles that a level has.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/panels.h"

#include <string.h>

#include "base/checked.h"
#include "tensor/half.h"

/* Sums run over at most so many k before they are added to what is there: 1024 products in one f32 sum
 * would come close to the error that a recurrent run may have. */
#define BLOCK_K 512

size_t panels_stream(const struct panel_kernels *kernels, size_t width, size_t rows)
{
    size_t most = kernels->widest_stream[rows < PANEL_MAX_ROWS ? rows : PANEL_MAX_ROWS];
    size_t stream = most < width ? most : width;
    while (width % stream != 0)
        stream--;
    return stream;
}

static size_t element_bytes(const struct panels *panels)
{
    return panels->is_f16 ? sizeof(uint16_t) : sizeof(float);
}

bool panels_bytes(const struct panels *panels, size_t *size_bytes)
{
    size_t columns;
    return checked_mul(panels->n_panels, panels->width * PANEL_GROUP, &columns) &&
           checked_mul(columns, panels->k, &columns) &&
           checked_mul(columns, element_bytes(panels), size_bytes);
}

/* Where the elements of a stream of a panel begin, in bytes. */
static size_t stream_at(const struct panels *panels, size_t panel, size_t stream)
{
    return (panel * panels->width + stream * panels->stream) * panels->k * PANEL_GROUP *
           element_bytes(panels);
}

/* Columns of f32 from rows of a source that may be misaligned. Sixteen elements of a row are a line: they
 * are copied at once, so that every line of the source is fetched once. */
static void pack_f32(unsigned char *to, size_t to_step, const unsigned char *from,
                     bool is_f16_source, size_t ld, size_t n_columns, size_t k)
{
    float line[PANEL_GROUP], block[PANEL_GROUP][PANEL_GROUP] = {{0}};
    for (size_t first = 0; first < k; first += PANEL_GROUP) {
        size_t n = k - first < PANEL_GROUP ? k - first : PANEL_GROUP;
        for (size_t j = 0; j < n_columns; j++) {
            if (is_f16_source)
                f16_to_f32_n(from + (j * ld + first) * sizeof(uint16_t), line, n);
            else
                memcpy(line, from + (j * ld + first) * sizeof(float), n * sizeof(float));
            for (size_t i = 0; i < n; i++)
                block[i][j] = line[i];
        }
        for (size_t i = 0; i < n; i++)
            memcpy(to + (first + i) * to_step, block[i], sizeof block[i]);
    }
}

static void pack_f16(unsigned char *to, size_t to_step, const unsigned char *from, size_t ld,
                     size_t n_columns, size_t k)
{
    uint16_t line[PANEL_GROUP], block[PANEL_GROUP][PANEL_GROUP] = {{0}};
    for (size_t first = 0; first < k; first += PANEL_GROUP) {
        size_t n = k - first < PANEL_GROUP ? k - first : PANEL_GROUP;
        for (size_t j = 0; j < n_columns; j++) {
            memcpy(line, from + (j * ld + first) * sizeof *line, n * sizeof *line);
            for (size_t i = 0; i < n; i++)
                block[i][j] = line[i];
        }
        for (size_t i = 0; i < n; i++)
            memcpy(to + (first + i) * to_step, block[i], sizeof block[i]);
    }
}

void panels_pack_group(const struct panels *panels, void *data, size_t panel, size_t group,
                       const void *source, bool is_f16_source, size_t ld, size_t n_columns)
{
    size_t group_bytes = PANEL_GROUP * element_bytes(panels);
    size_t step = panels->stream * group_bytes;
    unsigned char *to = (unsigned char *)data + stream_at(panels, panel, group / panels->stream) +
                        group % panels->stream * group_bytes;
    if (panels->is_f16)
        pack_f16(to, step, source, ld, n_columns, panels->k);
    else
        pack_f32(to, step, source, is_f16_source, ld, n_columns, panels->k);
}

/* One tile over all of k. */
static void multiply_tile(panel_tile_fn *run, const struct panels *panels, struct panel_tile tile)
{
    size_t step_bytes = panels->stream * PANEL_GROUP * element_bytes(panels);
    size_t n_blocks = (panels->k + BLOCK_K - 1) / BLOCK_K;
    size_t block = n_blocks > 1 ? (panels->k + n_blocks - 1) / n_blocks : panels->k;

    tile.k = block;
    run(&tile);
    for (size_t k = block; k < panels->k; k += block) {
        tile.k = panels->k - k < block ? panels->k - k : block;
        tile.weights = (const unsigned char *)tile.weights + block * step_bytes;
        tile.a += block;
        tile.add = tile.c;
        tile.ld_add = tile.ldc;
        run(&tile);
    }
}

void panels_multiply(const struct panel_kernels *kernels, const struct panels *panels,
                     const struct panel_product *product)
{
    panel_tile_fn *const *tiles = (panels->is_f16 ? kernels->f16 : kernels->f32)[panels->stream];
    const unsigned char *data = panels->data;
    size_t most = 1;
    while (most < PANEL_MAX_ROWS && tiles[most + 1] != NULL)
        most++;
    size_t n_tiles = (product->rows + most - 1) / most;

    for (size_t s = 0; s < panels->width / panels->stream; s++) {
        size_t column = s * panels->stream * PANEL_GROUP, row = 0;
        for (size_t t = 0; t < n_tiles; t++) {
            size_t left = n_tiles - t, rows = (product->rows - row + left - 1) / left;
            multiply_tile(tiles[rows], panels,
                          (struct panel_tile){
                              .weights = data + stream_at(panels, product->panel, s),
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
}
