/* The micro-kernels of indirect_convolution.h (indirect GEMM). They compute a tile of C = A * B. A
 * is packed; an indirection buffer holds the offset of each row of B.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_IGEMM_F32_H
#define IRRUN_KERNELS_IGEMM_F32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/tiles.h"
#include "kernels/transpose_f32.h"

#define IGEMM_MAX_MR 12
#define IGEMM_MAX_NR 128
#define IGEMM_MAX_VECTORS 3 /* vectors of channels */
#define IGEMM_MAX_STRIDE 2  /* between positions of a row */
#define IGEMM_POOLED 4      /* rows of C in a window of a max pooling */

/* A row of B. offset: floats from args.b to the row. mask: bytes from args.masks to its mask, whose
 * bits are 0 for columns that count as zeros. */
struct indirection {
    int32_t offset;
    uint32_t mask;
};

/* c[row][i] (+)= bias[row] + sum over k of a[k][row] * b[indirection[k].offset + i], for the mr
 * rows and nr columns of the function. */
struct igemm_args {
    size_t k;
    const float *a; /* [k][mr] */
    const float *b;
    const struct indirection *indirection; /* [k] */
    const unsigned char *masks;            /* column i has bit i % 8 of byte i / 8; not for
                                            * UNMASKED */
    float *c;                              /* [mr][nr], dense */
    const float *bias;                     /* [mr]; NULL: zeros (always with is_added) */
    bool is_added;                         /* add to c instead of replacing it */
};
typedef void igemm_microkernel_fn(const struct igemm_args *args);

/* The same with channels in lanes: c[row][i] (+)= bias[i] + sum over k of a[indirection[k].offset +
 * positions[row]] * b[k][i], for the mr rows and the vectors of columns of the function. A row is
 * an output position. */
struct igemm_channels_args {
    size_t k;
    size_t n, run; /* for tiles only: positions; contiguous pairs */
    size_t pixel;  /* for rows only: floats from one pixel to the next */
    const float *a;
    const struct indirection *indirection; /* [k]; without masks */
    const int32_t *positions;              /* [mr], or [n] */
    const float *b;                        /* [k][columns] */
    size_t ahead;                          /* distance in bytes, for `prefetching` only */
    float *c;
    size_t ldc;
    const float *bias;   /* [columns]; NULL: zeros (always with is_added) */
    const float *bounds; /* minimum and maximum of the sums; NULL (not for `pooled`): none */
    bool is_added;
    float *maxima; /* [mr / IGEMM_POOLED][ldc]; for `pooled` only */
};
typedef void igemm_channels_fn(const struct igemm_channels_args *args);

/* Products of any number of positions. The terms are runs of `run` contiguous pairs, each run at
 * any offset; k is a multiple of `run`. All members are NULL at levels without tiles. */
struct igemm_tiles {
    igemm_channels_fn *multiply[IGEMM_MAX_VECTORS + 1]; /* [vectors] */
    tiles_end_fn *end;
};

/* The kernels for bf16, where a pair of neighbouring channels takes the place of a float. Numbers
 * are rounded to nearest even, and denormals are zeros. The functions are NULL at levels without
 * bf16. */
struct igemm_pairs {
    igemm_channels_fn *channels[IGEMM_MAX_VECTORS + 1][IGEMM_MAX_MR + 1];
    igemm_channels_fn *pooled[IGEMM_MAX_VECTORS + 1][IGEMM_MAX_MR + 1];
    igemm_channels_fn *row[IGEMM_MAX_STRIDE + 1][IGEMM_MAX_MR + 1];
    void (*round)(const void *from, void *to, size_t n); /* n channels of one pixel */
    /* n pixels of two planes of channels; second NULL: zeros */
    void (*round_rows)(const float *first, const float *second, void *to, size_t n);
    /* n pixels of planes of channels: to[i * pixel] is the first pair of pixel i */
    void (*round_planes)(const float *from, size_t plane, size_t n_channels, float *to,
                         size_t pixel, size_t n);
    struct igemm_tiles tiles;
};

/* The transforms of winograd_body.h. A tile has n_y x n_x elements of the input: 4 in a dimension
 * in which it has two outputs, otherwise 1. */
struct winograd_input {
    const float *from; /* rows of a channel, followed by three readable vectors; or rows of pixels,
                        * followed by the rest of a vector */
    size_t from_stride, from_channel; /* floats from row to row and from channel to channel */
    size_t from_pixel; /* floats from pixel to pixel; 1: a vector has tiles, otherwise channels */
    float *to; /* element e of tile t, channel c: to[e * to_stride + t * to_tile + c * to_channel];
                * tiles in row-major order. If a vector has channels, to_tile is a multiple of its
                * length */
    size_t to_stride, to_tile, to_channel;
    size_t n_channels, n_rows, n_tiles; /* n_rows rows of n_tiles */
    size_t n_y, n_x;
};
struct winograd_output {
    const float *from; /* element e of tile t: from + e * from_stride + t * ld; ld channels */
    size_t from_stride, ld, n_tiles, n_y, n_x;
    const float *bias;    /* [ld]; NULL: zeros */
    const float *bounds;  /* as in igemm_channels_args */
    float *to;            /* [n_rows][width][ld] */
    size_t n_rows, width; /* may be less than the tiles cover */
};

/* IGEMM_UNMASKED ignores masks. IGEMM_MASKED_LOADS does not access masked elements, which may be
 * outside the buffer. */
enum igemm_masking { IGEMM_UNMASKED, IGEMM_MASKED, IGEMM_MASKED_LOADS, N_IGEMM_MASKINGS };

/* Costs for a kind of core in 1/16 cycle, fitted to the times of convolutions. */
struct igemm_costs {
    double single; /* of a multiplication in a tile of one vector, except by `row` */
    /* of Winograd, for each element: transforming a vector of 16 inputs, and adding to a sum */
    double input, sum;
};

/* The micro-kernels of a level; NULL ends a list of them. */
struct igemm_microkernels {
    igemm_microkernel_fn *run[N_IGEMM_MASKINGS][IGEMM_MAX_MR + 1]; /* [masking][mr] */
    uint8_t nr[IGEMM_MAX_MR + 1];                                  /* [mr]: a multiple of 8 */

    /* With channels in lanes, [vectors][mr]; NULL ends a row. */
    igemm_channels_fn *channels[IGEMM_MAX_VECTORS + 1][IGEMM_MAX_MR + 1];
    /* Variants that prefetch b, `ahead` bytes in advance. They exist for some sizes only. */
    igemm_channels_fn *prefetching[IGEMM_MAX_VECTORS + 1][IGEMM_MAX_MR + 1];
    /* Variants that do not write C: of each IGEMM_POOLED rows, they store the largest number that
     * is not NaN, or -FLT_MAX. mr is a multiple of IGEMM_POOLED. */
    igemm_channels_fn *pooled[IGEMM_MAX_VECTORS + 1][IGEMM_MAX_MR + 1];
    /* Variants with one vector, for kernels of three and positions of a row: positions[r] is
     * positions[0] + r * stride * pixel, and term k + i (i < 3) is at indirection[k].offset +
     * i * pixel. [stride][mr]; k is a multiple of 3. */
    igemm_channels_fn *row[IGEMM_MAX_STRIDE + 1][IGEMM_MAX_MR + 1];
    struct igemm_pairs pairs; /* the tables have the same entries */
    void (*winograd_input)(const struct winograd_input *input);
    bool (*winograd_output)(const struct winograd_output *output); /* false if not finite */
    size_t lanes;
    struct igemm_costs costs;
    const struct igemm_microkernels *half; /* for half as many lanes; NULL: none */
    transpose_f32_fn *transpose;
};

#endif
