/* MatMul by a compressed constant. For few rows of A the constant is expanded in registers. For
 * more, it is expanded panel by panel, and each is multiplied by all rows; a small constant is then
 * expanded only once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/compressed_ops.h"

#include "base/checked.h"
#include "ops/cost.h"
#include "ops/prepacked_matrix.h"

#define EXPANDED_ONCE ((size_t)1 << 20) /* bytes */

#define CUT_ROWS 64    /* rows of the matrix: parts are multiples of this */
#define SLICE_ROWS 512 /* rows that are multiplied before their epilogue runs */
#define SLICE_K 256    /* elements that are expanded at a time, of PANEL_GROUP rows */

struct matmul_state {
    struct compressed_matrix matrix;
    const struct compressed_kernels *kernels;
    size_t m;
    struct packed_matrix packed; /* for many rows; data: not NULL if it is expanded once */
    size_t n_parts, part_floats; /* part_floats: of scratch memory for each part */
};

static const struct op_input_def inputs[] = {
    {"A", .types = TYPES_FLOAT},
    {"B", .types = TYPES_ANY},
    {"scale", .types = TYPES_ANY, .is_optional = true},
    {"zero point", .types = TYPES_ANY, .is_optional = true},
    {.name = NULL},
};

static bool infer(struct infer *infer)
{
    const struct compressed_attrs *attrs = infer->attrs;
    struct matmul_state *state = infer->state;
    struct irrun_shape out = infer->in[0]->shape;
    if (out.rank == 0)
        return infer_fail_input(infer, 0, "at least one dimension");
    if (infer->in[0]->dtype != attrs->dtype)
        return infer_fail_input(infer, 0, "%s, as input 1 is when it is expanded",
                                irrun_dtype_name(attrs->dtype));
    if (out.dims[out.rank - 1] != (int64_t)attrs->k) {
        infer_fail_input(infer, 1, "%lld rows, as many as input 0 has columns",
                         (long long)out.dims[out.rank - 1]);
        return infer_hint_input(infer, 0);
    }
    state->m = (size_t)shape_product(&out, 0, out.rank - 1);
    out.dims[out.rank - 1] = (int64_t)attrs->n;
    return infer_output(infer, 0, infer->in[0]->dtype, &out);
}

/* ---- panels ---- */

/* Returns the number of elements from `first` on that are expanded together: whole groups, or a
 * part of one. */
static size_t slice_of(const struct compressed_matrix *matrix, size_t first)
{
    size_t group = matrix->group, left = group - first % group;
    if (group > SLICE_K)
        return left < SLICE_K ? left : SLICE_K;
    size_t most = SLICE_K / group * group;
    return matrix->k - first < most ? matrix->k - first : most;
}

/* Expands a panel to `data`; `slice` has PANEL_GROUP * SLICE_K floats. */
static void expand_panel(const struct matmul_state *state, size_t panel, unsigned char *data,
                         float *slice)
{
    const struct compressed_matrix *matrix = &state->matrix;
    struct packed_matrix part = state->packed;
    size_t width = state->packed.width;
    for (size_t group = 0; group < width; group++) {
        size_t row = (panel * width + group) * PANEL_GROUP;
        size_t left = row < matrix->n ? matrix->n - row : 0;
        size_t n_rows = left < PANEL_GROUP ? left : PANEL_GROUP;
        for (size_t first = 0; first < matrix->k; first += part.k) {
            part.k = slice_of(matrix, first);
            for (size_t r = 0; r < n_rows; r++)
                state->kernels->expand(matrix, row + r, first, part.k, slice + r * part.k);
            packed_matrix_pack_group(&part, data + first * part.step_bytes, 0, group, slice,
                                     WEIGHTS_F32, part.k, n_rows);
        }
    }
}

static bool expand_once(struct prepare *prepare, struct matmul_state *state, size_t size_bytes)
{
    struct packed_matrix *packed = &state->packed;
    float slice[PANEL_GROUP * SLICE_K];
    bool is_new;
    unsigned char *data =
        prepare_prepacked(prepare, (uint32_t)packed->nr_groups, size_bytes, &is_new);
    for (size_t panel = 0; data && is_new && panel < packed->n_panels; panel++)
        expand_panel(state, panel, data + panel * packed->panel_bytes, slice);
    packed->data = data;
    return data != NULL;
}

static bool prepare_panels(struct prepare *prepare, struct matmul_state *state)
{
    struct packed_matrix *packed = &state->packed;
    const struct compressed_matrix *matrix = &state->matrix;
    size_t size_bytes;
    if (!packed_matrix_plan(packed, prepare->kernels->packed_gemm, matrix->k, matrix->n, state->m,
                            &size_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    if (prepare->sources && size_bytes <= EXPANDED_ONCE)
        return expand_once(prepare, state, size_bytes);
    state->part_floats = packed->panel_bytes / sizeof(float) + PANEL_GROUP * SLICE_K;
    return true;
}

/* ---- plan ---- */

static bool prepare(struct prepare *prepare)
{
    struct matmul_state *state = prepare->state;
    const struct compressed_matrix *matrix = &state->matrix;
    state->kernels = prepare->kernels->compressed_gemm;
    if (!compressed_matrix_find(prepare, &state->matrix))
        return false;
    prepare_epilogue(prepare);
    prepare->made.epilogue.bias = (struct repetition){1, matrix->n};
    if (state->m > COMPRESSED_MAX_ROWS && !prepare_panels(prepare, state))
        return false;
    double work = (double)state->m * (double)matrix->n * (double)matrix->k;
    state->n_parts =
        thread_pool_n_parts(prepare->pool, work, (matrix->n + CUT_ROWS - 1) / CUT_ROWS);
    size_t n_floats;
    bool is_few = state->m <= COMPRESSED_MAX_ROWS;
    return ((is_few ? checked_mul(state->m, compressed_row_floats(matrix), &n_floats)
                    : checked_mul(state->n_parts, state->part_floats, &n_floats)) &&
            checked_mul(n_floats, sizeof(float), &prepare->made.scratch_bytes)) ||
           fail_memory(prepare->err, SIZE_MAX);
}

/* ---- run ---- */

static void run_few(const struct step *step, size_t begin, size_t end)
{
    const struct matmul_state *state = step->state;
    const struct epilogue *epilogue = step->epilogue;
    size_t n = state->matrix.n;
    struct compressed_product product = {.matrix = &state->matrix,
                                         .m = state->m,
                                         .x = step->scratch,
                                         .start = epilogue ? epilogue->bias : NULL,
                                         .c = step->out[0]->data,
                                         .ldc = n};
    for (; begin < end; begin = product.end) {
        product.begin = begin;
        product.end = end - begin < SLICE_ROWS ? end : begin + SLICE_ROWS;
        state->kernels->multiply(&product);
        for (size_t i = 0; i < state->m; i++)
            epilogue_run(epilogue, i * n + begin, product.end - begin);
    }
}

static void run_panels(const struct step *step, size_t part, size_t begin, size_t end)
{
    const struct matmul_state *state = step->state;
    struct packed_matrix packed = state->packed;
    const struct compressed_matrix *matrix = &state->matrix;
    float *to = (float *)step->scratch + part * state->part_floats;
    struct packed_gemm product = {.m = state->m,
                                  .n = matrix->n,
                                  .a = step->in[0]->data,
                                  .lda = matrix->k,
                                  .c = step->out[0]->data,
                                  .ldc = matrix->n,
                                  .epilogue = step->epilogue};
    for (size_t panel = begin; panel < end; panel = product.end) {
        product.begin = panel;
        product.end = state->packed.data ? end : panel + 1;
        if (!state->packed.data) {
            unsigned char *data = (unsigned char *)(to + PANEL_GROUP * SLICE_K);
            expand_panel(state, panel, data, to);
            packed.data = data;
            packed.first_panel = panel;
        }
        packed_gemm(&packed, &product);
    }
}

static void run_part(void *context, size_t part, size_t n_parts)
{
    const struct step *step = context;
    const struct matmul_state *state = step->state;
    size_t n = state->matrix.n, n_cuts = (n + CUT_ROWS - 1) / CUT_ROWS;
    size_t begin = n_cuts * part / n_parts, end = n_cuts * (part + 1) / n_parts;
    if (state->m > COMPRESSED_MAX_ROWS)
        run_panels(step, part, begin, end);
    else
        run_few(step, begin * CUT_ROWS, end * CUT_ROWS < n ? end * CUT_ROWS : n);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct matmul_state *state = step->state;
    const struct compressed_matrix *matrix = &state->matrix;
    const float *x = step->in[0]->data;
    if (state->m == 0)
        return true;
    for (size_t i = 0; state->m <= COMPRESSED_MAX_ROWS && i < state->m; i++)
        state->kernels->arrange(matrix, x + i * matrix->k,
                                (float *)step->scratch + i * compressed_row_floats(matrix));
    if (state->n_parts == 1)
        run_part((void *)step, 0, 1);
    else
        thread_pool_run(step->pool, run_part, (void *)step, state->n_parts);
    return true;
}

static double flops(const struct op *op, struct irrun_tensor *const *in,
                    struct irrun_tensor *const *out)
{
    (void)in;
    return 2 * cost_n(out[0]) * (double)((const struct compressed_attrs *)op->attrs)->k;
}

const struct op_def op_compressed_matmul = {
    .type = "MatMul",
    .opset = 1,
    .inputs = inputs,
    .n_outputs = 1,
    .attrs_size = sizeof(struct compressed_attrs),
    .state_size = sizeof(struct matmul_state),
    .infer = infer,
    .prepacks = compressed_prepacks,
    .prepare = prepare,
    .run = run,
    .flops = flops,
};
