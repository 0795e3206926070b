/* The loops of the normalisations for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include it by kernels/each_float.h"
#endif

static double NAME(sum_deviations)(const T *in, double mean, size_t n)
{
    double lanes[N_LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + N_LANES <= n; i += N_LANES) {
        for (size_t k = 0; k < N_LANES; k++) {
            double x = in[i + k] - mean;
            lanes[k] += x * x;
        }
    }
    for (; i < n; i++)
        sum += (in[i] - mean) * (in[i] - mean);
    for (size_t k = 0; k < N_LANES; k++)
        sum += lanes[k];
    return sum;
}

static void NAME(deviations)(double *sums, const double *means, bool into_one, const void *in,
                             size_t n)
{
    const T *x = in;
    if (into_one)
        *sums += NAME(sum_deviations)(x, *means, n);
    for (size_t i = 0; i < n && !into_one; i++)
        sums[i] += (x[i] - means[i]) * (x[i] - means[i]);
}

static void NAME(affine)(const struct affine *affine, const void *in, void *out, size_t n)
{
    struct affine a = *affine;
    for (size_t i = 0; i < n; i++)
        ((T *)out)[i] = (T)((((const T *)in)[i] - a.center) * a.scale + a.shift);
}

static void NAME(affine_each)(const double *centers, const double *scales, const void *in,
                              void *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((T *)out)[i] = (T)((((const T *)in)[i] - centers[i]) * scales[i]);
}
