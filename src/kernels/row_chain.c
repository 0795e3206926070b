/* Plans and runs the chains of convolutions of row_chain.h, a few output rows at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/row_chain.h"

#include <string.h>

#include "base/checked.h"
#include "kernels/packed_gemm.h"

/* The maximum size of all line buffers of a chain: a quarter of a 1 MB L2 cache, or half of a 512
 * KB one. */
#define BUFFER_FLOATS (L2_BYTES / 4 / sizeof(float))
#define MAX_ROWS 8

struct rows {
    int64_t begin, end;
};

/* Returns the input rows that an op reads to compute output rows `out`. */
static struct rows find_input_rows(const struct window *w, struct rows out)
{
    int64_t begin = out.begin * w->stride[1] - w->pad_begin[1];
    int64_t end =
        (out.end - 1) * w->stride[1] - w->pad_begin[1] + (w->kernel[1] - 1) * w->dilation[1] + 1;
    begin = begin < 0 ? 0 : begin;
    end = end > w->in[1] ? w->in[1] : end;
    return (struct rows){begin, begin < end ? end : begin};
}

/* Returns the maximum number of input rows that an op reads to compute n output rows. */
static size_t max_input_rows(const struct window *w, size_t n)
{
    size_t n_in =
        (n - 1) * (size_t)w->stride[1] + (size_t)((w->kernel[1] - 1) * w->dilation[1]) + 1;
    return n_in < (size_t)w->in[1] ? n_in : (size_t)w->in[1];
}

/* Places the line buffers that are needed to compute n output rows of the chain at a time. Returns
 * false if they are too large. */
static bool place_buffers(struct row_chain *chain, size_t n)
{
    size_t scratch = 0, at = 0;
    chain->n_rows = (int64_t)n;
    for (size_t i = chain->n; i-- > 0;) {
        const struct row_op *op = chain->ops[i];
        scratch = scratch > op->scratch_floats ? scratch : op->scratch_floats;
        if (i + 1 < chain->n) {
            chain->buffers[i] = at;
            at += divide_up(n * op->row_floats, 16) * 16;
        }
        n = max_input_rows(op->window, n);
        if (at > BUFFER_FLOATS)
            return false;
    }
    chain->scratch = at;
    chain->thread_floats = divide_up(at + scratch, 16) * 16;
    return true;
}

bool row_chain_plan(struct row_chain *chain)
{
    size_t n_out = (size_t)chain->ops[chain->n - 1]->window->out[1];
    size_t n = n_out < MAX_ROWS ? n_out : MAX_ROWS;
    while (n > 1 && !place_buffers(chain, n))
        n--;
    return n > 1;
}

bool row_chain_memory(const struct row_chain *chain, unsigned n_threads, size_t *n_bytes)
{
    return checked_mul(chain->thread_floats, n_threads, n_bytes) &&
           checked_mul(*n_bytes, sizeof(float), n_bytes);
}

struct run {
    const struct row_chain *chain;
    const float *in; /* input of the batch element */
    float *out, *scratch;
    size_t batch;
};

/* The progress of a thread: rows[i] are the output rows of op i that are in its line buffer. */
struct progress {
    const struct run *run;
    float *memory;
    struct rows rows[ROW_CHAIN_MAX];
};

/* Returns the address that row 0 of the output of op i would have if the rows before those in the
 * line buffer were stored in front of it. */
static float *find_row_0(const struct progress *progress, size_t i)
{
    const struct row_chain *chain = progress->run->chain;
    uintptr_t n = (uintptr_t)progress->rows[i].begin * chain->ops[i]->row_floats;
    return (float *)((uintptr_t)(progress->memory + chain->buffers[i]) - n * sizeof(float));
}

/* Drops the rows before row `begin` from the line buffer after op i. */
static void drop_rows(struct progress *progress, size_t i, int64_t begin)
{
    const struct row_chain *chain = progress->run->chain;
    struct rows *rows = &progress->rows[i];
    size_t row = chain->ops[i]->row_floats;
    float *buffer = progress->memory + chain->buffers[i];
    if (begin > rows->begin && begin < rows->end)
        memmove(buffer, buffer + (size_t)(begin - rows->begin) * row,
                (size_t)(rows->end - begin) * row * sizeof *buffer);
    rows->begin = begin;
    rows->end = rows->end < begin ? begin : rows->end;
}

/* Computes the output rows `wanted` of op i, into its line buffer or the output of the chain. Does
 * not compute rows again that are in the buffer. Successive calls must not move `wanted`
 * backwards. */
static void compute_rows(struct progress *progress, size_t i, struct rows wanted)
{
    const struct run *run = progress->run;
    const struct row_chain *chain = run->chain;
    const struct row_op *op = chain->ops[i];
    bool is_last = i + 1 == chain->n;
    if (!is_last) {
        drop_rows(progress, i, wanted.begin);
        wanted.begin = progress->rows[i].end;
    }
    if (wanted.begin >= wanted.end)
        return;
    if (i > 0)
        compute_rows(progress, i - 1, find_input_rows(op->window, wanted));
    struct row_job job = {
        .begin = wanted.begin,
        .end = wanted.end,
        .in = i > 0 ? find_row_0(progress, i - 1) : run->in,
        .out = is_last ? run->out : find_row_0(progress, i),
        .epilogue = chain->epilogues[i],
        .first = run->batch * (size_t)op->window->out[1] * op->row_floats,
        .scratch = progress->memory + chain->scratch,
    };
    op->run(op->convolution, &job);
    progress->rows[i].end = wanted.end;
}

static void run_share(void *context, size_t share, size_t n_shares)
{
    const struct run *run = context;
    const struct row_chain *chain = run->chain;
    size_t last = chain->n - 1, n = (size_t)chain->ops[last]->window->out[1];
    int64_t begin = (int64_t)(n * share / n_shares), end = (int64_t)(n * (share + 1) / n_shares);
    struct progress progress = {.run = run, .memory = run->scratch + share * chain->thread_floats};
    for (; begin < end; begin += chain->n_rows)
        compute_rows(
            &progress, last,
            (struct rows){begin, begin + chain->n_rows < end ? begin + chain->n_rows : end});
}

void row_chain_run(const struct row_chain *chain, const float *in, float *out, float *scratch,
                   struct thread_pool *pool)
{
    const struct row_op *first = chain->ops[0], *last = chain->ops[chain->n - 1];
    size_t n_in = (size_t)first->window->in[1] * first->in_row_floats;
    size_t n_out = (size_t)last->window->out[1] * last->row_floats;
    size_t n_parts = (size_t)(last->window->out[1] + chain->n_rows - 1) / (size_t)chain->n_rows;
    double n_terms = 0;
    for (size_t i = 0; i < chain->n; i++)
        n_terms += chain->ops[i]->n_terms;
    for (size_t batch = 0; batch < first->n_batches; batch++) {
        struct run run = {chain, in + batch * n_in, out + batch * n_out, scratch, batch};
        thread_pool_run(pool, run_share, &run, thread_pool_n_parts(pool, n_terms, n_parts));
    }
}
