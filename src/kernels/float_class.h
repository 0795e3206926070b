/* Which floats are NaN, infinite or finite.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_FLOAT_CLASS_H
#define IRRUN_KERNELS_FLOAT_CLASS_H

#include "irrun.h"

enum float_class {
    FLOAT_NAN = 1,
    FLOAT_PLUS_INFINITY = 2,
    FLOAT_MINUS_INFINITY = 4,
    FLOAT_FINITE = 8,
};

/* out[i] = 1 if in[i] is of one of the classes (a set of the above), else 0. dtype: f32 or f64. */
void float_class_scalar(enum irrun_dtype dtype, const void *in, uint8_t *out, size_t n,
                        unsigned classes);

#endif
