/* --feed=OUT=IN:sample(T,K,P): draws an index from a row of logits.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SAMPLER_H
#define IRRUN_CLI_SAMPLER_H

#include "cli/options.h"

/* Memory for one row. All zeros: none yet. */
struct sampler {
    double *row;
    size_t *heap;
    size_t capacity, heap_capacity;
};

void sampler_free(struct sampler *sampler);

/* Draws from the n logits that start at element `start`; unit: a random number in [0, 1). *index
 * counts within the row. The index with logit x has a probability proportional to exp(x / T). Of
 * these, the K most probable are kept, then the fewest whose probabilities sum to P at least; of
 * equal ones, those with the lower index. Fails with IRRUN_DATA if all logits are NaN or -inf. */
bool sampler_draw(struct sampler *sampler, const struct sampling *sampling,
                  const struct irrun_tensor *logits, size_t start, size_t n, double unit,
                  int64_t *index, struct irrun_error *err);

#endif
