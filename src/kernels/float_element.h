/* Loads and stores elements of f32 or f64, for loops that compute in double.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_FLOAT_ELEMENT_H
#define IRRUN_KERNELS_FLOAT_ELEMENT_H

#include <stddef.h>

#include "irrun.h"

static inline double float_load(enum irrun_dtype dtype, const void *data, size_t i)
{
    return dtype == IRRUN_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static inline void float_store(enum irrun_dtype dtype, void *data, size_t i, double x)
{
    if (dtype == IRRUN_F32)
        ((float *)data)[i] = (float)x;
    else
        ((double *)data)[i] = x;
}

#endif
