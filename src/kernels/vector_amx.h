/* The vector functions of AVX-512 with BF16, and tiles of AMX, which multiply 16 rows of pairs of
 * bf16 at a time. See level.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_AMX_H
#define IRRUN_KERNELS_VECTOR_AMX_H

#include "kernels/vector_bf16.h"

#ifdef __AMX_BF16__
#define VECTOR_HAS_TILES

#define TILE_ROWS 16
#define TILE_PAIRS 16 /* of a row */

/* The tiles: 0 to 2 have sums, 3 factors, 4 weights, a pair of factors in a row. 5 and 6 are 3 and
 * 4 with fewer pairs. */
#define TILE_FACTORS 3
#define TILE_WEIGHTS 4
#define TILE_LAST_FACTORS 5
#define TILE_LAST_WEIGHTS 6
#define N_TILES 7

/* The operand of LDTILECFG. */
struct tile_configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* Prepares the tiles of this thread for products of runs of pairs, at least one, which end with
 * fewer than 16. */
static inline void tiles_begin(size_t run)
{
    struct tile_configuration tiles = {.palette = 1};
    size_t last = run % TILE_PAIRS > 0 ? run % TILE_PAIRS : TILE_PAIRS;
    for (size_t i = 0; i < N_TILES; i++) {
        tiles.row_bytes[i] = (uint16_t)(4 * (i == TILE_LAST_FACTORS ? last : TILE_PAIRS));
        tiles.rows[i] = (uint8_t)(i == TILE_LAST_WEIGHTS ? last : TILE_ROWS);
    }
    __asm__ volatile("ldtilecfg %0" : : "m"(tiles)); /* gcc's function reads 8 bytes only */
}

/* Ends what tiles_begin began, and the system need not save the tiles any more. */
static inline void tiles_end(void)
{
    __asm__ volatile("tilerelease");
}

/* The numbers of tiles are constants of the instructions. */
#define EACH_SUM(X, n)                                                                             \
    do {                                                                                           \
        X(0);                                                                                      \
        if ((n) > 1)                                                                               \
            X(1);                                                                                  \
        if ((n) > 2)                                                                               \
            X(2);                                                                                  \
    } while (0)

/* Begin the sums with `from`, rows stride_bytes apart (0: the same for all), NULL: zeros. */
ALWAYS_INLINE void tiles_load(const float *from, size_t stride_bytes, size_t n_sums)
{
#define LOAD_SUM(i) _tile_loadd(i, from + (i)*VECTOR_LANES, stride_bytes)
    if (from)
        EACH_SUM(LOAD_SUM, n_sums);
    else
        EACH_SUM(_tile_zero, n_sums);
}

ALWAYS_INLINE void tiles_store(float *to, size_t stride_bytes, size_t n_sums)
{
#define STORE_SUM(i) _tile_stored(i, to + (i)*VECTOR_LANES, stride_bytes)
    EACH_SUM(STORE_SUM, n_sums);
}

/* Adds the products of n pairs: 16, or those at the end of a run. Denormals are zero. The even
 * products of a tile are added, the odd ones, and then both to the sum. */
ALWAYS_INLINE void tiles_multiply(const void *factors, size_t factors_bytes, const float *weights,
                                  size_t weights_bytes, size_t n_sums, size_t n)
{
#define ADD_PRODUCT(i)                                                                             \
    do {                                                                                           \
        _tile_loadd(TILE_WEIGHTS, weights + (i)*VECTOR_LANES, weights_bytes);                      \
        _tile_dpbf16ps(i, TILE_FACTORS, TILE_WEIGHTS);                                             \
    } while (0)
#define ADD_LAST_PRODUCT(i)                                                                        \
    do {                                                                                           \
        _tile_loadd(TILE_LAST_WEIGHTS, weights + (i)*VECTOR_LANES, weights_bytes);                 \
        _tile_dpbf16ps(i, TILE_LAST_FACTORS, TILE_LAST_WEIGHTS);                                   \
    } while (0)
    if (n == TILE_PAIRS) {
        _tile_loadd(TILE_FACTORS, factors, factors_bytes);
        EACH_SUM(ADD_PRODUCT, n_sums);
    } else {
        _tile_loadd(TILE_LAST_FACTORS, factors, factors_bytes);
        EACH_SUM(ADD_LAST_PRODUCT, n_sums);
    }
}

/* Rounds n pixels of planes of channels to pairs: to[i * pixel] begins those of pixel i. */
static inline void vec_round_planes(const float *from, size_t plane, size_t n_channels, float *to,
                                    size_t pixel, size_t n)
{
    for (size_t begin = 0; begin < n; begin += TILE_ROWS) {
        size_t n_pixels = n - begin < TILE_ROWS ? n - begin : TILE_ROWS;
        for (size_t channel = 0; channel < n_channels; channel += 2 * TILE_PAIRS) {
            size_t left = n_channels - channel;
            size_t n_pairs = left < 2 * TILE_PAIRS ? (left + 1) / 2 : TILE_PAIRS;
            vec rows[TILE_PAIRS];
            UNROLL
            for (size_t i = 0; i < TILE_PAIRS; i++) {
                const float *at = from + (channel + 2 * i) * plane + begin;
                vec first = 2 * i < left ? vec_load_first(at, n_pixels) : vec_zero();
                vec second = 2 * i + 1 < left ? vec_load_first(at + plane, n_pixels) : vec_zero();
                rows[i] = (vec)interleave_bf16(first, second);
            }
            vec_transpose(rows);
            UNROLL
            for (size_t i = 0; i < TILE_ROWS; i++)
                if (i < n_pixels)
                    vec_store_first(to + (begin + i) * pixel + channel / 2, rows[i], n_pairs);
        }
    }
}

#endif
#endif
