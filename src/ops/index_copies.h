/* Gathers and scatters: copies pieces of equal size between a dense tensor and an indexed tensor,
 * in which indices select the pieces. If the indices are constant, prepare converts them to loops
 * or to a list of offsets, and run does not read them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INDEX_COPIES_H
#define IRRUN_OPS_INDEX_COPIES_H

#include "kernels/elementwise.h"
#include "kernels/strided_copy.h"
#include "ops/indexing.h"

/* Consecutive pieces that are adjacent in the indexed tensor too, so that one copy moves them. */
struct index_run {
    int64_t offset; /* in bytes; -1: zeros */
    size_t n_elements;
};

/* The dense tensor is [n_groups][n_outer][n] pieces. In the indexed tensor, piece [g][i][k] starts
 * at byte offsets[g * n + k] plus i * outer_elements elements. A scatter has one group. */
struct index_copies {
    /* Set by the op before prepare. */
    size_t n_groups, n_outer, n;
    size_t outer_elements, piece_elements;
    bool gives_zeros;   /* gathers: an offset of -1 means zeros */
    binary_fn *combine; /* scatters: combines pieces; NULL overwrites */

    struct index_list offsets;
    /* Nested loops or runs may replace the offsets of constant indices. */
    const struct strided_copy *loops;
    int64_t loops_at; /* offset of the first piece in the indexed tensor, in bytes */
    const struct index_run *runs;
    size_t n_runs;
};

/* Prepares a gather or a scatter. resolve computes the n_groups * n offsets from the indices, which
 * are input 1. */
bool index_copies_prepare(struct prepare *prepare, index_resolve_fn *resolve, bool is_gather,
                          struct index_copies *copies);

/* Gathers from input 0 to output 0. */
extern const struct op_input_def index_gather_inputs[2];
bool index_gather_run(const struct step *step, const struct index_copies *copies,
                      struct irrun_error *err);
/* Copies input 0 to output 0. Then, for each piece of input 2 in the order of the indices,
 * overwrites the output or combines it with the piece. */
bool index_scatter_run(const struct step *step, const struct index_copies *copies,
                       struct irrun_error *err);

#endif
