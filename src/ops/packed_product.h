/* Dense products of f32 whose second factor is known only when they run: it is packed into panels first, in
 * scratch memory, where that pays.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_PACKED_PRODUCT_H
#define IRRUN_OPS_PACKED_PRODUCT_H

#include "ops/op.h"

/* c [m][n] = a [m][k] * b [k][n]; transposed factors lie as [k][m] and [n][k]. */
struct packed_product {
    size_t m, n, k;
    bool a_transposed, b_transposed;
    struct panels panels; /* without data; n_panels is 0 where packing does not pay */
    size_t b_bytes, scratch_bytes;
};

/* Plans from the sizes, of which m is how many rows meet one b. False with *err filled if they are too much to
 * count. */
bool packed_product_plan(struct prepare *prepare, struct packed_product *product);

static inline bool packed_product_pays(const struct packed_product *product)
{
    return product->panels.n_panels > 0;
}

/* Packs b into scratch memory of scratch_bytes, aligned to 64. */
void packed_product_pack(const struct packed_product *product, const float *b, void *scratch);

/* Multiplies rows with the b packed last, m of them at most; of a transposed a all m. The result is the part of
 * what the epilogue knows that begins with element `first`. */
struct packed_rows {
    size_t m;
    const float *a;
    float *c;
    const struct epilogue *epilogue; /* NULL: none */
    size_t first;
};
void packed_product_multiply(const struct packed_product *product, const struct packed_rows *rows,
                             void *scratch);

#endif
