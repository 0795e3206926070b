/* Plain loops of col2im, kernel element by kernel element.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/columns.h"
#include "kernels/type_rows.h"

#include <string.h>

#define BODY "kernels/columns_body.h"
#include "kernels/each_float.h"
#include "kernels/each_unsigned.h"

columns_fn *columns_scalar(enum irrun_dtype dtype)
{
    static columns_fn *const loops[IRRUN_N_DTYPES] = {FLOAT_ROWS(add), UNSIGNED_ROWS(add),
                                                      WRAPPED_ROWS(add)};
    return loops[dtype];
}
