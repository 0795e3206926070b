/* Shared by the files of the int8 convolution.
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
    size_t n_batches, n_in, n_out; /* n_in, n_out: pixels of a batch element */
    size_t out[2];  /* rows, and columns of joined pixels; 1 row if all pixels are read in order */
    bool is_padded; /* the image is copied with its pads */
    size_t height, width;       /* of the padded image */
    size_t pixel_bytes;         /* of the input or its copy */
    size_t n_blocks;            /* in a row */
    bool is_im2col;             /* taps are copied to rows of a matrix; all pixels are one row */
    size_t n_quads;             /* of a segment */
    size_t n_splits;            /* parts of the channels of a block; each is a unit of work */
    size_t n_tile_columns;      /* Winograd: tiles in a row of the image */
    size_t tile_rows;           /* see struct int8_product */
    size_t n_parts, part_bytes; /* part_bytes: scratch memory of each part, after the image */
    size_t image_bytes;         /* of the padded image, in scratch memory */
    size_t sums_at, rows_at;    /* offsets in a part: of f32 results, of im2col rows */
};

/* The work on one batch element. */
struct int8_job {
    const struct int8_convolution_attrs *attrs;
    const struct int8_state *state;
    const uint8_t *in, *image, *end; /* image: the input or its padded copy; end: of the image */
    void *out;
    unsigned char *scratch;
};

/* Consecutive output pixels of a row, or groups of joined pixels. */
struct int8_block {
    size_t row, column, n;
    size_t begin, end;          /* groups of channels */
    const uint8_t **segments;   /* of the first pixel */
    const float *const *biases; /* NULL if all pixels have the same */
    void *c;
};

/* Divides an image into tiles and blocks for Winograd's F(2x2, 3x3). */
void int8_winograd_plan(const struct int8_convolution_attrs *attrs, struct int8_state *state);

/* Computes the tiles of a block; block->column is the first. */
void int8_winograd_run(const struct int8_job *job, const struct int8_block *block,
                       unsigned char *scratch);

/* Writes the output from the results of a block in scratch memory. Drops joined pixels past the end
 * of the row. */
void int8_store(const struct int8_job *job, const struct int8_block *block);

/* Copies part `part` of the rows of the padded image, as words if has_words is set. */
void int8_copy_rows(void *job, size_t part, size_t n_parts);

/* Copies the taps of each pixel of a block to a row, as words if has_words is set. The rows become
 * the only segment of the block. */
void int8_im2col(const struct int8_job *job, struct int8_block *block, uint8_t *rows);

#endif
