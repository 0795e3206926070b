/* The state of an int8 convolution, and functions that its files share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INT8_CONVOLUTION_INTERNAL_H
#define IRRUN_OPS_INT8_CONVOLUTION_INTERNAL_H

#include "ops/int8_borders.h"
#include "ops/int8_ops.h"

struct int8_state {
    struct window window; /* dimension 0 is 1 */
    const struct int8_kernels *kernels;
    transpose_f32_fn *transpose;
    unary_fn *activation;
    const struct quantize_kernels *quantize;
    struct int8_borders borders;
    size_t n_batches, n_in, n_out; /* n_in, n_out: pixels per batch element */
    /* Output rows, and columns of joined pixels; one row if all pixels are read in order. */
    size_t n_rows, n_columns;
    bool is_padded;             /* the image is copied with its pads */
    size_t height, width;       /* pixels of the padded image */
    size_t pixel_bytes;         /* bytes per pixel of the input or its copy */
    size_t n_blocks;            /* blocks per output row */
    bool is_im2col;             /* taps are copied to rows of a matrix; all pixels are one row */
    size_t n_quads;             /* quads per segment */
    size_t n_splits;            /* each block is split by channels into this many units of work */
    size_t n_tile_columns;      /* Winograd: tiles per row of the image */
    size_t tile_rows;           /* see struct int8_product */
    size_t n_parts, part_bytes; /* part_bytes: scratch memory of each part, after the image */
    size_t image_bytes;         /* size of the padded image in scratch memory */
    size_t sums_at, rows_at;    /* offsets of the f32 results and of the im2col rows in a part */
};

/* The work on one batch element. */
struct int8_job {
    const struct int8_convolution_attrs *attrs;
    const struct int8_state *state;
    const uint8_t *in, *image, *end; /* image: the input or its padded copy; end: its end */
    void *out;
    unsigned char *scratch;
};

/* Consecutive output pixels of a row, or groups of joined pixels. */
struct int8_block {
    size_t row, column, n;
    size_t begin, end;          /* groups of channels */
    const uint8_t **segments;   /* segments of the first pixel */
    const float *const *biases; /* per pixel; NULL if all pixels have the same biases */
    void *c;
};

/* Divides an image into tiles and blocks for Winograd's F(2x2, 3x3). */
void int8_winograd_plan(const struct int8_convolution_attrs *attrs, struct int8_state *state);

/* Computes block->n tiles from tile block->column on. */
void int8_winograd_run(const struct int8_job *job, const struct int8_block *block,
                       unsigned char *scratch);

/* Writes the output from the results of a block in scratch memory. Drops joined pixels past the end
 * of the row. */
void int8_store(const struct int8_job *job, const struct int8_block *block);

/* Copies part `part` of the rows of the padded image. Widens bytes to 16-bit words if has_words is
 * set. */
void int8_copy_rows(void *job, size_t part, size_t n_parts);

/* Copies the taps of each pixel of a block to a row. Widens bytes to 16-bit words if has_words is
 * set. The rows become the only segment of the block. */
void int8_im2col(const struct int8_job *job, struct int8_block *block, uint8_t *rows);

#endif
