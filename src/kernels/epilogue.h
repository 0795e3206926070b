/* Element-wise operations on the result of a product (an epilogue), applied to each part of it
 * while it is in the cache: a program of fused_f32.h, and how its operands repeat along the result.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_EPILOGUE_H
#define IRRUN_KERNELS_EPILOGUE_H

#include <stdbool.h>

#include "kernels/fused_f32.h"

#define EPILOGUE_MAX_INSTRUCTIONS 32 /* FUSED_END included */
#define EPILOGUE_MAX_SPILLS 4        /* see FUSED_TILE */

/* Which operand element belongs to which result element. */
struct epilogue_operand {
    uint32_t instruction;   /* its index in the program */
    uint32_t element_bytes; /* 0: the operand is spill number `inner`, and count is unused */
    size_t inner, count; /* element i of the result uses element i / inner % count of the operand */
};

struct epilogue {
    fused_fn *fused;                         /* NULL: there is no program */
    const struct fused_instruction *program; /* `at` of an operand is its element 0 */
    const struct epilogue_operand *operands;
    size_t n_program, n_operands;
    size_t n_contiguous; /* elements before an operand repeats; 0 if the program has spills */
    bool is_map;         /* each result depends on one element only */
    bool is_clamp;       /* a map that clamps each element to the bounds: ReLU, Clamp */
    float bounds[2];
    /* The initial values of the sums, a float for each column; NULL: zeros. Only some products
     * support it. */
    void *bias;
};

/* Runs the program for elements first … first + n - 1 of the result; `epilogue` may be NULL. */
void epilogue_run(const struct epilogue *epilogue, size_t first, size_t n);

/* Returns the bounds of a clamp; NULL for any other epilogue. A kernel that clamps its results to
 * them as it stores them runs no epilogue. vec_max_min does what ReLU and Clamp do. */
static inline const float *epilogue_bounds(const struct epilogue *epilogue)
{
    return epilogue && epilogue->is_clamp ? epilogue->bounds : NULL;
}

/* Runs the program of a map (is_map) on n result elements in another buffer. */
void epilogue_run_on(const struct epilogue *epilogue, float *elements, size_t n);

#endif
