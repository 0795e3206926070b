/* Normalizes slices of a tensor. A slice consists of the elements along the chosen axes. It is
 * reduced to sums, and an affine map is applied to its elements. The reduction ops use
 * reduction_split_off.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_NORMALIZATION_H
#define IRRUN_OPS_NORMALIZATION_H

#include "ops/op.h"
#include "tensor/broadcast.h"

/* Removes the two innermost loops from a plan over data (operand 0) and accumulators (operand 1),
 * and returns them. */
struct reduction reduction_split_off(struct broadcast *loops);

/* The state of a normalization op. */
struct normalize {
    struct broadcast loops; /* around `inner`. Operands: data (input 0, and output 0), slices */
    struct reduction inner;
    size_t n_slices;
    int64_t n_terms; /* elements per slice */
    reduce_fn *sum, *sum_of_squares, *sum_of_squared_deviations;
    affine_fn *affine;
    affine_each_fn *affine_each;
};

/* Sets output 0 to the type and shape of input 0. Slices span the axes that are set. */
bool normalize_infer(struct infer *infer, const bool is_set[IRRUN_MAX_RANK]);
/* Does the same for the axes that input 1 lists. */
bool normalize_infer_axes(struct infer *infer);
/* Requests scratch memory of three doubles per slice. Divides the work into units that threads
 * share; `run` computes a range of them. */
bool normalize_prepare(struct prepare *prepare, share_fn *run);

/* Slices first … first + n - 1 of a step, and their scratch memory: n elements each. */
struct slices {
    size_t first, n;
    double *means, *sums, *scales;
};
/* Returns the slices of units begin ... end - 1, with means and sums set to 0. */
struct slices normalize_start(const struct step *step, size_t begin, size_t end);

/* Adds the reduction of each slice to to[slice]; deviations are relative to `means`. */
void normalize_reduce(const struct step *step, const struct slices *slices, reduce_fn *reduce,
                      double *to);
/* Computes output = (input - mean) * scale. */
void normalize_apply(const struct step *step, const struct slices *slices);

#endif
