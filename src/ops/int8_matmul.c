/* MatMul of a u8 tensor by a constant i8 matrix.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "ops/cost.h"
#include "ops/int8_ops.h"

#define PART_ROWS 48 /* approximate minimum of rows per part, if parts are rows */

struct matmul_state {
    const struct int8_kernels *kernels;
    size_t m, row_bytes; /* row_bytes: size of a row of A, padded to whole quads */
    size_t n_parts;
    bool by_rows;     /* parts are rows; otherwise groups of columns */
    size_t tile_rows; /* see struct int8_product */
};

static bool infer(struct infer *infer)
{
    const struct int8_convolution_attrs *attrs = infer->attrs;
    struct matmul_state *state = infer->state;
    struct irrun_shape out = infer->in[0]->shape;
    if (out.rank == 0 || out.dims[out.rank - 1] != (int64_t)attrs->c_in)
        return infer_fail_input(infer, 0, "rows of %zu elements to match the matrix", attrs->c_in);
    state->m = (size_t)shape_n_elements(&out) / attrs->c_in;
    out.dims[out.rank - 1] = (int64_t)attrs->c_out;
    if (out.rank < attrs->rank_min) {
        uint32_t n = attrs->rank_min - out.rank;
        memmove(out.dims + n, out.dims, out.rank * sizeof *out.dims);
        for (uint32_t d = 0; d < n; d++)
            out.dims[d] = 1;
        out.rank = attrs->rank_min;
    }
    return infer_output(infer, 0, attrs->to == INT8_TO_U8 ? IRRUN_U8 : IRRUN_F32, &out);
}

static bool prepare(struct prepare *prepare)
{
    const struct int8_convolution_attrs *attrs = prepare->attrs;
    struct matmul_state *state = prepare->state;
    size_t n_groups = int8_n_groups(attrs->c_out), n_row_parts = state->m / PART_ROWS + 1;
    double work = (double)state->m * (double)attrs->c_in * (double)attrs->c_out / 4;
    state->kernels = prepare->kernels->gemm_int8;
    state->row_bytes = int8_n_quads(attrs->c_in) * INT8_QUAD * int8_a_size(attrs);
    state->by_rows = n_row_parts > n_groups;
    state->n_parts =
        thread_pool_n_parts(prepare->pool, work, state->by_rows ? n_row_parts : n_groups);
    state->tile_rows =
        int8_tile_rows(state->kernels, state->by_rows ? state->m / state->n_parts : state->m,
                       int8_n_quads(attrs->c_in), work);
    if (state->row_bytes == attrs->c_in)
        return true;
    return checked_mul(state->m, state->row_bytes, &prepare->made.scratch_bytes) ||
           fail_memory(prepare->err, SIZE_MAX);
}

static void run_part(void *context, size_t part, size_t n_parts)
{
    const struct step *step = context;
    const struct int8_convolution_attrs *attrs = step->op->attrs;
    const struct matmul_state *state = step->state;
    size_t n_groups = int8_n_groups(attrs->c_out), size = dtype_size(step->out[0]->dtype);
    size_t first = state->by_rows ? state->m * part / n_parts : 0;
    size_t end = state->by_rows ? state->m * (part + 1) / n_parts : state->m;
    bool is_copied = state->row_bytes != attrs->c_in;
    const uint8_t *rows = is_copied ? step->scratch : step->in[0]->data;
    const uint8_t *a = rows + first * state->row_bytes;
    struct int8_product product = {
        .m = end - first,
        .n = attrs->c_out,
        .n_segments = 1,
        .n_quads = int8_n_quads(attrs->c_in),
        .begin = state->by_rows ? 0 : n_groups * part / n_parts,
        .end = state->by_rows ? n_groups : n_groups * (part + 1) / n_parts,
        .tile_rows = state->tile_rows,
        .a = &a,
        .lda = state->row_bytes,
        .b = attrs->filters,
        .has_words = attrs->has_words,
        .excess = attrs->excess,
        .start = attrs->start,
        .to = attrs->to,
        .requantization = attrs->requantization,
        .c = (char *)step->out[0]->data + first * attrs->c_out * size,
        .ldc = attrs->c_out,
    };
    int8_multiply(state->kernels, &product);
}

/* Copies the rows and pads each with zeros to whole quads, like the packed matrix. Widens bytes to
 * 16-bit words if has_words is set. */
static void copy_rows(const struct step *step)
{
    const struct int8_convolution_attrs *attrs = step->op->attrs;
    const struct matmul_state *state = step->state;
    uint8_t *to = step->scratch;
    for (size_t i = 0; i < state->m; i++, to += state->row_bytes) {
        const uint8_t *from = (const uint8_t *)step->in[0]->data + i * attrs->c_in;
        size_t n = attrs->c_in * int8_a_size(attrs);
        int8_copy(state->kernels, attrs->has_words, from, attrs->c_in, to);
        memset(to + n, 0, state->row_bytes - n);
    }
}

static void run(const struct step *step)
{
    const struct int8_convolution_attrs *attrs = step->op->attrs;
    const struct matmul_state *state = step->state;
    if (state->row_bytes != attrs->c_in)
        copy_rows(step);
    thread_pool_run(step->pool, run_part, (void *)step, state->n_parts);
}

static double flops(const struct op *op, struct irrun_tensor *const *in,
                    struct irrun_tensor *const *out)
{
    (void)in;
    const struct int8_convolution_attrs *attrs = op->attrs;
    return 2 * cost_n(out[0]) * (double)attrs->c_in;
}

const struct op_def op_int8_matmul = {
    .type = "MatMul",
    OP_ONE_INPUT("data", TYPE_BIT(IRRUN_U8)),
    .attrs_size = sizeof(struct int8_convolution_attrs),
    .state_size = sizeof(struct matmul_state),
    .flops = flops,
    .infer = infer,
    .prepare = prepare,
    .compute = run,
};
