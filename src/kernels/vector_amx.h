/* The level amx: the vector functions of AVX-512 with BF16, and products with AMX tiles (tiles.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_AMX_H
#define IRRUN_KERNELS_VECTOR_AMX_H

#include "kernels/tiles.h"
#include "kernels/vector_bf16.h"

#if defined(__AMX_BF16__) && defined(__AMX_INT8__)
#define VECTOR_HAS_TILES

/* The numbers of the 8 tiles. Tiles 0 to 5 hold sums, each of up to 16 rows and 16 columns of C. An
 * input tile holds up to 16 rows of 16 pairs, a weight tile 16 pairs of 16 columns. If runs end
 * with fewer than 16 pairs, tiles 4 and 5 hold the last inputs and weights of a run, and only tiles
 * 0 to 3 hold sums. In tiles_multiply_both, tiles 0 and 1 hold the first sums, 2 and 3 the second
 * sums, and 4 the second inputs. */
#define TILE_SUMS 0
#define TILE_SECOND_SUMS 2
#define TILE_SECOND_INPUTS 4
#define TILE_LAST_INPUTS 4
#define TILE_LAST_WEIGHTS 5
#define TILE_INPUTS 6
#define TILE_WEIGHTS 7
#define N_TILES 8

/* The operand of LDTILECFG. */
struct tile_configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* Configures the tiles of this thread for sums of `rows` rows, and for runs of `run` pairs, the
 * last tile of which may have fewer than TILE_PAIRS pairs. Does nothing if the tiles are already
 * configured so. */
static inline void tiles_prepare(size_t rows, size_t run)
{
    struct tile_configuration tiles = {.palette = 1};
    size_t last = run % TILE_PAIRS;
    if (tiles_configured.rows == rows && tiles_configured.last == last)
        return;
    for (size_t i = 0; i < N_TILES; i++) {
        tiles.row_bytes[i] = (uint16_t)(4 * TILE_PAIRS);
        tiles.rows[i] = (uint8_t)rows;
    }
    tiles.rows[TILE_WEIGHTS] = TILE_PAIRS;
    if (last > 0) {
        tiles.row_bytes[TILE_LAST_INPUTS] = (uint16_t)(4 * last);
        tiles.rows[TILE_LAST_WEIGHTS] = (uint8_t)last;
    }
    /* gcc's intrinsic tells the compiler that only 8 bytes are read. */
    __asm__ volatile("ldtilecfg %0" : : "m"(tiles));
    tiles_configured = (struct tiles_configured){rows, last};
}

static inline void tiles_end(void)
{
    __asm__ volatile("tilerelease");
    tiles_configured.rows = 0;
}

/* EACH_SUM expands to X(tile, i) for sums i = 0 to n - 1, where sum i is in tile first + i. Tile
 * numbers are literals, because they are part of the instructions; `first` and n are constants, so
 * that the compiler drops the tests. FIRST_SUMS supports only tiles 0 to 3. */
#define IF_SUM(X, tile, first, n)                                                                  \
    if ((tile) >= (first) && (tile) < (first) + (n))                                               \
    X(tile, (tile) - (first))
#define FIRST_SUMS(X, first, n)                                                                    \
    do {                                                                                           \
        IF_SUM(X, 0, first, n);                                                                    \
        IF_SUM(X, 1, first, n);                                                                    \
        IF_SUM(X, 2, first, n);                                                                    \
        IF_SUM(X, 3, first, n);                                                                    \
    } while (0)
#define EACH_SUM(X, first, n)                                                                      \
    do {                                                                                           \
        FIRST_SUMS(X, first, n);                                                                   \
        IF_SUM(X, 4, first, n);                                                                    \
        IF_SUM(X, 5, first, n);                                                                    \
    } while (0)

/* Loads initial values into n_sums tiles of sums, from tile `first` on; each tile gets 16 elements
 * of each row. Rows are stride_bytes apart; 0: all rows have the same values. If `from` is NULL,
 * sets zeros. */
ALWAYS_INLINE void tiles_load(const void *from, size_t stride_bytes, size_t first, size_t n_sums)
{
#define LOAD_SUM(tile, i) _tile_loadd(tile, (const char *)from + (i) * sizeof(vec), stride_bytes)
#define ZERO_SUM(tile, i) _tile_zero(tile)
    __asm__ volatile("" ::: "memory"); /* gcc does not know that the intrinsic reads memory */
    if (from)
        EACH_SUM(LOAD_SUM, first, n_sums);
    else
        EACH_SUM(ZERO_SUM, first, n_sums);
}

ALWAYS_INLINE void tiles_store(void *to, size_t stride_bytes, size_t first, size_t n_sums)
{
#define STORE_SUM(tile, i) _tile_stored(tile, (char *)to + (i) * sizeof(vec), stride_bytes)
    EACH_SUM(STORE_SUM, first, n_sums);
}

/* The addresses of the inputs and weights of up to TILE_PAIRS pairs. A row of inputs is a matrix
 * row; a row of weights is a pair for each of 16 columns. inputs_bytes and weights_bytes are the
 * distances of rows, next_bytes is the distance of the weights of neighbouring sums. */
struct tile_terms {
    const void *inputs;
    size_t inputs_bytes;
    const char *weights;
    size_t weights_bytes, next_bytes;
};

enum tile_numbers { TILE_BF16, TILE_U8_I8 };

/* Adds the products of n pairs to n_sums sums. n is TILE_PAIRS, or less at the end of a run; then
 * n_sums is at most four. Sums of bytes wrap. With bf16, denormals count as zeros, and the CPU
 * determines the order of additions: it adds up the products of the first elements of the pairs and
 * those of the second elements separately, and then adds both to the sum. */
ALWAYS_INLINE void tiles_multiply(enum tile_numbers numbers, const struct tile_terms *terms,
                                  size_t n_sums, size_t n)
{
#define ADD_PRODUCT(tile, i, tile_of_inputs, tile_of_weights)                                      \
    do {                                                                                           \
        _tile_loadd(tile_of_weights, terms->weights + (i)*terms->next_bytes,                       \
                    terms->weights_bytes);                                                         \
        if (numbers == TILE_BF16)                                                                  \
            _tile_dpbf16ps(tile, tile_of_inputs, tile_of_weights);                                 \
        else                                                                                       \
            _tile_dpbusd(tile, tile_of_inputs, tile_of_weights);                                   \
    } while (0)
#define ADD_WHOLE(tile, i) ADD_PRODUCT(tile, i, TILE_INPUTS, TILE_WEIGHTS)
#define ADD_LAST(tile, i) ADD_PRODUCT(tile, i, TILE_LAST_INPUTS, TILE_LAST_WEIGHTS)
    __asm__ volatile("" ::: "memory");
    if (n == TILE_PAIRS) {
        _tile_loadd(TILE_INPUTS, terms->inputs, terms->inputs_bytes);
        EACH_SUM(ADD_WHOLE, 0, n_sums);
    } else {
        _tile_loadd(TILE_LAST_INPUTS, terms->inputs, terms->inputs_bytes);
        FIRST_SUMS(ADD_LAST, 0, n_sums);
    }
}

/* Adds the products of TILE_PAIRS bf16 pairs for two input tiles, terms->inputs and `second`, to
 * n_sums (1 or 2) sums each. More sums at a time hide the latency of an instruction, and both input
 * tiles use the loaded weights. */
ALWAYS_INLINE void tiles_multiply_both(const struct tile_terms *terms, const void *second,
                                       size_t n_sums)
{
    __asm__ volatile("" ::: "memory");
    _tile_loadd(TILE_INPUTS, terms->inputs, terms->inputs_bytes);
    _tile_loadd(TILE_WEIGHTS, terms->weights, terms->weights_bytes);
    _tile_dpbf16ps(0, TILE_INPUTS, TILE_WEIGHTS);
    _tile_loadd(TILE_SECOND_INPUTS, second, terms->inputs_bytes);
    _tile_dpbf16ps(2, TILE_SECOND_INPUTS, TILE_WEIGHTS);
    if (n_sums == 1)
        return;
    _tile_loadd(TILE_WEIGHTS, terms->weights + terms->next_bytes, terms->weights_bytes);
    _tile_dpbf16ps(1, TILE_INPUTS, TILE_WEIGHTS);
    _tile_dpbf16ps(3, TILE_SECOND_INPUTS, TILE_WEIGHTS);
}

#endif
#endif
