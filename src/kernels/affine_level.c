/* The loops of affine.h, compiled for each CPU level. All levels compute in double and give the
 * same bits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/affine.h"
#include "kernels/kernels.h"
#include "kernels/level.h"

#define MAPS(T, type, load, store)                                                                 \
    static void map_##type(const struct affine *a, const void *in, void *out, size_t n)            \
    {                                                                                              \
        const T *x = in;                                                                           \
        T *y = out;                                                                                \
        const struct affine map = *a;                                                              \
        size_t i = 0;                                                                              \
        for (; i + VECTOR_F64_LANES <= n; i += VECTOR_F64_LANES)                                   \
            store(y + i, (load(x + i) - map.center) * map.scale + map.shift);                      \
        for (; i < n; i++)                                                                         \
            y[i] = (T)((x[i] - map.center) * map.scale + map.shift);                               \
    }                                                                                              \
                                                                                                   \
    static void map_each_##type(const double *centers, const double *scales, const void *in,       \
                                void *out, size_t n)                                               \
    {                                                                                              \
        const T *x = in;                                                                           \
        T *y = out;                                                                                \
        size_t i = 0;                                                                              \
        for (; i + VECTOR_F64_LANES <= n; i += VECTOR_F64_LANES)                                   \
            store(y + i, (load(x + i) - vec_f64_load(centers + i)) * vec_f64_load(scales + i));    \
        for (; i < n; i++)                                                                         \
            y[i] = (T)((x[i] - centers[i]) * scales[i]);                                           \
    }

MAPS(float, f32, vec_f64_load_f32, vec_f64_store_f32)
MAPS(double, f64, vec_f64_load, vec_f64_store)

const struct affine_kernels LEVEL_NAME(affine, LEVEL) = {map_f32, map_f64, map_each_f32,
                                                         map_each_f64};
