/* Select in plain C: the specification of every other variant.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/select_row.h"

#include <stdint.h>

/* A row whose condition stands still: a copy of one side, or one element n times. */
static void take_side(const struct select_row *row, size_t width)
{
    bool is_then = *row->condition != 0;
    const unsigned char *side = is_then ? row->then_values : row->else_values;
    size_t mask = is_then ? row->then_mask : row->else_mask;

    if (mask != 0 && row->out != side)
        memcpy(row->out, side, row->n * width);
    for (size_t i = 0; mask == 0 && i < row->n; i++)
        memmove(row->out + i * width, side, width);
}

ALWAYS_INLINE void run_scalar(const struct select_run *run, size_t width)
{
    for (size_t i = 0; i < run->n_rows && run->n > 0; i++) {
        struct select_row row = select_row_at(run, i, width);
        if (run->condition_stride == 0)
            take_side(&row, width);
        else
            select_few(&row, 0, row.n, width);
    }
}

void select_x8_scalar(const struct select_run *run)
{
    run_scalar(run, 1);
}

void select_x16_scalar(const struct select_run *run)
{
    run_scalar(run, 2);
}

void select_x32_scalar(const struct select_run *run)
{
    run_scalar(run, 4);
}

void select_x64_scalar(const struct select_run *run)
{
    run_scalar(run, 8);
}
