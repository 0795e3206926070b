/* Several products of equal sizes in one step. If there is enough work, threads share it: each
 * computes some of the products, or some rows or columns of every product. The bytes of the results
 * do not depend on the number of threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_PRODUCT_BATCH_H
#define IRRUN_OPS_PRODUCT_BATCH_H

#include "ops/product.h"

struct product_batch {
    struct product product;
    size_t count;
    /* Set by product_batch_plan. */
    size_t n_parts;  /* for the thread pool */
    bool is_divided; /* a part computes panels or rows of every product; false: whole products */
    bool by_rows;    /* if is_divided: rows; false: panels */
    size_t scratch_bytes;
};

/* Plans the batch. The caller has set count and planned the product. Returns false with *err filled
 * if the scratch memory would be too large. */
bool product_batch_plan(struct prepare *prepare, struct product_batch *batch);

/* Returns the addresses of the operands and the result of product i. */
typedef struct product_rows product_find_fn(const void *context, size_t i);

/* Computes all products. `scratch` is 64-byte aligned memory of scratch_bytes bytes. */
void product_batch_run(const struct product_batch *batch, product_find_fn *find,
                       const void *context, void *scratch, struct thread_pool *pool);

/* Estimates the work of a product, in multiply-adds of a packed product. */
double product_work(const struct product *product);

#endif
