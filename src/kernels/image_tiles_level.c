/* The tiles of image_tiles.h for every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

#define TILE_MAX_VECTORS 8

/* The bits of vector v: whether its lanes count. */
ALWAYS_INLINE unsigned lane_bits(const unsigned char *mask, size_t v)
{
    size_t first = v * VECTOR_LANES;
    unsigned lanes = mask[first / 8];
    if (VECTOR_LANES > 8)
        lanes |= (unsigned)mask[first / 8 + 1] << 8;
    return lanes >> first % 8 & ((1U << VECTOR_LANES) - 1);
}

/* Vector v of a piece, which may begin before the image where its mask says so. */
ALWAYS_INLINE vec load_piece(const struct image_tile *tile, const struct image_piece *piece,
                             size_t v, enum image_tile_kind kind)
{
    intptr_t distance = (intptr_t)piece->offset * (intptr_t)sizeof(float);
    const void *at = (const void *)((uintptr_t)tile->image + (uintptr_t)distance +
                                    v * VECTOR_LANES * sizeof(float));
    const unsigned char *mask = tile->masks + piece->mask;
    if (kind == TILE_EDGE)
        return vec_load_where(at, lane_bits(mask, v));
    return kind == TILE_MASKED ? vec_where(vec_load(at), lane_bits(mask, v)) : vec_load(at);
}

/* n_rows, n_vectors and kind are constants wherever this is used. */
ALWAYS_INLINE void run_image_tile(const struct image_tile *tile, size_t n_rows, size_t n_vectors,
                                  enum image_tile_kind kind)
{
    vec sums[IMAGE_MAX_ROWS][TILE_MAX_VECTORS], pixels[TILE_MAX_VECTORS];
    const float *weights = tile->weights;

    UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            sums[r][v] = vec_zero();
    }
    for (size_t k = 0; k < tile->k; k++, weights += n_rows) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            pixels[v] = load_piece(tile, tile->pieces + k, v, kind);
        UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            vec weight = vec_set1(weights[r]);
            UNROLL
            for (size_t v = 0; v < n_vectors; v++)
                sums[r][v] = vec_fma(weight, pixels[v], sums[r][v]);
        }
    }
    UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++) {
            float *to = tile->sums + (r * n_vectors + v) * VECTOR_LANES;
            vec sum = tile->is_added ? vec_add(vec_load(to), sums[r][v]) : sums[r][v];
            vec_store(to, tile->starts ? vec_add(vec_set1(tile->starts[r]), sum) : sum);
        }
    }
}

/* Of the registers rows * vectors are sums, the pixels take as many as there are vectors, and one
 * the weight; a tile has a multiple of 8 positions. */
#if VECTOR_REGISTERS == 32 && VECTOR_LANES == 16
#define TILES(X)                                                                                   \
    X(1, 8)                                                                                        \
    X(2, 6) X(3, 6) X(4, 4) X(5, 4) X(6, 4) X(7, 3) X(8, 3) X(9, 2) X(10, 2) X(11, 2) X(12, 2)
#elif VECTOR_REGISTERS == 16 && VECTOR_LANES == 8
#define TILES(X) X(1, 7) X(2, 4) X(3, 3) X(4, 2) X(5, 2) X(6, 2)
#else
#define TILES(X) X(1, 6) X(2, 4) X(3, 2) X(4, 2) X(5, 2) X(6, 2)
#endif

#define DEFINE_TILE(rows, vectors)                                                                 \
    static void whole_##rows(const struct image_tile *tile)                                        \
    {                                                                                              \
        run_image_tile(tile, rows, vectors, TILE_WHOLE);                                           \
    }                                                                                              \
    static void masked_##rows(const struct image_tile *tile)                                       \
    {                                                                                              \
        run_image_tile(tile, rows, vectors, TILE_MASKED);                                          \
    }                                                                                              \
    static void edge_##rows(const struct image_tile *tile)                                         \
    {                                                                                              \
        run_image_tile(tile, rows, vectors, TILE_EDGE);                                            \
    }
TILES(DEFINE_TILE)

#define WHOLE_ENTRY(rows, vectors) [rows] = whole_##rows,
#define MASKED_ENTRY(rows, vectors) [rows] = masked_##rows,
#define EDGE_ENTRY(rows, vectors) [rows] = edge_##rows,
#define WIDTH_ENTRY(rows, vectors) [rows] = (vectors)*VECTOR_LANES,

const struct image_tiles LEVEL_NAME(image_tiles, LEVEL) = {
    .tiles = {{TILES(WHOLE_ENTRY)}, {TILES(MASKED_ENTRY)}, {TILES(EDGE_ENTRY)}},
    .widths = {TILES(WIDTH_ENTRY)},
};
