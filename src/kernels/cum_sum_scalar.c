/* Cumulative sums with plain loops, along one contiguous row or along several neighbouring columns
 * at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cum_sum.h"
#include "kernels/type_rows.h"

#define LANES 32 /* sums computed at a time */

#define BODY "kernels/cum_sum_body.h"
#include "kernels/each_float.h"
#include "kernels/each_unsigned.h"

cum_sum_fn *cum_sum_scalar(enum irrun_dtype dtype)
{
    static cum_sum_fn *const loops[IRRUN_N_DTYPES] = {FLOAT_ROWS(sum), UNSIGNED_ROWS(sum),
                                                      WRAPPED_ROWS(sum)};
    return loops[dtype];
}
