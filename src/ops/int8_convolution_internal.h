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
    size_t out[2];                 /* rows and columns, of joined pixels; 1 row if all pixels can be
                                    * read in order */
    bool is_padded;                /* the image is copied with its pads */
    size_t height, width;          /* of the padded image */
    size_t pixel_bytes;            /* of the input or its copy */
    size_t n_blocks;               /* in a row */
    bool is_gathered;              /* taps are copied to rows; all pixels count as one row */
    size_t n_quads;                /* of a segment */
    size_t n_splits;               /* parts of the channels; a unit of work is a part of a block */
    size_t n_tile_columns;         /* Winograd: tiles in a row of the image */
    size_t tile_rows;              /* see struct int8_product */
    size_t n_parts, part_bytes;    /* part_bytes: scratch memory of each part, after the image */
    size_t image_bytes, sums_at, rows_at; /* offsets in a part: of f32 results, of copied taps */
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
    const float *const *biases; /* NULL: all pixels have the same */
    void *c;
};

/* Decides how an image is divided for Winograd's F(2x2, 3x3). */
void int8_winograd_find(const struct int8_convolution_attrs *attrs, struct int8_state *state);

/* Computes the tiles of a block. Its column is the first tile. */
void int8_winograd_run(const struct int8_job *job, const struct int8_block *block,
                       unsigned char *scratch);

/* Makes the output of the results of a block that are not there yet. Joined pixels may extend past
 * the end of the row. */
void int8_store(const struct int8_job *job, const struct int8_block *block);

/* Copies some rows of the padded image, as words if has_words is set. */
void int8_copy_rows(void *job, size_t part, size_t n_parts);

/* Copies the taps of each pixel to a row, as words if has_words is set. Then the rows are the only
 * segment of the block. */
void int8_gather(const struct int8_job *job, struct int8_block *block, uint8_t *rows);

#endif
