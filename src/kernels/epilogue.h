/* Element-wise operations on the result of a product, run piece by piece while the pieces are still
 * in the cache: a program of fused_f32.h, and how its operands repeat along the result.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_EPILOGUE_H
#define IRRUN_KERNELS_EPILOGUE_H

#include <stdbool.h>

#include "kernels/fused_f32.h"

#define EPILOGUE_MOST_INSTRUCTIONS 32 /* FUSED_END included */
#define EPILOGUE_MOST_TILES 4

/* Where an instruction finds its operand. */
struct epilogue_operand {
    uint32_t instruction;
    uint32_t element_bytes; /* 0: a tile that is kept within the program, of number `inner` */
    size_t inner,
        count; /* element i of the result takes element i / inner % count of the operand */
};

struct epilogue {
    fused_fn *fused;                         /* NULL: there is no program */
    const struct fused_instruction *program; /* `at` of an operand is its element 0 */
    const struct epilogue_operand *operands;
    size_t n_program, n_operands;
    size_t n_plain; /* elements from 0 on that the program does as it is; 0 if it keeps tiles */
    bool is_map;    /* an element becomes a function of itself alone */
    /* What the sums of a product begin with, a float for each column; NULL: zeros. Only for
     * products that said that they can do it. */
    void *bias;
};

/* Runs the program for elements first … first + n - 1 of the result; `epilogue` may be NULL. */
void epilogue_run(const struct epilogue *epilogue, size_t first, size_t n);

/* Runs the program of a map for n elements of the result that lie elsewhere, at `elements`. */
void epilogue_run_on(const struct epilogue *epilogue, float *elements, size_t n);

#endif
