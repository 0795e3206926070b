/* The kernels of select.h, compiled for each CPU level. They blend vectors of the two operands. The
 * last vector of a row overlaps the one before it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/indexed_copy.h"
#include "kernels/kernels.h"
#include "kernels/level.h"

#define SELECT_LINE 64 /* size of a cache line, and of the widest vector, in bytes */

/* The prefetch distance for streamed rows, in bytes. 2 or 4 KB is as fast; none is slower. */
#define SELECT_AHEAD 1024

/* One row. Pointers are byte addresses. */
struct select_row {
    size_t n; /* elements */
    const unsigned char *condition, *then_values, *else_values;
    unsigned char *out;
    size_t then_mask, else_mask; /* ANDed with offsets: all ones, or 0 for a scalar */
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

/* Returns the address of element i of an operand, or of the scalar. */
ALWAYS_INLINE const unsigned char *select_at(const unsigned char *values, size_t mask, size_t i,
                                             size_t width)
{
    return values + (i * width & mask);
}

/* Selects elements begin … end-1 one by one. memcpy copies them as integers of their width, which
 * works for any alignment and type. */
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

/* Returns the operand itself or, for a scalar, `block` filled with the scalar, from which all
 * vectors are loaded. */
ALWAYS_INLINE const unsigned char *select_broadcast(const unsigned char *values, size_t mask,
                                                    size_t width, unsigned char block[sizeof(bits)])
{
    if (mask == 0)
        fill_elements(block, sizeof(bits) / width, values, width);
    return mask == 0 ? block : values;
}

/* Returns the number of elements before the first whole cache line of the output; n if no element
 * begins at a cache line. */
ALWAYS_INLINE size_t select_head(const unsigned char *out, size_t n, size_t width)
{
    size_t head_bytes = (size_t)(-(uintptr_t)out % SELECT_LINE);
    return head_bytes % width == 0 && head_bytes / width < n ? head_bytes / width : n;
}

ALWAYS_INLINE void prefetch(const unsigned char *at)
{
    __builtin_prefetch((const void *)((uintptr_t)at + SELECT_AHEAD));
}

/* Selects a vector of elements from i on. */
ALWAYS_INLINE bits choose(const struct select_row *row, size_t i, size_t width)
{
    return bits_choose(row->condition + i,
                       bits_load(select_at(row->then_values, row->then_mask, i, width)),
                       bits_load(select_at(row->else_values, row->else_mask, i, width)), width);
}

/* Selects whole cache lines of elements, from element i on, with non-temporal stores. Returns the
 * index of the first remaining element. */
ALWAYS_INLINE size_t stream_elements(const struct select_row *row, size_t i, size_t width)
{
    size_t lanes = sizeof(bits) / width, n_line = SELECT_LINE / width;
    for (; i + n_line <= row->n; i += n_line) {
        prefetch(row->condition + i);
        prefetch(select_at(row->then_values, row->then_mask, i, width));
        prefetch(select_at(row->else_values, row->else_mask, i, width));
        for (size_t k = i; k < i + n_line; k += lanes)
            bits_stream(row->out + k * width, choose(row, k, width));
    }
    return i;
}

ALWAYS_INLINE void select_row(const struct select_row *row, size_t width, bool is_streamed)
{
    size_t i = 0, n = row->n, lanes = sizeof(bits) / width;
    if (n < lanes) {
        select_few(row, 0, n, width);
        return;
    }
    /* Computed before the first store, since out may be an operand. */
    bits last = choose(row, n - lanes, width);
    if (is_streamed && select_head(row->out, n, width) < n) {
        i = select_head(row->out, n, width);
        select_few(row, 0, i, width);
        i = stream_elements(row, i, width);
    }
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        bits first = choose(row, i, width), second = choose(row, i + lanes, width);
        bits_store(row->out + i * width, first);
        bits_store(row->out + (i + lanes) * width, second);
    }
    if (i + lanes < n)
        bits_store(row->out + i * width, choose(row, i, width));
    if (i < n)
        bits_store(row->out + (n - lanes) * width, last);
}

/* Computes a row with a scalar condition: copies one of the operands. */
ALWAYS_INLINE void select_copy(const struct select_row *row, size_t width)
{
    bool is_then = *row->condition != 0;
    const unsigned char *from = is_then ? row->then_values : row->else_values;
    if ((is_then ? row->then_mask : row->else_mask) == 0)
        fill_elements(row->out, row->n, from, width);
    else if (from != row->out)
        memcpy(row->out, from, row->n * width);
}

/* Computes all rows, and ends non-temporal stores with a fence. */
ALWAYS_INLINE void select_rows(const struct select_run *run, size_t width)
{
    unsigned char then_block[sizeof(bits)], else_block[sizeof(bits)];
    for (size_t i = 0; i < run->n_rows && run->n > 0; i++) {
        struct select_row row = select_row_at(run, i, width);
        if (run->condition_stride == 0) {
            select_copy(&row, width);
            continue;
        }
        row.then_values = select_broadcast(row.then_values, row.then_mask, width, then_block);
        row.else_values = select_broadcast(row.else_values, row.else_mask, width, else_block);
        if (run->is_streamed)
            select_row(&row, width, true);
        else
            select_row(&row, width, false);
    }
    if (run->is_streamed)
        bits_fence();
}

#define DEFINE_SELECT(n_bits)                                                                      \
    void LEVEL_NAME(select_x##n_bits, LEVEL)(const struct select_run *run)                         \
    {                                                                                              \
        select_rows(run, n_bits / 8);                                                              \
    }
DEFINE_SELECT(8)
DEFINE_SELECT(16)
DEFINE_SELECT(32)
DEFINE_SELECT(64)
