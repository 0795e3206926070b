/* Computes a chain of convolutions with the channels last, a few rows at a time. Each convolution
 * writes its rows to a line buffer, which keeps them as long as the next convolution needs them. So
 * the intermediate images stay in an L2 cache and are never stored as a whole.
 *
 *     input   line buffer   line buffer   output
 *     in memory  1x1           3x3          1x1
 *     ------     ......        ......      ------
 *     ------     row 4         row 3  -->  row 3
 *     ------ --> row 5 ------> row 4  -->  row 4
 *     ------     row 6
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_ROW_CHAIN_H
#define IRRUN_KERNELS_ROW_CHAIN_H

#include "kernels/epilogue.h"
#include "kernels/sliding_window.h"
#include "kernels/thread_pool.h"

#define ROW_CHAIN_MAX 8 /* maximum number of convolutions */

/* Arguments to compute output rows begin ... end - 1 of a batch element. `in` and `out` are the
 * addresses of row 0, even if row 0 is not in memory. */
struct row_job {
    int64_t begin, end;
    const float *in;
    float *out;
    const struct epilogue *epilogue; /* NULL: none */
    size_t first;                    /* index of out[0] in the output of the epilogue */
    float *scratch;                  /* scratch memory of the thread, scratch_floats floats */
};

/* A convolution that can compute rows. */
struct row_op {
    void (*run)(const void *convolution, const struct row_job *job);
    const void *convolution;
    const struct window *window; /* over one or two dimensions */
    bool reads_rows; /* the convolution reads only input rows that its windows contain */
    size_t in_row_floats, row_floats; /* floats per row of the input, and of the output */
    size_t scratch_floats;            /* scratch memory per thread */
    size_t n_batches;
    double n_terms; /* multiply-adds per batch element */
};

struct row_chain {
    const struct row_op *ops[ROW_CHAIN_MAX];
    /* All except the last are maps or only a bias. */
    const struct epilogue *epilogues[ROW_CHAIN_MAX];
    size_t n;
    /* Set by row_chain_plan. */
    int64_t n_rows; /* output rows computed at a time */
    /* Offset of the line buffer after each op in the thread's memory. */
    size_t buffers[ROW_CHAIN_MAX];
    size_t scratch, thread_floats;
};

/* Plans the line buffers of a chain; the caller has set ops, epilogues and n. Returns false if the
 * buffers would not fit into an L2 cache. */
bool row_chain_plan(struct row_chain *chain);

/* Computes the size of the scratch memory of row_chain_run; returns false if it overflows. */
bool row_chain_memory(const struct row_chain *chain, unsigned n_threads, size_t *n_bytes);

/* Computes all batch elements. The result does not depend on the number of threads. */
void row_chain_run(const struct row_chain *chain, const float *in, float *out, float *scratch,
                   struct thread_pool *pool);

#endif
