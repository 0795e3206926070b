/* MatMul by a compressed constant with dynamic quantization: quantizes the rows of A in every run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "kernels/quantized_gemm.h"
#include "ops/compressed_ops.h"

struct quantized_state {
    struct compressed_matrix matrix;
    struct quantized_product product; /* without the members that multiply_part sets */
    size_t m;                         /* rows of A */
    size_t row_bytes, n_blocks;       /* bytes of codes per row, and blocks per row */
    size_t panel_bytes;               /* scratch memory per part */
    size_t n_parts;
};

static bool infer(struct infer *infer)
{
    struct quantized_state *state = infer->state;
    return compressed_matmul_infer(infer, &state->m);
}

/* Requests scratch memory for one panel per part, then for the blocks of all rows of A, then for
 * the codes of all rows. */
static bool prepare(struct prepare *prepare)
{
    struct quantized_state *state = prepare->state;
    const struct compressed_matrix *matrix = &state->matrix;
    if (!compressed_matrix_find(prepare, &state->matrix))
        return false;
    prepare_epilogue(prepare);
    prepare->made.epilogue.bias = (struct repetition){1, matrix->n};
    struct quantized_blocks blocks = quantized_blocks_of(matrix);
    state->n_blocks = blocks.n;
    state->row_bytes = blocks.n * blocks.max_quads * INT8_QUAD;
    state->panel_bytes = quantized_panel_bytes(prepare->kernels->quantized_gemm, matrix, state->m);
    double work = (double)state->m * (double)matrix->n * (double)matrix->k;
    size_t n_panels = divide_up(matrix->n, QUANTIZED_PANEL_ROWS);
    state->n_parts = thread_pool_n_parts(prepare->pool, work / INT8_QUAD, n_panels);
    state->product = (struct quantized_product){.kernels = prepare->kernels->quantized_gemm,
                                                .int8 = prepare->kernels->gemm_int8,
                                                .m = state->m,
                                                .ldc = matrix->n};
    return prepare_scratch(prepare, state->n_parts, state->panel_bytes) &&
           prepare_scratch(prepare, state->m,
                           state->row_bytes + blocks.n * sizeof(struct quantized_block));
}

static struct quantized_block *blocks_of(const struct step *step)
{
    const struct quantized_state *state = step->state;
    return (void *)((char *)step->scratch + state->n_parts * state->panel_bytes);
}

static uint8_t *codes_of(const struct step *step)
{
    const struct quantized_state *state = step->state;
    return (uint8_t *)(blocks_of(step) + state->m * state->n_blocks);
}

static void quantize_part(void *context, size_t part, size_t n_parts)
{
    const struct step *step = context;
    const struct quantized_state *state = step->state;
    const float *x = step->in[0]->data;
    for (size_t i = state->m * part / n_parts; i < state->m * (part + 1) / n_parts; i++)
        state->product.kernels->quantize(&state->matrix, x + i * state->matrix.k,
                                         codes_of(step) + i * state->row_bytes,
                                         blocks_of(step) + i * state->n_blocks);
}

static void multiply_part(void *context, size_t part, size_t n_parts)
{
    const struct step *step = context;
    const struct quantized_state *state = step->state;
    const struct epilogue *epilogue = step->epilogue;
    size_t n = state->matrix.n, n_panels = divide_up(n, QUANTIZED_PANEL_ROWS);
    size_t last = n_panels * (part + 1) / n_parts * QUANTIZED_PANEL_ROWS;
    bool in_place = quantized_reads_in_place(state->product.kernels, &state->matrix, state->m);
    size_t step_columns = in_place ? n : QUANTIZED_PANEL_ROWS;
    last = last < n ? last : n;
    struct quantized_product product = state->product;
    product.matrix = &state->matrix;
    product.codes = codes_of(step);
    product.blocks = blocks_of(step);
    product.start = epilogue ? epilogue->bias : NULL;
    product.c = step->out[0]->data;
    product.panel = (char *)step->scratch + part * state->panel_bytes;
    product.begin = n_panels * part / n_parts * QUANTIZED_PANEL_ROWS;
    for (; product.begin < last; product.begin = product.end) {
        size_t left = last - product.begin;
        product.end = product.begin + (left < step_columns ? left : step_columns);
        quantized_multiply(&product);
        for (size_t i = 0; i < state->m; i++)
            epilogue_run(epilogue, i * n + product.begin, product.end - product.begin);
    }
}

static void run(const struct step *step)
{
    const struct quantized_state *state = step->state;
    thread_pool_run(step->pool, quantize_part, (void *)step,
                    state->m < state->n_parts ? 1 : state->n_parts);
    thread_pool_run(step->pool, multiply_part, (void *)step, state->n_parts);
}

const struct op_def op_quantized_matmul =
    COMPRESSED_MATMUL(struct quantized_state, infer, prepare, run);
