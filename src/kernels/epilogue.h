/* An epilogue: element-wise operations that a product applies to each part of its result while that
 * part is in the cache. It consists of a program of fused_f32.h and a description of how the
 * operands repeat along the result.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_EPILOGUE_H
#define IRRUN_KERNELS_EPILOGUE_H

#include <stdbool.h>

#include "kernels/fused_f32.h"

#define EPILOGUE_MAX_INSTRUCTIONS 32 /* including FUSED_END */
#define EPILOGUE_MAX_SPILLS 4        /* spills are explained at FUSED_TILE */

/* Maps result elements to the elements of one operand. */
struct epilogue_operand {
    uint32_t instruction;   /* index of the instruction in the program */
    uint32_t element_bytes; /* 0: the operand is spill number `inner`, and count is unused */
    size_t inner, count; /* element i of the result uses element i / inner % count of the operand */
};

struct epilogue {
    fused_fn *fused; /* NULL: there is no program */
    /* `at` of an instruction points to element 0 of the operand. */
    const struct fused_instruction *program;
    const struct epilogue_operand *operands;
    size_t n_program, n_operands;
    /* Number of elements before any operand repeats; 0 if the program has spills. */
    size_t n_contiguous;
    bool is_map;   /* each result depends only on the element it replaces */
    bool is_clamp; /* a map that clamps each element to bounds[0] ... bounds[1]: ReLU, Clamp */
    float bounds[2];
    /* The initial values of the sums, one float per column; NULL: zeros. Only some products support
     * a bias. */
    void *bias;
};

/* Runs the program for elements first … first + n - 1 of the result; `epilogue` may be NULL. */
void epilogue_run(const struct epilogue *epilogue, size_t first, size_t n);

/* Returns the bounds of a clamp; NULL for any other epilogue. A kernel that clamps its results with
 * vec_max_min while it stores them need not run the epilogue. */
static inline const float *epilogue_bounds(const struct epilogue *epilogue)
{
    return epilogue && epilogue->is_clamp ? epilogue->bounds : NULL;
}

/* Runs the program of a map (is_map) on n result elements in another buffer. */
void epilogue_run_on(const struct epilogue *epilogue, float *elements, size_t n);

#endif
