/* Adaptive max and average pooling with plain loops, for f32 and f64.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/adaptive_pool.h"

#include <string.h>

#include "kernels/float_element.h"
#include "kernels/sliding_window.h"

struct bin {
    int64_t first[3], end[3];
};

static struct bin find_bin(const struct adaptive_pool *pool, int64_t index)
{
    struct bin bin;
    int64_t o[3];
    window_unravel(pool->out, index, o);
    for (int d = 0; d < 3; d++) {
        bin.first[d] = o[d] * pool->in[d] / pool->out[d];
        bin.end[d] = window_divide((o[d] + 1) * pool->in[d], pool->out[d]);
    }
    return bin;
}

static int64_t row_start(const struct adaptive_pool *pool, int64_t z, int64_t y)
{
    return (z * pool->in[1] + y) * pool->in[2];
}

static int64_t find_max(enum irrun_dtype dtype, const struct adaptive_pool *pool,
                        const struct bin *bin, const void *in)
{
    int64_t index = row_start(pool, bin->first[0], bin->first[1]) + bin->first[2];
    double max = float_load(dtype, in, (size_t)index);
    for (int64_t z = bin->first[0]; z < bin->end[0]; z++) {
        for (int64_t y = bin->first[1]; y < bin->end[1]; y++) {
            int64_t start = row_start(pool, z, y);
            for (int64_t i = start + bin->first[2]; i < start + bin->end[2]; i++) {
                double x = float_load(dtype, in, (size_t)i);
                if (x > max) {
                    max = x;
                    index = i;
                }
            }
        }
    }
    return index;
}

void adaptive_max_pool(enum irrun_dtype dtype, const struct adaptive_pool *pool, const void *in,
                       void *out, int64_t *indices)
{
    size_t size = dtype == IRRUN_F32 ? sizeof(float) : sizeof(double);
    for (int64_t o = 0, n = window_product(pool->out); o < n; o++) {
        struct bin bin = find_bin(pool, o);
        indices[o] = find_max(dtype, pool, &bin, in);
        memcpy((char *)out + (size_t)o * size, (const char *)in + (size_t)indices[o] * size, size);
    }
}

void adaptive_avg_pool(enum irrun_dtype dtype, const struct adaptive_pool *pool, const void *in,
                       void *out)
{
    for (int64_t o = 0, n = window_product(pool->out); o < n; o++) {
        struct bin bin = find_bin(pool, o);
        int64_t n_terms = 0;
        double sum = 0;
        for (int64_t z = bin.first[0]; z < bin.end[0]; z++) {
            for (int64_t y = bin.first[1]; y < bin.end[1]; y++) {
                int64_t start = row_start(pool, z, y);
                for (int64_t i = start + bin.first[2]; i < start + bin.end[2]; i++, n_terms++)
                    sum += float_load(dtype, in, (size_t)i);
            }
        }
        float_store(dtype, out, (size_t)o, sum / (double)n_terms);
    }
}
