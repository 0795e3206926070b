/* What the variants of Select share: the rows of a run, and a few elements without vectors. For the
 * files select_*.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_SELECT_ROW_H
#define IRRUN_KERNELS_SELECT_ROW_H

#include <stdint.h>
#include <string.h>

#include "kernels/select.h"

/* So that a width is a constant wherever it is used. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define SELECT_LINE 64 /* bytes of a cache line, and of the widest vector */

/* Where the loads of a streamed row run ahead, in bytes; 2 and 4 KB do the same, nothing does
 * less. */
#define SELECT_AHEAD 1024

/* An operand that stands still is spread over a block, which every load then reads: as much as a
 * loop takes in one turn, 64 elements at most. */
#define SELECT_BLOCK 512

/* One row in bytes. */
struct select_row {
    size_t n; /* elements */
    const unsigned char *condition, *then_values, *else_values;
    unsigned char *out;
    size_t then_mask,
        else_mask; /* all ones, or 0 for an operand that stands still: see select_at */
};

ALWAYS_INLINE struct select_row select_row_at(const struct select_run *run, size_t i, size_t width)
{
    return (struct select_row){
        .n = run->n,
        .condition = run->condition + i * run->condition_row,
        .then_values = (const unsigned char *)run->then_values + i * run->then_row * width,
        .else_values = (const unsigned char *)run->else_values + i * run->else_row * width,
        .out = (unsigned char *)run->out + i * run->n * width,
        .then_mask = run->then_stride > 0 ? SIZE_MAX : 0,
        .else_mask = run->else_stride > 0 ? SIZE_MAX : 0,
    };
}

/* Element i. */
ALWAYS_INLINE const unsigned char *select_at(const unsigned char *values, size_t mask, size_t i,
                                             size_t width)
{
    return values + (i * width & mask);
}

/* Elements begin … end-1. They go through integers of their width, by memcpy: no alignment, no
 * value. */
ALWAYS_INLINE void select_few(const struct select_row *row, size_t begin, size_t end, size_t width)
{
    for (size_t i = begin; i < end; i++) {
        uint64_t a = 0, b = 0;
        memcpy(&a, select_at(row->then_values, row->then_mask, i, width), width);
        memcpy(&b, select_at(row->else_values, row->else_mask, i, width), width);
        a = row->condition[i] != 0 ? a : b;
        memcpy(row->out + i * width, &a, width);
    }
}

/* An operand as every loop may read it. */
ALWAYS_INLINE const unsigned char *select_spread(const unsigned char *values, size_t mask,
                                                 size_t width, unsigned char block[SELECT_BLOCK])
{
    if (mask != 0)
        return values;
    uint64_t element = 0;
    memcpy(&element, values, width);
    for (size_t i = 0; i < 64; i++)
        memcpy(block + i * width, &element, width);
    return block;
}

/* Elements before the first whole line of the output; all n of them if no element begins there. */
ALWAYS_INLINE size_t select_head(const unsigned char *out, size_t n, size_t width)
{
    size_t head_bytes = (size_t)(-(uintptr_t)out % SELECT_LINE);
    return head_bytes % width == 0 && head_bytes / width < n ? head_bytes / width : n;
}

/* What a level does with a row: chooses between operands that are spread already … */
typedef void select_row_fn(const struct select_row *row, size_t width, bool is_streamed);
/* … and writes whole lines from an address divisible by 64, past the caches: those at `side`, or
 * always the first if mask is 0. Returns the number of bytes written, all but the last few. */
typedef size_t select_stream_fn(unsigned char *out, const unsigned char *side, size_t mask,
                                size_t n_bytes);

/* A row whose condition stands still is a copy of one side. */
ALWAYS_INLINE void select_side(const struct select_row *row, size_t width, bool is_streamed,
                               select_stream_fn *stream)
{
    bool is_then = *row->condition != 0;
    const unsigned char *side = is_then ? row->then_values : row->else_values;
    size_t mask = is_then ? row->then_mask : row->else_mask;
    size_t n_bytes = row->n * width, head = select_head(row->out, row->n, width), done = 0;
    unsigned char block[SELECT_BLOCK];

    if (side == row->out)
        return;
    side = select_spread(side, mask, width, block);
    if (is_streamed && head < row->n) {
        done = head * width;
        memcpy(row->out, side, done);
        done += stream(row->out + done, side + (done & mask), mask, n_bytes - done);
    }
    if (mask != 0) {
        memcpy(row->out + done, side + done, n_bytes - done);
        return;
    }
    for (; done + SELECT_LINE <= n_bytes; done += SELECT_LINE)
        memcpy(row->out + done, side, SELECT_LINE);
    memcpy(row->out + done, side, n_bytes - done);
}

ALWAYS_INLINE void select_rows(const struct select_run *run, size_t width, select_row_fn *select,
                               select_stream_fn *stream)
{
    unsigned char then_block[SELECT_BLOCK], else_block[SELECT_BLOCK];
    for (size_t i = 0; i < run->n_rows && run->n > 0; i++) {
        struct select_row row = select_row_at(run, i, width);
        if (run->condition_stride == 0) {
            select_side(&row, width, run->is_streamed, stream);
            continue;
        }
        row.then_values = select_spread(row.then_values, row.then_mask, width, then_block);
        row.else_values = select_spread(row.else_values, row.else_mask, width, else_block);
        if (run->is_streamed)
            select(&row, width, true);
        else
            select(&row, width, false);
    }
}

#endif
