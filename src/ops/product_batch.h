/* Products of one kind that a step does, shared with the thread pool where they are large: as whole
 * products, or each of them in pieces. The bytes are the same for any thread pool.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_PRODUCT_BATCH_H
#define IRRUN_OPS_PRODUCT_BATCH_H

#include "ops/product.h"

struct product_batch {
    struct product product;
    size_t count;
    /* What follows is filled by product_batch_plan. */
    size_t n_parts;       /* for the thread pool */
    bool is_cut, by_rows; /* parts are panels of each product, or rows; else they are products */
    size_t scratch_bytes;
};

/* Plans for so many products, of which `product` is one: planned, or packed as a constant. False
 * with *err filled if they want too much memory. */
bool product_batch_plan(struct prepare *prepare, struct product_batch *batch);

/* Where the factors and the result of product number i are. */
typedef struct product_rows product_find_fn(const void *context, size_t i);

/* Does them all; scratch is scratch_bytes, aligned to 64. */
void product_batch_run(const struct product_batch *batch, product_find_fn *find,
                       const void *context, void *scratch, struct thread_pool *pool);

/* What a product costs: multiplications by panels that would take as long. */
double product_work(const struct product *product);

#endif
