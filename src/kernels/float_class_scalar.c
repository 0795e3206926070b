/* Plain loops of the classification of floats.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/float_class.h"

#include <math.h>

#include "kernels/float_element.h"

static unsigned class_of(double x)
{
    if (isnan(x))
        return FLOAT_NAN;
    if (isinf(x))
        return x > 0 ? FLOAT_PLUS_INFINITY : FLOAT_MINUS_INFINITY;
    return FLOAT_FINITE;
}

void float_class_scalar(enum irrun_dtype dtype, const void *in, uint8_t *out, size_t n,
                        unsigned classes)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (class_of(float_load(dtype, in, i)) & classes) != 0;
}
