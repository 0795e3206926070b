/* MatMul by a compressed constant. If A has few rows, the constant is expanded in registers.
 * Otherwise, parts of its panels are expanded to memory that stays in the cache, and each part is
 * multiplied by all rows of A; a small constant is expanded once, by prepare.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/compressed_ops.h"

#include "base/checked.h"
#include "ops/cost.h"
#include "ops/prepacked_matrix.h"

#define EXPAND_ONCE_MAX_BYTES ((size_t)1 << 20) /* largest expanded matrix */

/* Few rows of A: two calls of COMPRESSED_MAX_ROWS. Reading the constant in place is faster for up
 * to 12 rows at all levels, expanding it to panels for more. */
#define MAX_FEW_ROWS 8

#define UNIT_ROWS 64   /* for few rows of A: rows of the constant per unit of work */
#define CHUNK_ROWS 512 /* for few rows of A: rows of the constant per run of the epilogue */

/* A slice is the part of a row that is expanded at a time: at most SLICE_K elements. A slice of a
 * panel of 96 columns then takes 192 KB and stays in a cache of 256 KB; larger caches also hold the
 * rows of A. */
#define SLICE_K 512
#define SLICE_UNIT 64 /* slice lengths are multiples of this: whole cache lines in every type */

struct matmul_state {
    struct compressed_matrix matrix;
    const struct compressed_kernels *kernels;
    size_t m;                    /* rows of A */
    struct packed_matrix packed; /* for many rows of A: the constant expanded, or a slice of it */
    size_t n_units;              /* units of UNIT_ROWS rows of the constant, or of one panel */
    size_t n_parts, part_bytes;  /* part_bytes: scratch memory; 0 if prepare expands the constant */
};

static bool has_few_rows(const struct matmul_state *state)
{
    return state->m <= MAX_FEW_ROWS;
}

const struct op_input_def compressed_matmul_inputs[4] = {
    {"A", .types = TYPES_FLOAT},
    {"B", .types = TYPES_ANY},
    {"scale", .types = TYPES_ANY, .is_optional = true},
    {"zero point", .types = TYPES_ANY, .is_optional = true},
};

bool compressed_matmul_infer(struct infer *infer, size_t *m)
{
    const struct compressed_attrs *attrs = infer->attrs;
    struct irrun_shape out = infer->in[0]->shape;
    if (out.rank == 0)
        return infer_fail_input(infer, 0, "at least one dimension");
    if (infer->in[0]->dtype != attrs->dtype)
        return infer_fail_input(infer, 0, "%s, the type of input 1 after expansion",
                                irrun_dtype_name(attrs->dtype));
    if (out.dims[out.rank - 1] != (int64_t)attrs->k)
        return infer_fail_input(infer, 1, "%lld rows to match the columns of input 0",
                                (long long)out.dims[out.rank - 1]);
    *m = (size_t)shape_product(&out, 0, out.rank - 1);
    out.dims[out.rank - 1] = (int64_t)attrs->n;
    return infer_output(infer, 0, infer->in[0]->dtype, &out);
}

static bool infer(struct infer *infer)
{
    struct matmul_state *state = infer->state;
    return compressed_matmul_infer(infer, &state->m);
}

/* ---- panels ---- */

/* Returns the number of elements per slice for rows of k elements. */
static size_t slice_elements(size_t k)
{
    size_t n_slices = divide_up(k, SLICE_K);
    return n_slices > 1 ? divide_up(divide_up(k, n_slices), SLICE_UNIT) * SLICE_UNIT : k;
}

/* Expands elements first … first + n - 1 of each row of a panel. */
static void expand_panel(const struct matmul_state *state, size_t panel, size_t first, size_t n,
                         unsigned char *data)
{
    const struct compressed_matrix *matrix = &state->matrix;
    const struct packed_matrix *packed = &state->packed;
    size_t row_bytes = compressed_bytes(matrix, matrix->k), width = packed->width;
    size_t group_bytes = PANEL_GROUP * row_bytes;
    /* The prefetch distance from the last group of this slice to the first group of the next. */
    size_t to_slice = compressed_bytes(matrix, n) - (width - 1) * group_bytes;
    for (size_t group = 0; group < width; group++)
        state->kernels->expand_columns(&(struct compressed_columns){
            .matrix = matrix,
            .row = (panel * width + group) * PANEL_GROUP,
            .first = first,
            .n = n,
            .to = (float *)(data + group / packed->nr_groups * packed->micropanel_bytes) +
                  group % packed->nr_groups * PANEL_GROUP,
            .step = packed->nr_groups * PANEL_GROUP,
            .ahead = group + 1 < width || first + n == matrix->k ? group_bytes : to_slice,
        });
}

static bool expand_once(struct prepare *prepare, struct matmul_state *state, size_t size_bytes)
{
    struct packed_matrix *packed = &state->packed;
    bool is_new;
    unsigned char *data =
        prepare_prepacked(prepare, (uint32_t)packed->nr_groups, size_bytes, &is_new);
    for (size_t panel = 0; data && is_new && panel < packed->n_panels; panel++)
        expand_panel(state, panel, 0, packed->k, data + panel * packed->panel_bytes);
    packed->data = data;
    return data != NULL;
}

static bool prepare_panels(struct prepare *prepare, struct matmul_state *state)
{
    struct packed_matrix *packed = &state->packed;
    const struct compressed_matrix *matrix = &state->matrix;
    const struct gemm_microkernels *kernels = prepare->kernels->packed_gemm;
    size_t size_bytes;
    if (!packed_matrix_plan(packed, kernels, matrix->k, matrix->n, state->m, &size_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    bool is_folding = !prepare->sources; /* then prepare cannot prepack */
    if (!is_folding && size_bytes <= EXPAND_ONCE_MAX_BYTES)
        return expand_once(prepare, state, size_bytes);
    *packed =
        (struct packed_matrix){.k = slice_elements(matrix->k),
                               .width = PANEL_MAX_WIDTH,
                               .n_panels = divide_up(matrix->n, PANEL_MAX_WIDTH * PANEL_GROUP)};
    if (!packed_matrix_layout(packed, kernels, state->m, &size_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    state->part_bytes = packed->panel_bytes;
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
    if (!has_few_rows(state) && !prepare_panels(prepare, state))
        return false;
    double work = (double)state->m * (double)matrix->n * (double)matrix->k;
    state->n_units = has_few_rows(state) ? divide_up(matrix->n, UNIT_ROWS) : state->packed.n_panels;
    state->n_parts = thread_pool_n_parts(prepare->pool, work, state->n_units);
    return has_few_rows(state)
               ? prepare_scratch(prepare, compressed_row_floats(matrix), state->m * sizeof(float))
               : prepare_scratch(prepare, state->n_parts, state->part_bytes);
}

/* ---- run ---- */

static void run_few_rows(const struct step *step, size_t begin, size_t end)
{
    const struct matmul_state *state = step->state;
    const struct epilogue *epilogue = step->epilogue;
    size_t n = state->matrix.n;
    size_t row_floats = compressed_row_floats(&state->matrix);
    struct compressed_product product = {
        .matrix = &state->matrix, .start = epilogue ? epilogue->bias : NULL, .ldc = n};
    for (; begin < end; begin = product.end) {
        product.begin = begin;
        product.end = end - begin < CHUNK_ROWS ? end : begin + CHUNK_ROWS;
        for (size_t i = 0; i < state->m; i += product.m) {
            product.m = state->m - i < COMPRESSED_MAX_ROWS ? state->m - i : COMPRESSED_MAX_ROWS;
            product.x = (const float *)step->scratch + i * row_floats;
            product.c = (float *)step->out[0]->data + i * n;
            state->kernels->multiply(&product);
        }
        for (size_t i = 0; i < state->m; i++)
            epilogue_run(epilogue, i * n + begin, product.end - begin);
    }
}

/* Multiplies by the panels if prepare has expanded them. Otherwise, expands each panel slice by
 * slice and multiplies by every slice. */
static void run_panels(const struct step *step, size_t part, size_t begin, size_t end)
{
    const struct matmul_state *state = step->state;
    const struct compressed_matrix *matrix = &state->matrix;
    const float *x = step->in[0]->data;
    struct packed_gemm product = {.begin = begin,
                                  .end = end,
                                  .m = state->m,
                                  .n = matrix->n,
                                  .a = x,
                                  .lda = matrix->k,
                                  .c = step->out[0]->data,
                                  .ldc = matrix->n,
                                  .epilogue = step->epilogue};
    if (state->part_bytes == 0) {
        packed_gemm(&state->packed, &product);
        return;
    }
    struct epilogue bias = {.bias = step->epilogue ? step->epilogue->bias : NULL};
    unsigned char *data = (unsigned char *)step->scratch + part * state->part_bytes;
    struct packed_matrix slice = state->packed;
    slice.data = data;
    for (size_t panel = begin; panel < end; panel++) {
        slice.first_panel = product.begin = panel;
        product.end = panel + 1;
        for (size_t first = 0; first < matrix->k; first += slice.k) {
            size_t left = matrix->k - first;
            slice.k = left < state->packed.k ? left : state->packed.k;
            expand_panel(state, panel, first, slice.k, data);
            product.a = x + first;
            product.is_added = first > 0;
            product.epilogue = left == slice.k ? step->epilogue : &bias;
            packed_gemm(&slice, &product);
        }
    }
}

static void run_part(void *context, size_t part, size_t n_parts)
{
    const struct step *step = context;
    const struct matmul_state *state = step->state;
    size_t n = state->matrix.n;
    size_t begin = state->n_units * part / n_parts, end = state->n_units * (part + 1) / n_parts;
    if (!has_few_rows(state))
        run_panels(step, part, begin, end);
    else
        run_few_rows(step, begin * UNIT_ROWS, end * UNIT_ROWS < n ? end * UNIT_ROWS : n);
}

static void run(const struct step *step)
{
    const struct matmul_state *state = step->state;
    const struct compressed_matrix *matrix = &state->matrix;
    const float *x = step->in[0]->data;
    if (state->m == 0)
        return;
    for (size_t i = 0; has_few_rows(state) && i < state->m; i++)
        state->kernels->arrange(matrix, state->m == 1, x + i * matrix->k,
                                (float *)step->scratch + i * compressed_row_floats(matrix));
    if (state->n_parts == 1)
        run_part((void *)step, 0, 1);
    else
        thread_pool_run(step->pool, run_part, (void *)step, state->n_parts);
}

double compressed_matmul_flops(const struct op *op, struct irrun_tensor *const *in,
                               struct irrun_tensor *const *out)
{
    (void)in;
    return 2 * cost_n(out[0]) * (double)((const struct compressed_attrs *)op->attrs)->k;
}

const struct op_def op_compressed_matmul =
    COMPRESSED_MATMUL(struct matmul_state, infer, prepare, run);
