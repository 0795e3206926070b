/* The interface of the micro-kernels for indirect GEMM, which indirect_convolution.h uses. They
 * compute a tile of C = A * B, where A is packed, and an indirection buffer holds the offset of
 * each row of B.
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
#define IGEMM_MAX_VECTORS 3 /* maximum number of vectors of channels per tile */
#define IGEMM_MAX_STRIDE 2  /* maximum distance of neighbouring positions, in pixels */
#define IGEMM_POOLED 4      /* rows of C per window of a fused max pooling */

/* A row of B. offset: floats from args.b to the row. mask: bytes from args.masks to the mask of the
 * row, in which a 0 bit makes the column a zero. */
struct indirection {
    int32_t offset;
    uint32_t mask;
};

/* c[row][i] (+)= bias[row] + sum over k of a[k][row] * b[indirection[k].offset + i], for the mr
 * rows and nr columns that the micro-kernel computes. */
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

/* The same product with channels in lanes: c[row][i] (+)= bias[i] + sum over k of
 * a[indirection[k].offset + positions[row]] * b[k][i], for the mr rows and the vectors of columns
 * that the micro-kernel computes. A row is an output position. */
struct igemm_channels_args {
    size_t k;
    size_t n, run; /* for AMX tiles only: number of positions; contiguous pairs per run */
    size_t pixel;  /* for `width_3` only: floats from one pixel to the next */
    const float *a;
    const struct indirection *indirection; /* [k]; without masks */
    const int32_t *positions;              /* [mr], or [n] */
    const float *b;                        /* [k][columns] */
    size_t ahead;                          /* prefetch distance in bytes, for `prefetching` only */
    float *c;
    size_t ldc;
    const float *bias; /* [columns]; NULL: zeros (always with is_added) */
    /* Minimum [0] and maximum [1] of the results; NULL: none. Not NULL for `pooled`. */
    const float *bounds;
    bool is_added;
    float *maxima; /* [mr / IGEMM_POOLED][ldc]; for `pooled` only */
};
typedef void igemm_channels_fn(const struct igemm_channels_args *args);

/* Micro-kernels with AMX tiles, for any number of positions. The terms consist of runs of `run`
 * contiguous pairs; each run has its own offset, and k is a multiple of `run`. All members are NULL
 * at levels without tiles. */
struct igemm_tiles {
    igemm_channels_fn *multiply[IGEMM_MAX_VECTORS + 1]; /* [vectors] */
    tiles_end_fn *end;
};

/* The micro-kernels for bf16, in which a pair of neighbouring channels takes the place of a float.
 * Numbers are rounded to nearest even, and denormals become zeros. The functions are NULL at levels
 * without bf16. */
struct igemm_pairs {
    igemm_channels_fn *channels[IGEMM_MAX_VECTORS + 1][IGEMM_MAX_MR + 1];
    igemm_channels_fn *pooled[IGEMM_MAX_VECTORS + 1][IGEMM_MAX_MR + 1];
    igemm_channels_fn *width_3[IGEMM_MAX_STRIDE + 1][IGEMM_MAX_MR + 1];
    void (*round)(const void *from, void *to, size_t n); /* rounds n channels of one pixel */
    /* Rounds n pixels of two channels, each a plane. second NULL: zeros. */
    void (*round_rows)(const float *first, const float *second, void *to, size_t n);
    /* Rounds n pixels of n_channels channels, each a plane: to[i * pixel] is the first pair of
     * pixel i. */
    void (*round_planes)(const float *from, size_t plane, size_t n_channels, float *to,
                         size_t pixel, size_t n);
    struct igemm_tiles tiles;
};

/* Arguments of the transforms of winograd_body.h. A tile has n_y x n_x input elements: 4 in a
 * dimension in which the tile computes two outputs, otherwise 1. */
struct winograd_input {
    /* Rows of a channel, followed by three readable vectors; or rows of pixels, followed by the
     * readable rest of a vector. */
    const float *from;
    size_t from_stride, from_channel; /* floats from one row (one channel) to the next */
    /* Floats from one pixel to the next; 1: the lanes hold tiles; otherwise channels. */
    size_t from_pixel;
    /* Element e of tile t, channel c: to[e * to_stride + t * to_tile + c * to_channel]; tiles in
     * row-major order. If the lanes hold channels, to_tile is a multiple of the vector length. */
    float *to;
    size_t to_stride, to_tile, to_channel;
    size_t n_channels, n_rows, n_tiles; /* n_rows rows of n_tiles tiles */
    size_t n_y, n_x;
};
struct winograd_output {
    /* Element e of tile t is at from + e * from_stride + t * ld, with ld channels. */
    const float *from;
    size_t from_stride, ld, n_tiles, n_y, n_x;
    const float *bias;    /* [ld]; NULL: zeros */
    const float *bounds;  /* as in igemm_channels_args */
    float *to;            /* [n_rows][width][ld] */
    size_t n_rows, width; /* the output may be smaller than the area that the tiles cover */
};

/* IGEMM_UNMASKED ignores masks. IGEMM_MASKED_LOADS does not access masked elements, which may be
 * outside the buffer. */
enum igemm_masking { IGEMM_UNMASKED, IGEMM_MASKED, IGEMM_MASKED_LOADS, N_IGEMM_MASKINGS };

/* Estimated costs on one type of CPU core, in 1/16 cycle, fitted to measured convolution times. */
struct igemm_costs {
    double single; /* per multiply-add of a vector in a tile of one vector, except in `width_3` */
    /* Winograd, per element: to transform a vector of 16 inputs, and to add to a sum */
    double input, sum;
};

/* The micro-kernels of a level. NULL ends each list. */
struct igemm_microkernels {
    igemm_microkernel_fn *run[N_IGEMM_MASKINGS][IGEMM_MAX_MR + 1]; /* [masking][mr] */
    uint8_t nr[IGEMM_MAX_MR + 1];                                  /* [mr]: a multiple of 8 */

    /* Micro-kernels with channels in lanes, [vectors][mr]. NULL ends each list. */
    igemm_channels_fn *channels[IGEMM_MAX_VECTORS + 1][IGEMM_MAX_MR + 1];
    /* Variants that prefetch b, `ahead` bytes in advance. They exist for some sizes only. */
    igemm_channels_fn *prefetching[IGEMM_MAX_VECTORS + 1][IGEMM_MAX_MR + 1];
    /* Variants that do not write C: for every IGEMM_POOLED rows, they store the largest number that
     * is not NaN, or -FLT_MAX. mr is a multiple of IGEMM_POOLED. */
    igemm_channels_fn *pooled[IGEMM_MAX_VECTORS + 1][IGEMM_MAX_MR + 1];
    /* Variants with one vector, [stride][mr], for filters of width 3 and the positions of one row:
     * positions[r] is positions[0] + r * stride * pixel. k is a multiple of 3; for k % 3 == 0 and i
     * < 3, term k + i is at indirection[k].offset + i * pixel. */
    igemm_channels_fn *width_3[IGEMM_MAX_STRIDE + 1][IGEMM_MAX_MR + 1];
    struct igemm_pairs pairs; /* the tables have entries at the same indices */
    void (*winograd_input)(const struct winograd_input *input);
    bool (*winograd_output)(const struct winograd_output *output); /* false: not all finite */
    size_t lanes;
    struct igemm_costs costs;
    /* Micro-kernels with half as many lanes; NULL: none. */
    const struct igemm_microkernels *half_width;
    transpose_f32_fn *transpose;
};

#endif
