/* Scalar loops for local response normalization (LRN).
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/lrn.h"

#include <math.h>
#include <string.h>

#include "kernels/float_element.h"

void lrn_square(enum irrun_dtype dtype, const void *in, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double x = float_load(dtype, in, i);
        out[i] = x * x;
    }
}

void lrn_add_neighbours(const double *in, double *out, size_t n_outer, size_t n, size_t n_inner,
                        size_t reach)
{
    memset(out, 0, n_outer * n * n_inner * sizeof *out);
    for (size_t outer = 0; outer < n_outer; outer++, in += n * n_inner) {
        for (size_t i = 0; i < n; i++, out += n_inner) {
            size_t first = i < reach ? 0 : i - reach;
            size_t end = reach < n - i ? i + reach + 1 : n;
            for (size_t j = first; j < end; j++)
                for (size_t k = 0; k < n_inner; k++)
                    out[k] += in[j * n_inner + k];
        }
    }
}

void lrn_divide(enum irrun_dtype dtype, const struct lrn_power *power, const double *sums,
                const void *in, void *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double divisor = pow(power->bias + power->scale * sums[i], power->beta);
        float_store(dtype, out, i, float_load(dtype, in, i) / divisor);
    }
}
