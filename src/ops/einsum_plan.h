/* How an Einsum is computed: the inputs are joined one after the other, and each time the labels
 * that nothing needs any more are summed by a batch of dense products.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_EINSUM_PLAN_H
#define IRRUN_OPS_EINSUM_PLAN_H

#include "kernels/strided_copy.h"
#include "ops/einsum_equation.h"
#include "ops/product_batch.h"

/* A tensor brought into the order that the next product, or the output, wants. */
struct einsum_operand {
    bool is_copied; /* else it is in order already */
    struct strided_copy copy;
    int64_t n_rows,
        n_summed; /* after the copy: rows that are summed each; n_summed 1: nothing to do */
};

/* Products of what was joined so far and the next input, dense one after the other; of them only
 * what infer can know is filled. */
struct einsum_join {
    struct einsum_operand a, b;
    struct product_batch batch;
};

/* Scratch memory, in elements: the result so far and the one before (they take turns), two ordered
 * operands, one of them before its rows are summed, and ones. */
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
    struct einsum_join *joins; /* [n_inputs - 1] */
    struct einsum_operand
        last; /* brings the result, or the only input, into the order of the output */
    int64_t sizes[EINSUM_N_AREAS + 1]; /* of the areas; that of the output is not used */
    reduce_fn *sum;                    /* of f32 and f64 */
};

/* Reads the equation and plans: all of a zeroed struct but the products and sum. */
bool infer_einsum_plan(struct infer *infer, const char *equation, struct einsum_plan *plan);

#endif
