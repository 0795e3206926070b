/* Computes a chain of convolutions with the channels last, by rows. Each convolution writes rows to
 * a line buffer, which keeps the rows that the next one still reads, so the images between them
 * stay in an L2 cache and need no memory of their own.
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

#define ROW_CHAIN_MAX 8 /* convolutions */

/* Computes rows begin ... end - 1 of a batch element. `in` and `out` are where its row 0 would be
 * if all rows were in memory. */
struct row_job {
    int64_t begin, end;
    const float *in;
    float *out;
    const struct epilogue *epilogue; /* NULL: none */
    size_t first;                    /* index of out[0] in the output of the epilogue */
    float *scratch;                  /* scratch_floats, of the thread */
};

/* A convolution that can compute rows. */
struct row_op {
    void (*run)(const void *convolution, const struct row_job *job);
    const void *convolution;
    const struct window *window;      /* over one or two dimensions */
    bool reads_rows;                  /* reads only rows that its windows contain */
    size_t in_row_floats, row_floats; /* of a row of the input and the output */
    size_t scratch_floats;            /* of a thread */
    size_t n_batches;
    double n_terms; /* multiply-adds of a batch element */
};

struct row_chain {
    const struct row_op *ops[ROW_CHAIN_MAX];
    const struct epilogue *epilogues[ROW_CHAIN_MAX]; /* all but the last are maps or only a bias */
    size_t n;
    /* Set by row_chain_plan. */
    int64_t n_rows;                /* rows of the output computed at a time */
    size_t buffers[ROW_CHAIN_MAX]; /* the line buffer after each op, in the thread's memory */
    size_t scratch, thread_floats;
};

/* Plans the line buffers of a chain, of which the caller has set the first members. Returns false
 * if they would not fit into an L2 cache. */
bool row_chain_plan(struct row_chain *chain);

/* Computes the size of the scratch memory; returns false if it overflows. */
bool row_chain_memory(const struct row_chain *chain, unsigned n_threads, size_t *n_bytes);

/* Computes all batch elements. The result does not depend on the number of threads. */
void row_chain_run(const struct row_chain *chain, const float *in, float *out, float *scratch,
                   struct thread_pool *pool);

#endif
