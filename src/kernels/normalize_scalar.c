/* Plain loops of the normalisations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/normalize.h"

#define N_LANES 8 /* sums side by side, so that a CPU can add several at once */

#define BODY "kernels/normalize_body.h"
#include "kernels/each_float.h"

deviations_fn *deviations_scalar(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 ? deviations_f32 : dtype == IRRUN_F64 ? deviations_f64 : NULL;
}

affine_fn *affine_scalar(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 ? affine_f32 : dtype == IRRUN_F64 ? affine_f64 : NULL;
}

affine_each_fn *affine_each_scalar(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 ? affine_each_f32 : dtype == IRRUN_F64 ? affine_each_f64 : NULL;
}
