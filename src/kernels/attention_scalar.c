/* Plain loops of attention: scale, mask, softmax with its sum in double.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/attention.h"

#include <string.h>
#include <tgmath.h>

#define BODY "kernels/attention_body.h"
#include "kernels/each_float.h"

void attention_mask_f32(const struct attention_rows *rows, float *scores)
{
    for (size_t row = 0; row < rows->n_rows; row++)
        mask_row_f32(rows, row, scores + row * rows->n);
}

void attention_zero_hidden_rows_f32(const struct attention_rows *rows, float *weights)
{
    zero_hidden_f32(rows, weights);
}

attention_fn *attention_scalar(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 ? attention_f32 : dtype == IRRUN_F64 ? attention_f64 : NULL;
}
