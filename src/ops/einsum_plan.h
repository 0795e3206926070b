/* Plans an Einsum, which multiplies the inputs one after the other. Each contraction is a batch of
 * dense products and sums over the labels that are not needed later.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_EINSUM_PLAN_H
#define IRRUN_OPS_EINSUM_PLAN_H

#include "kernels/strided_copy.h"
#include "ops/einsum_equation.h"
#include "ops/product_batch.h"

/* A tensor in the order that the next product, or the output, needs. */
struct einsum_operand {
    bool is_copied; /* false: it has this order already */
    struct strided_copy copy;
    int64_t n_rows, n_summed; /* each ordered row of n_summed elements is replaced by its sum */
};

/* The products of the previous result and the next input, stored one after the other. infer sets a,
 * b, and the sizes of the batch; prepare plans the batch. */
struct einsum_contraction {
    struct einsum_operand a, b;
    struct product_batch batch;
};

/* Scratch memory, in elements: two alternating results, two reordered operands, an operand before
 * its rows are summed, and a vector of ones. */
enum einsum_area {
    EINSUM_RESULT_0,
    EINSUM_RESULT_1,
    EINSUM_ORDERED_A,
    EINSUM_ORDERED_B,
    EINSUM_UNSUMMED,
    EINSUM_ONES,
    EINSUM_N_AREAS,
    EINSUM_OUTPUT = EINSUM_N_AREAS
};

struct einsum_plan {
    struct einsum_equation equation;
    struct einsum_contraction *contractions; /* [n_inputs - 1] */
    /* Puts the result, or the only input, into the order of the output. */
    struct einsum_operand last;
    int64_t sizes[EINSUM_N_AREAS + 1]; /* elements per area; sizes[EINSUM_OUTPUT] is not used */
    reduce_fn *sum;                    /* sums rows of f32 or f64 */
};

/* Parses the equation and fills a zeroed plan, except for the products and sum. */
bool infer_einsum_plan(struct infer *infer, const char *equation, struct einsum_plan *plan);

#endif
