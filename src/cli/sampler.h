/* --feed=OUT=IN:sample(T,K,P): draws an index from a row of logits.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SAMPLER_H
#define IRRUN_CLI_SAMPLER_H

#include "cli/options.h"

/* Working memory for one row. All zeros: not allocated. */
struct sampler {
    double *row;
    size_t *heap;
    size_t capacity, heap_capacity;
};

void sampler_free(struct sampler *sampler);

/* Draws from the n logits that start at element `start`; unit: a random number in [0, 1). *index is
 * relative to `start`. The index of logit x has a probability proportional to exp(x / T). Only the
 * K most probable indices are kept, then the fewest of these whose probabilities sum to at least P.
 * Of equally probable indices, the lower is kept. Fails with IRRUN_DATA if all logits are NaN or
 * -inf. */
bool sampler_draw(struct sampler *sampler, const struct sampling *sampling,
                  const struct irrun_tensor *logits, size_t start, size_t n, double unit,
                  int64_t *index, struct irrun_error *err);

#endif
