/* Products of u8 and i8 matrices with sums in i32, exact modulo 2^32. The second operand is packed.
 * The sums are stored, or scaled and stored as f32 or u8. Results are the same at every level,
 * including the rounding.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_GEMM_INT8_H
#define IRRUN_KERNELS_GEMM_INT8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/tiles.h"

/* B is packed in groups of 16 columns, and these in quads of 4 rows of a column. A kernel
 * multiplies a quad of B by a quad of A: 4 columns of a row. Missing rows and columns are zeros. */
#define INT8_GROUP 16
#define INT8_QUAD 4

/* The minimum size of products by AMX tiles: quads of a segment, and products of quads. Smaller
 * products are faster with vectors, because tiles must be configured and stored. */
#define INT8_TILE_MIN_QUADS 12
#define INT8_TILE_MIN_WORK 16384

/* Returns the index of element [row][column] in a packed matrix: [group][quad of
 * n_quads][column][row]. */
static inline size_t int8_packed_index(size_t n_quads, size_t row, size_t column)
{
    size_t quad = column / INT8_GROUP * n_quads + row / INT8_QUAD;
    return (quad * INT8_GROUP + column % INT8_GROUP) * INT8_QUAD + row % INT8_QUAD;
}

static inline size_t int8_n_quads(size_t k)
{
    return k / INT8_QUAD + (k % INT8_QUAD != 0);
}

static inline size_t int8_n_groups(size_t n)
{
    return n / INT8_GROUP + (n % INT8_GROUP != 0);
}

/* Maps a sum to round(sum * scale[column] + bias[column]), clamped to low[column] ... high[column];
 * f32 results are not rounded. The arrays have an element for every column of all groups. */
struct requantization {
    const float *scale, *bias, *low, *high;
};

/* What int8_excess_take has subtracted from elements 1 and 3 of some quads of a packed matrix, so
 * that no sum of two products of bytes exceeds 16 bits. */
struct int8_excess {
    uint32_t *begins; /* index of the first place of each group, then the number of places */
    struct int8_place {
        uint32_t segment, quad;
    } * places;        /* as many as int8_excess_count returns */
    int16_t (*odd)[2]; /* [place][column of the group] */
};

enum int8_result { INT8_TO_I32, INT8_TO_F32, INT8_TO_U8 };

struct int8_product {
    size_t m, n;
    size_t n_segments, n_quads;       /* a row of A has n_segments segments of n_quads quads each */
    size_t begin, end;                /* groups of columns to compute */
    size_t tile_rows;                 /* the rows of a tile, at most m; 0: without tiles */
    const uint8_t *const *a;          /* [n_segments]: row 0; where B is padded, any values */
    size_t lda;                       /* bytes from one row to the next */
    const int8_t *b;                  /* packed */
    bool has_words;                   /* A has elements of 16 bits, and B the order of int8_halve */
    const struct int8_excess *excess; /* subtracted from b; NULL: nothing */
    const int32_t *start;             /* for each column of all groups: added to the sums */
    const int32_t *row_start;         /* for each row: added to the sums; NULL: nothing */
    enum int8_result to;
    struct requantization requantization; /* not used with INT8_TO_I32 */
    const float *const *row_biases;       /* for each row: replaces the bias, unless NULL */
    void *c;                              /* [m][n] */
    size_t ldc;                           /* in elements */
};

/* A product whose A has 32-bit elements, modulo 2^32. The other members are those of
 * int8_product. */
struct int8_wide_product {
    size_t m, n, k;
    size_t begin, end;
    const int32_t *a; /* [m][k] */
    const int8_t *b;
    const int32_t *row_start;
    int32_t *c; /* [m][n] */
};

/* The maximum number of taps if they have several columns. Then the distance of neighbouring pixels
 * must be less than n_columns columns. */
#define INT8_MAX_SHARED_TAPS 128

/* Depthwise convolutions with the channels last: sums of pixel[channel] * weights[channel] over the
 * taps. A lane multiplies lane_taps rows of taps at once. */
struct int8_depthwise {
    size_t n, n_channels;
    size_t n_rows, n_columns;   /* of the taps */
    const uint8_t *const *taps; /* [n_rows][n_columns]: the channels of the first pixel */
    size_t pixel_stride;        /* bytes from one pixel to the next */
    size_t column_stride;       /* bytes from one column to the next; divides pixel_stride unless
                                 * there is one column */
    const uint8_t *end;         /* of the readable memory; loads of 16 bytes do not go past it */
    const void *weights;        /* see int8_tap_index */
    const int32_t *start;
    enum int8_result to;
    struct requantization requantization;
    const float *const *pixel_biases; /* for each pixel, as row_biases */
    void *c;                          /* [n][n_channels] */
};

/* Returns the index of the weight of a tap and channel: [row / lane_taps][column][n_all: channels
 * of all groups][row % lane_taps], of i8 if lane_taps is 4, and of i16 if it is 2. */
static inline size_t int8_tap_index(size_t lane_taps, size_t n_columns, size_t tap, size_t n_all,
                                    size_t channel)
{
    size_t row = tap / n_columns;
    return ((row / lane_taps * n_columns + tap % n_columns) * n_all + channel) * lane_taps +
           row % lane_taps;
}

#define INT8_WINOGRAD_POSITIONS 16 /* of a tile */

/* Some tiles of a convolution of 3 by 3 taps, without strides and dilations, with the channels
 * last. A tile is 4 by 4 pixels of the input, and 2 by 2 of the output. */
struct int8_winograd {
    size_t first, n; /* tiles: row by row, n_columns in each */
    size_t n_columns;
    const uint8_t *image; /* of whole tiles; the 15 bytes after it are readable */
    size_t row_bytes;     /* from one row of the image to the next */
    size_t c_in, c_out;
    size_t begin, end;      /* groups of output channels to compute */
    const int16_t *filters; /* [group][position][pair of inputs][output][2] */
    const int32_t *start;
    struct requantization requantization;
    uint8_t *c; /* the whole output */
    size_t out[2];
    int16_t *inputs;   /* scratch: [position][int8_winograd_step] */
    int32_t *products; /* scratch: [position][int8_winograd_products_step] */
};

/* Returns the number of 16-bit words that a transformed tile has at a position. */
static inline size_t int8_winograd_row(size_t c_in)
{
    return (c_in + 15) / 16 * 16;
}

/* Return the distance from one position to the next. It is not a power of two, so that positions
 * are in different sets of a cache. */
static inline size_t int8_winograd_step(size_t n, size_t c_in)
{
    return n * int8_winograd_row(c_in) + 32;
}
static inline size_t int8_winograd_products_step(size_t n)
{
    return (n + 1) * INT8_GROUP;
}

struct int8_kernels {
    void (*multiply)(const struct int8_product *product);
    void (*depthwise)(const struct int8_depthwise *depthwise);
    size_t lane_taps; /* of `depthwise`: 4, or 2 */
    void (*multiply_wide)(const struct int8_wide_product *product);
    /* Subtracts the minimum of the matrix, *matrix_min, and writes the rows as u8, each followed by
     * zeros up to a whole quad. Returns false if the range of the matrix is above 255. Always sets
     * row_sums to the sums of the rows of `from`, modulo 2^32. */
    bool (*narrow)(size_t m, size_t k, const int32_t *from, uint8_t *to, int32_t *matrix_min,
                   int32_t *row_sums);
    void (*widen)(size_t n, const uint8_t *from, uint16_t *to);
    void (*winograd)(const struct int8_winograd *winograd); /* NULL: multiply is faster */
    bool adds_pairs;         /* products are faster after int8_excess_take or, if this would change
                              * many quads, after int8_halve */
    tiles_end_fn *tiles_end; /* after products that have tile_rows */
};

/* Returns how many quads of a packed matrix have elements that int8_excess_take changes. */
size_t int8_excess_count(const int8_t *packed, size_t n_quads);

/* Subtracts the excess from a packed matrix, whose groups have n_segments segments of n_quads
 * quads, and stores it in the memory of `to`. */
void int8_excess_take(int8_t *packed, size_t n_groups, size_t n_segments, size_t n_quads,
                      const struct int8_excess *to);

/* Changes the order of a packed matrix for a product that has_words: the first two rows of each
 * quad, then the others. */
void int8_halve(int8_t *packed, size_t n_quads);

/* Transforms filters [c_out][c_in][3][3] for Winograd's F(2x2, 3x3). Elements of `packed` that
 * belong to no filter are not written. */
void int8_winograd_pack(const int8_t *filters, size_t c_out, size_t c_in, int16_t *packed);

/* Returns the number of rows of an AMX tile for products of at least m rows: m, or, if this exceeds
 * TILE_ROWS, m divided evenly. 0: there are no tiles, or vectors are faster. work: the number of
 * products of quads. */
static inline size_t int8_tile_rows(const struct int8_kernels *kernels, size_t m, size_t n_quads,
                                    double work)
{
    if (m < 2 || n_quads < INT8_TILE_MIN_QUADS || work < INT8_TILE_MIN_WORK ||
        !tiles_request(kernels->tiles_end))
        return 0;
    size_t n_tiles = (m + TILE_ROWS - 1) / TILE_ROWS;
    return (m + n_tiles - 1) / n_tiles;
}

/* Multiplies, and releases the tiles. */
static inline void int8_multiply(const struct int8_kernels *kernels,
                                 const struct int8_product *product)
{
    kernels->multiply(product);
    if (product->tile_rows > 0)
        kernels->tiles_end();
}

#endif
