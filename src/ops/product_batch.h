/* Several products of equal sizes in one step, shared with the thread pool if they are large
 * enough: whole products, or parts of each. The bytes of the results do not depend on the thread
 * pool.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_PRODUCT_BATCH_H
#define IRRUN_OPS_PRODUCT_BATCH_H

#include "ops/product.h"

struct product_batch {
    struct product product;
    size_t count;
    /* Set by product_batch_plan. */
    size_t n_parts; /* for the thread pool */
    bool is_divided,
        by_rows; /* parts are panels of each product, or rows; otherwise whole products */
    size_t scratch_bytes;
};

/* Plans the batch; `product` is planned, or packed as a constant. Returns false with *err filled if
 * the memory would be too large. */
bool product_batch_plan(struct prepare *prepare, struct product_batch *batch);

/* Returns where the factors and the result of product number i are. */
typedef struct product_rows product_find_fn(const void *context, size_t i);

/* Computes all products; scratch is scratch_bytes, aligned to 64. */
void product_batch_run(const struct product_batch *batch, product_find_fn *find,
                       const void *context, void *scratch, struct thread_pool *pool);

/* Estimates the work of a product, in multiply-adds of a packed product. */
double product_work(const struct product *product);

#endif
