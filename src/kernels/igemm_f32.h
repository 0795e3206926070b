/* Indirect GEMM, the micro-kernels of indirect_convolution.h: a tile of C = A * B, where A is
 * packed and an indirection buffer has the offset of each row of B.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_IGEMM_F32_H
#define IRRUN_KERNELS_IGEMM_F32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/transpose_f32.h"

#define IGEMM_MAX_MR 12
#define IGEMM_MAX_NR 128

/* The offset of a row of B, in floats from args.b, and of its mask, in bytes from args.masks: bits
 * select the columns of the row; the others are zeros. */
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
    const unsigned char *masks;            /* bit i of byte i / 8 is column i; not if unmasked */
    float *c;                              /* [mr][nr], dense */
    const float *bias;                     /* [mr]; NULL: zeros, as it must be with is_added */
    bool is_added;                         /* to what c holds */
};
typedef void igemm_microkernel_fn(const struct igemm_args *args);

/* The same with the channels in lanes: c[row][i] (+)= bias[i] + sum over k of
 * a[indirection[k].offset + positions[row]] * b[k][i], for the mr rows and the vectors of columns
 * of the function. A row is a position of the output. */
struct igemm_channels_args {
    size_t k;
    const float *a;
    const struct indirection *indirection; /* [k]; masks are not used */
    const int32_t *positions;              /* [mr] */
    const float *b;                        /* [k][columns] */
    float *c;
    size_t ldc;
    const float *bias;   /* [columns]; NULL: zeros, as it must be with is_added */
    const float *bounds; /* two that hold the sums; NULL: none */
    bool is_added;
};
typedef void igemm_channels_fn(const struct igemm_channels_args *args);

#define IGEMM_MAX_VECTORS 3 /* of channels */

/* The transforms of winograd_body.h. A tile has n_y x n_x elements of the input, 4 in a dimension
 * in which it has two outputs, else 1. */
struct winograd_input {
    const float *from;                /* rows of a channel; three vectors beyond can be read */
    size_t from_stride, from_channel; /* floats from row to row, and to the next channel */
    float *to; /* element e of tile t: to[e * to_stride + t], the rows of tiles side by side */
    size_t to_stride, to_channel;
    size_t n_channels, n_rows, n_tiles; /* n_rows rows of n_tiles */
    size_t n_y, n_x;
};
struct winograd_output {
    const float *from; /* element e of tile t: from + e * from_stride + t * ld, ld channels */
    size_t from_stride, ld, n_tiles, n_y, n_x;
    const float *bias;    /* [ld]; NULL: zeros */
    float *to;            /* [n_rows][width][ld] */
    size_t n_rows, width; /* may be less than the tiles have */
};

/* IGEMM_UNMASKED ignores masks. IGEMM_MASKED_LOADS does not read masked elements, which may be
 * outside the buffer. */
enum igemm_masking { IGEMM_UNMASKED, IGEMM_MASKED, IGEMM_MASKED_LOADS, N_IGEMM_MASKINGS };

/* The micro-kernels of a level, up to the first NULL. */
struct igemm_microkernels {
    igemm_microkernel_fn *run[N_IGEMM_MASKINGS][IGEMM_MAX_MR + 1]; /* [masking][mr] */
    uint8_t nr[IGEMM_MAX_MR + 1];                                  /* [mr]: a multiple of 8 */

    /* With channels in lanes, [vectors][mr], up to the first NULL of a row. */
    igemm_channels_fn *channels[IGEMM_MAX_VECTORS + 1][IGEMM_MAX_MR + 1];
    void (*winograd_input)(const struct winograd_input *input);
    bool (*winograd_output)(const struct winograd_output *output); /* false: one is not finite */
    size_t lanes;
    transpose_f32_fn *transpose;
};

#endif
