/* col2im with plain loops, one kernel element after another.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/col2im.h"
#include "kernels/type_rows.h"

#include <string.h>

#define BODY "kernels/col2im_body.h"
#include "kernels/each_float.h"
#include "kernels/each_unsigned.h"

col2im_fn *col2im_scalar(enum irrun_dtype dtype)
{
    static col2im_fn *const loops[IRRUN_N_DTYPES] = {FLOAT_ROWS(col2im), UNSIGNED_ROWS(col2im),
                                                     WRAPPED_ROWS(col2im)};
    return loops[dtype];
}
