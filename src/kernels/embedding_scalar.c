/* Sums and means of embedding rows with plain loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/embedding.h"
#include "kernels/type_rows.h"

#define BODY "kernels/embedding_body.h"
#include "kernels/each_float.h"
#include "kernels/each_signed.h"
#include "kernels/each_unsigned.h"

const struct embedding_fns *embedding_scalar(enum irrun_dtype dtype)
{
    static const struct embedding_fns *const fns[IRRUN_N_DTYPES] = {
        FLOAT_ROWS(&fns), SIGNED_ROWS(&fns), UNSIGNED_ROWS(&fns)};
    return fns[dtype];
}
