/* The vector functions of AVX-512 with BF16, and tiles of AMX, which multiply up to 16 rows of
 * pairs of bf16, or of four bytes, at a time. See level.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_AMX_H
#define IRRUN_KERNELS_VECTOR_AMX_H

#include "kernels/tiles.h"
#include "kernels/vector_bf16.h"

#if defined(__AMX_BF16__) && defined(__AMX_INT8__)
#define VECTOR_HAS_TILES

/* The tiles: 0 to 3 have sums, 4 factors, 5 weights, a pair of factors in a row. 6 and 7 are 4 and
 * 5 with fewer pairs. */
#define TILE_MAX_SUMS 4
#define TILE_FACTORS 4
#define TILE_WEIGHTS 5
#define TILE_LAST_FACTORS 6
#define TILE_LAST_WEIGHTS 7
#define N_TILES 8

/* The operand of LDTILECFG. */
struct tile_configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

static inline void tiles_begin(size_t rows, size_t run)
{
    struct tile_configuration tiles = {.palette = 1};
    size_t last = run % TILE_PAIRS > 0 ? run % TILE_PAIRS : TILE_PAIRS;
    for (size_t i = 0; i < N_TILES; i++) {
        tiles.row_bytes[i] = (uint16_t)(4 * (i == TILE_LAST_FACTORS ? last : TILE_PAIRS));
        tiles.rows[i] = (uint8_t)rows;
    }
    tiles.rows[TILE_WEIGHTS] = TILE_PAIRS;
    tiles.rows[TILE_LAST_WEIGHTS] = (uint8_t)last;
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
        if ((n) > 3)                                                                               \
            X(3);                                                                                  \
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

ALWAYS_INLINE void tiles_store(void *to, size_t stride_bytes, size_t n_sums)
{
#define STORE_SUM(i) _tile_stored(i, (char *)to + (i) * sizeof(vec), stride_bytes)
    EACH_SUM(STORE_SUM, n_sums);
}

enum tile_numbers { TILE_BF16, TILE_U8_I8 };

struct tile_factors {
    const void *rows;
    size_t row_bytes;                /* from one row to the next */
    const void *weights;             /* a row has a pair for each column of a sum */
    size_t weights_bytes, sum_bytes; /* from one row to the next, from one sum to the next */
};

/* Adds the products of n pairs: 16, or those at the end of a run. Sums of bytes wrap. Of bf16,
 * denormals are zero; the even products of a tile are added, the odd ones, and then both to the
 * sum. */
ALWAYS_INLINE void tiles_multiply(enum tile_numbers numbers, const struct tile_factors *f,
                                  size_t n_sums, size_t n)
{
#define ADD_PRODUCT(i, tile_of_factors, tile_of_weights)                                           \
    do {                                                                                           \
        _tile_loadd(tile_of_weights, (const char *)f->weights + (i)*f->sum_bytes,                  \
                    f->weights_bytes);                                                             \
        if (numbers == TILE_BF16)                                                                  \
            _tile_dpbf16ps(i, tile_of_factors, tile_of_weights);                                   \
        else                                                                                       \
            _tile_dpbusd(i, tile_of_factors, tile_of_weights);                                     \
    } while (0)
#define ADD_WHOLE(i) ADD_PRODUCT(i, TILE_FACTORS, TILE_WEIGHTS)
#define ADD_LAST(i) ADD_PRODUCT(i, TILE_LAST_FACTORS, TILE_LAST_WEIGHTS)
    if (n == TILE_PAIRS) {
        _tile_loadd(TILE_FACTORS, f->rows, f->row_bytes);
        EACH_SUM(ADD_WHOLE, n_sums);
    } else {
        _tile_loadd(TILE_LAST_FACTORS, f->rows, f->row_bytes);
        EACH_SUM(ADD_LAST, n_sums);
    }
}

#endif
#endif
