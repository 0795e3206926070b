/* The tiles of image_tiles.h, written once for vectors of any length, in the words of
 * vector_<level>.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/image_tiles.h"

#ifndef VECTOR_LANES
#error "include the words of a level before: kernels/vector_<level>.h"
#endif

/* Loops over rows and vectors must vanish, or the accumulators would live in memory. */
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define TILE_MAX_VECTORS 8

/* The bits of vector v: whether its lanes count. */
ALWAYS_INLINE unsigned lane_bits(const unsigned char *mask, size_t v)
{
    size_t first = v * VECTOR_LANES;
    unsigned bits = mask[first / 8];
    if (VECTOR_LANES > 8)
        bits |= (unsigned)mask[first / 8 + 1] << 8;
    return bits >> first % 8 & ((1U << VECTOR_LANES) - 1);
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

/* A file image_tiles_<level>.c lists its tiles as TILES(X), X(rows, vectors), from one row on. */
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
#define WHOLE_ENTRY(rows, vectors) [rows] = whole_##rows,
#define MASKED_ENTRY(rows, vectors) [rows] = masked_##rows,
#define EDGE_ENTRY(rows, vectors) [rows] = edge_##rows,
#define WIDTH_ENTRY(rows, vectors) [rows] = (vectors)*VECTOR_LANES,

#define IMAGE_TILES                                                                                \
    {                                                                                              \
        {{TILES(WHOLE_ENTRY)}, {TILES(MASKED_ENTRY)}, {TILES(EDGE_ENTRY)}},                        \
        {                                                                                          \
            TILES(WIDTH_ENTRY)                                                                     \
        }                                                                                          \
    }
