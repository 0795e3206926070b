/* Dense products whose second factor is known only when they run, of any type: who multiplies is chosen once. f32
 * are packed into panels first, in scratch memory, where that pays.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_PRODUCT_H
#define IRRUN_OPS_PRODUCT_H

#include "ops/op.h"

/* c [m][n] = a [m][k] * b [k][n]; transposed factors lie as [k][m] and [n][k]. */
struct product {
    size_t m, n, k; /* m is how many rows meet one b */
    bool a_transposed, b_transposed;
    enum irrun_dtype dtype;
    /* What follows is filled by product_plan. */
    struct panels panels; /* without data; n_panels is 0 where packing does not pay */
    size_t b_bytes, scratch_bytes;
    gemm_f32_fn *f32; /* who else does it */
    gemm_f64_fn *f64;
};

/* Plans from the sizes and the type. False with *err filled if they are too much to count. */
bool product_plan(struct prepare *prepare, struct product *product);

static inline bool product_is_packed(const struct product *product)
{
    return product->panels.n_panels > 0;
}

/* Before the products with one b: packs it into scratch memory of scratch_bytes, aligned to 64, if that pays. */
void product_take_b(const struct product *product, const void *b, void *scratch);

/* Multiplies rows with the b taken last, m of them at most; of a transposed a all m. The result is the part of
 * what the epilogue knows that begins with element `first`. */
struct product_rows {
    size_t m;
    const void *a, *b;
    void *c;
    const struct epilogue *epilogue; /* NULL: none */
    size_t first;
};
void product_run(const struct product *product, const struct product_rows *rows, void *scratch);

#endif
