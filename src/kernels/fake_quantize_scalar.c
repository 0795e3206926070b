/* Plain loops of FakeQuantize.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/fake_quantize.h"

#include <float.h>
#include <stdbool.h>
#include <tgmath.h>

#define BLOCK 256

/* Numbers of at most this size are rounded to even by adding and taking away 1.5 times a power of
 * two, beside which they have no digits behind the point. What x beyond the bounds becomes is not
 * looked at. */
#define EPSILON (sizeof(T) == sizeof(float) ? (T)FLT_EPSILON : (T)DBL_EPSILON)
#define ROUNDED_UP_TO ((T)0.5 / EPSILON)
#define ROUNDER ((T)1.5 / EPSILON)

#define BODY "kernels/fake_quantize_body.h"
#include "kernels/each_float.h"

fake_quantize_fn *fake_quantize_scalar(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 ? fake_quantize_f32 : dtype == IRRUN_F64 ? fake_quantize_f64 : NULL;
}
