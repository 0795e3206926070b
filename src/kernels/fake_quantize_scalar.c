/* FakeQuantize with plain loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/fake_quantize.h"

#include <tgmath.h>

#define BODY "kernels/fake_quantize_body.h"
#include "kernels/each_float.h"

fake_quantize_fn *fake_quantize_scalar(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32 ? fake_quantize_f32 : dtype == IRRUN_F64 ? fake_quantize_f64 : NULL;
}
