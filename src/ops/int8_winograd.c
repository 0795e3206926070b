/* Int8 convolutions by Winograd's F(2x2, 3x3). A block consists of consecutive tiles of the image
 * in row-major order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "ops/int8_convolution_internal.h"

#define INPUT_BYTES ((size_t)256 << 10) /* per block: fits in L2 with a group of filters */
#define MIN_TILES 12                    /* per block; a multiple of the rows of a product */
#define MAX_TILES 18                    /* per block; a multiple of the rows of a product */
#define SPLIT_GROUPS 8 /* groups of channels per unit of work, if there are few blocks */

void int8_winograd_plan(const struct int8_convolution_attrs *attrs, struct int8_state *state)
{
    const struct window *w = &state->window;
    size_t rows = divide_up((size_t)w->out[1], 2), columns = divide_up((size_t)w->out[2], 2);
    size_t tile_bytes = INT8_WINOGRAD_POSITIONS * int8_winograd_row(attrs->c_in) * sizeof(int16_t);
    size_t max_tiles = INPUT_BYTES / tile_bytes / MIN_TILES * MIN_TILES;
    max_tiles = max_tiles < MIN_TILES ? MIN_TILES : max_tiles > MAX_TILES ? MAX_TILES : max_tiles;
    state->pixel_bytes = attrs->c_in;
    state->height = 2 * rows + 2;
    state->width = 2 * columns + 2;
    state->is_padded = w->pad_begin[1] != 0 || w->pad_begin[2] != 0 ||
                       state->height > (size_t)w->in[1] || state->width > (size_t)w->in[2] ||
                       attrs->c_in % 16 != 0;
    if (!state->is_padded)
        state->width = (size_t)w->in[2];
    state->n_tile_columns = columns;
    state->n_rows = 1;
    state->n_columns = rows * columns;
    state->n_blocks = divide_up(state->n_columns, max_tiles);
    state->n_splits =
        state->n_blocks < SPLIT_GROUPS ? divide_up(int8_n_groups(attrs->c_out), SPLIT_GROUPS) : 1;
    size_t n = state->n_blocks > 0 ? divide_up(state->n_columns, state->n_blocks) : 0;
    state->rows_at = align_to_line(INT8_WINOGRAD_POSITIONS * sizeof(int16_t) *
                                   int8_winograd_step(n, attrs->c_in));
    state->part_bytes = state->rows_at + align_to_line(INT8_WINOGRAD_POSITIONS * sizeof(int32_t) *
                                                       int8_winograd_products_step(n));
}

void int8_winograd_run(const struct int8_job *job, const struct int8_block *block,
                       unsigned char *scratch)
{
    const struct int8_convolution_attrs *attrs = job->attrs;
    const struct int8_state *state = job->state;
    state->kernels->winograd(&(struct int8_winograd){
        .first = block->column,
        .n = block->n,
        .n_columns = state->n_tile_columns,
        .image = job->image,
        .row_bytes = state->width * attrs->c_in,
        .c_in = attrs->c_in,
        .c_out = attrs->c_out,
        .begin = block->begin,
        .end = block->end,
        .filters = attrs->winograd,
        .start = attrs->start,
        .requantization = attrs->requantization,
        .c = job->out,
        .out = {(size_t)state->window.out[1], (size_t)state->window.out[2]},
        .inputs = (int16_t *)(void *)scratch,
        .products = (int32_t *)(void *)(scratch + state->rows_at),
    });
}
