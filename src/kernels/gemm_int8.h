/* Products of matrices of 8-bit integers: u8 by i8 with sums in i32, exact modulo 2^32, the same at
 * every level. The second factor is packed; the sums are stored, or scaled and stored as f32 or as
 * u8, in the same roundings at every level. Knows no shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_GEMM_INT8_H
#define IRRUN_KERNELS_GEMM_INT8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INT8_GROUP 16 /* columns that are packed together; those that lack are zeros */
#define INT8_QUAD 4   /* rows likewise */

/* Where element [row][column] of a packed matrix lies: [group][quad of n_quads][column][row]. */
static inline size_t int8_place(size_t n_quads, size_t row, size_t column)
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

/* Of a sum: round(sum * scale[column] + bias[column]) in low ... high, without the rounding for
 * f32. The lists have an element for every column of all groups. */
struct requantization {
    const float *scale, *bias;
    float low, high;
};

enum int8_result { INT8_TO_I32, INT8_TO_F32, INT8_TO_U8 };

struct int8_product {
    size_t m, n;
    size_t n_segments, n_quads; /* a row is so many segments of so many quads each */
    size_t begin, end;          /* which groups of columns */
    const uint8_t *const *a;    /* [n_segments]: of the first row; anything where b has zeros */
    size_t lda;                 /* bytes from one row to the next */
    const int8_t *b;            /* packed */
    const int32_t *start;       /* per column of all groups: what is added to the sums */
    const int32_t *row_start;   /* likewise per row; NULL: nothing */
    enum int8_result to;
    struct requantization requantization; /* not for INT8_TO_I32 */
    const float *const *row_biases;       /* per row, instead of its bias; NULL: that for all */
    void *c;                              /* [m][n] */
    size_t ldc;                           /* elements */
};

/* The same where a is not of 8 bits: modulo 2^32. */
struct int8_wide_product {
    size_t m, n, k;
    size_t begin, end;
    const int32_t *a; /* [m][k] */
    const int8_t *b;
    const int32_t *row_start;
    int32_t *c; /* [m][n] */
};

/* Convolutions of single channels, which lie side by side: sums over the taps of pixel[channel] *
 * weights[channel]. */
struct int8_depthwise {
    size_t n, n_taps, n_channels;
    const uint8_t *const *taps;  /* [n_taps]: where the channels of the first pixel begin */
    size_t step;                 /* bytes from there to those of the next pixel */
    size_t row_taps;             /* so many taps follow each other by this step: rows of n_taps */
    const uint8_t *end;          /* up to here 16 bytes may be read at once, from lower addresses */
    const int16_t (*weights)[2]; /* [n_taps][channels of all groups]; the second number is 0 */
    const int32_t *start;
    enum int8_result to;
    struct requantization requantization;
    const float *const *pixel_biases; /* as row_biases */
    void *c;                          /* [n][n_channels] */
};

struct int8_kernels {
    void (*multiply)(const struct int8_product *product);
    void (*depthwise)(const struct int8_depthwise *depthwise);
    void (*multiply_wide)(const struct int8_wide_product *product);
    /* Rows of u8, each followed by zeros up to a whole quad, from rows of i32 less the least of
     * them; false if they span more than 8 bits. The sums of the rows are those of `from`. */
    bool (*narrow)(size_t m, size_t k, const int32_t *from, uint8_t *to, int32_t *least,
                   int32_t *row_sums);
};

#endif
