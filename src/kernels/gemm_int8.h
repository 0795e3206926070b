/* Products of u8 matrices (A) and packed i8 matrices (B), with sums in i32 that are exact modulo
 * 2^32. The sums are stored as they are, or scaled and stored as f32 or u8. Results, including the
 * rounding, are the same at every level.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_GEMM_INT8_H
#define IRRUN_KERNELS_GEMM_INT8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/tiles.h"

/* B is packed in groups of 16 columns. A group consists of quads; a quad holds 4 rows of each
 * column. A kernel multiplies a quad of B by a quad of A: 4 columns of a row. Missing rows and
 * columns are zeros. */
#define INT8_GROUP 16
#define INT8_QUAD 4

/* The minimum size for AMX tiles: quads per segment, and products of quads. Smaller products are
 * faster with vectors, because tiles must be configured and stored. */
#define INT8_TILE_MIN_QUADS 12
#define INT8_TILE_MIN_WORK 16384

/* Returns the index of element [row][column] in a packed matrix, [group][n_quads][column of the
 * group][row of the quad]. */
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
 * f32 results are not rounded. The arrays hold one element per column of all groups. */
struct requantization {
    const float *scale, *bias, *low, *high;
};

/* The numbers that int8_excess_extract has subtracted from rows 1 and 3 of some quads of a packed
 * matrix, so that no sum of two products of bytes exceeds 16 bits. */
struct int8_excess {
    uint32_t *begins; /* [group]: index of the group's first place; then the number of places */
    struct int8_place {
        uint32_t segment, quad;
    } * places;        /* [int8_excess_count]: the quads from which something was subtracted */
    int16_t (*odd)[2]; /* [place][column of the group]: excess of row 1 and of row 3 */
};

enum int8_result { INT8_TO_I32, INT8_TO_F32, INT8_TO_U8 };

struct int8_product {
    size_t m, n;
    size_t n_segments, n_quads; /* a row of A consists of n_segments segments of n_quads quads */
    size_t begin, end;          /* groups of columns to compute */
    size_t tile_rows;           /* rows per AMX tile, at most m; 0: no tiles */
    const uint8_t *const *a;    /* [n_segments]: row 0; padding may have any values */
    size_t lda;                 /* bytes from one row to the next */
    const int8_t *b;            /* packed */
    bool has_words;             /* A has 16-bit elements, and int8_split_quads has ordered B */
    const struct int8_excess *excess; /* was subtracted from b; NULL: nothing */
    const int32_t *start;             /* added to the sums, per column of all groups */
    const int32_t *row_start;         /* added to the sums, per row; NULL: nothing */
    enum int8_result to;
    struct requantization requantization; /* not used with INT8_TO_I32 */
    const float *const *row_biases;       /* per row: replaces the bias, unless NULL */
    void *c;                              /* [m][n] */
    size_t ldc;                           /* elements from one row of c to the next */
};

/* A product whose A has 32-bit elements; sums are modulo 2^32. Members are as in int8_product. */
struct int8_wide_product {
    size_t m, n, k;
    size_t begin, end;
    const int32_t *a; /* [m][k] */
    const int8_t *b;
    const int32_t *row_start;
    int32_t *c; /* [m][n] */
};

/* The maximum number of taps of a depthwise convolution with several columns of taps. Its stride
 * must be less than n_columns columns. */
#define INT8_MAX_SHARED_TAPS 128

/* n output pixels of a depthwise convolution with the channels last: per channel, the sum over the
 * taps of pixel[channel] * weights[channel]. A lane multiplies lane_taps rows of taps at once. */
struct int8_depthwise {
    size_t n, n_channels;
    size_t n_rows, n_columns;   /* rows and columns of taps */
    const uint8_t *const *taps; /* [n_rows][n_columns]: the channels of the first pixel */
    size_t pixel_stride;        /* bytes from one pixel to the next */
    /* Bytes from one column of taps to the next; divides pixel_stride unless n_columns is 1. */
    size_t column_stride;
    const uint8_t *end;  /* end of the readable memory, which 16-byte loads do not cross */
    const void *weights; /* see int8_tap_index */
    const int32_t *start;
    enum int8_result to;
    struct requantization requantization;
    const float *const *pixel_biases; /* per pixel, as row_biases */
    void *c;                          /* [n][n_channels] */
};

/* Returns the index of a weight in the array [row / lane_taps][column][n_all][row % lane_taps] of
 * i8 if lane_taps is 4, or of i16 if it is 2. n_all: channels of all groups. */
static inline size_t int8_tap_index(size_t lane_taps, size_t n_columns, size_t tap, size_t n_all,
                                    size_t channel)
{
    size_t row = tap / n_columns;
    return ((row / lane_taps * n_columns + tap % n_columns) * n_all + channel) * lane_taps +
           row % lane_taps;
}

#define INT8_WINOGRAD_POSITIONS 16 /* elements per transformed tile */

/* Some tiles of a convolution of 3 by 3 taps with unit strides and dilations and the channels last.
 * A tile reads 4 by 4 input pixels and computes 2 by 2 output pixels. */
struct int8_winograd {
    size_t first, n; /* tiles, counted row by row; n_columns per row */
    size_t n_columns;
    const uint8_t *image; /* covers whole tiles; the 15 bytes after it are readable */
    size_t row_bytes;     /* bytes from one row of the image to the next */
    size_t c_in, c_out;
    size_t begin, end;      /* groups of output channels to compute */
    const int16_t *filters; /* [group][position][pair of inputs][output][2] */
    const int32_t *start;
    struct requantization requantization;
    uint8_t *c;        /* the whole output image */
    size_t out[2];     /* height and width of the output */
    int16_t *inputs;   /* scratch: [position][int8_winograd_step] */
    int32_t *products; /* scratch: [position][int8_winograd_products_step] */
};

/* Returns the number of 16-bit words, one per channel and padded, at each position of a transformed
 * tile. */
static inline size_t int8_winograd_row(size_t c_in)
{
    return (c_in + 15) / 16 * 16;
}

/* Return the distance between positions, in elements. It is not a power of two, so that positions
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
    size_t lane_taps; /* rows of taps per lane of `depthwise`: 4 or 2 */
    void (*multiply_wide)(const struct int8_wide_product *product);
    /* Narrows a matrix [m][k]: subtracts its minimum, and writes the rows as u8, each padded with
     * zeros to whole quads. Returns false if the matrix spans more than 256 values. Always sets
     * *matrix_min to the minimum and row_sums to the sums of the rows of `from`, modulo 2^32. */
    bool (*narrow)(size_t m, size_t k, const int32_t *from, uint8_t *to, int32_t *matrix_min,
                   int32_t *row_sums);
    void (*widen)(size_t n, const uint8_t *from, uint16_t *to);
    void (*winograd)(const struct int8_winograd *winograd); /* NULL: multiply is faster */
    /* Products are faster after int8_excess_extract or, if this would change many quads, after
     * int8_split_quads. */
    bool adds_pairs;
    tiles_end_fn *tiles_end; /* releases the tiles after products with tile_rows > 0 */
};

/* Returns the number of quads of a packed matrix that int8_excess_extract would change. */
size_t int8_excess_count(const int8_t *packed, size_t n_quads);

/* Subtracts the excess from a packed matrix, whose groups have n_segments segments of n_quads
 * quads, and stores it in the arrays of `to`. */
void int8_excess_extract(int8_t *packed, size_t n_groups, size_t n_segments, size_t n_quads,
                         const struct int8_excess *to);

/* Reorders each quad of a packed matrix for a product with has_words: rows 0 and 1 of all columns,
 * then rows 2 and 3. */
void int8_split_quads(int8_t *packed, size_t n_quads);

/* Transforms filters [c_out][c_in][3][3] for Winograd's F(2x2, 3x3). Does not write the padding of
 * `packed`. */
void int8_winograd_pack(const int8_t *filters, size_t c_out, size_t c_in, int16_t *packed);

/* Returns the number of rows per AMX tile for a product of m rows: m, divided evenly if it exceeds
 * TILE_ROWS. Returns 0 if the level has no tiles or vectors are faster. work: the number of
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

/* Multiplies, and releases the AMX tiles if the product used them. */
static inline void int8_multiply(const struct int8_kernels *kernels,
                                 const struct int8_product *product)
{
    kernels->multiply(product);
    if (product->tile_rows > 0)
        kernels->tiles_end();
}

#endif
