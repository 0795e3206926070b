/* The tiles of image_tiles.h, written once for vectors of any length, in the words of vector_<level>.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/image_tiles.h"

#ifdef VECTOR_LANES

/* Loops over rows and vectors must vanish, or the accumulators would live in memory. */
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define TILE_MAX_VECTORS 8

/* n_rows and n_vectors are constants wherever this is used. */
ALWAYS_INLINE void run_image_tile(const struct image_tile *tile, size_t n_rows, size_t n_vectors)
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
        const float *image = tile->image + tile->offsets[k];
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            pixels[v] = vec_load(image + v * VECTOR_LANES);
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
    static void tile_##rows(const struct image_tile *tile)                                         \
    {                                                                                              \
        run_image_tile(tile, rows, vectors);                                                       \
    }
#define TILE_ENTRY(rows, vectors) [rows] = tile_##rows,
#define WIDTH_ENTRY(rows, vectors) [rows] = (vectors)*VECTOR_LANES,

#endif
