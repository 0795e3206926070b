/* Plain loops of the normalisations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/normalize.h"

#define N_LANES 8 /* sums side by side, so that a CPU can add several at once */

#define DEFINE_NORMALIZE(T, suffix)                                                                \
    static double sum_deviations_##suffix(const T *in, double mean, size_t n)                      \
    {                                                                                              \
        double lanes[N_LANES] = {0}, sum = 0;                                                      \
        size_t i = 0;                                                                              \
        for (; i + N_LANES <= n; i += N_LANES) {                                                   \
            for (size_t k = 0; k < N_LANES; k++) {                                                 \
                double x = in[i + k] - mean;                                                       \
                lanes[k] += x * x;                                                                 \
            }                                                                                      \
        }                                                                                          \
        for (; i < n; i++)                                                                         \
            sum += (in[i] - mean) * (in[i] - mean);                                                \
        for (size_t k = 0; k < N_LANES; k++)                                                       \
            sum += lanes[k];                                                                       \
        return sum;                                                                                \
    }                                                                                              \
                                                                                                   \
    static void deviations_##suffix(double *sums, const double *means, bool into_one,              \
                                    const void *in, size_t n)                                      \
    {                                                                                              \
        const T *x = in;                                                                           \
        if (into_one)                                                                              \
            *sums += sum_deviations_##suffix(x, *means, n);                                        \
        for (size_t i = 0; i < n && !into_one; i++)                                                \
            sums[i] += (x[i] - means[i]) * (x[i] - means[i]);                                      \
    }                                                                                              \
                                                                                                   \
    static void affine_##suffix(const struct affine *affine, const void *in, void *out, size_t n)  \
    {                                                                                              \
        struct affine a = *affine;                                                                 \
        for (size_t i = 0; i < n; i++)                                                             \
            ((T *)out)[i] = (T)((((const T *)in)[i] - a.center) * a.scale + a.shift);              \
    }                                                                                              \
                                                                                                   \
    static void affine_each_##suffix(const double *centers, const double *scales, const void *in,  \
                                     void *out, size_t n)                                          \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            ((T *)out)[i] = (T)((((const T *)in)[i] - centers[i]) * scales[i]);                    \
    }

DEFINE_NORMALIZE(float, f32)
DEFINE_NORMALIZE(double, f64)

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
