/* ScaledDotProductAttention-13: softmax(query * key^T * scale + mask) * value. Computes a few rows
 * at a time, so that the matrix of all scores is never stored.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/checked.h"
#include "kernels/attention.h"
#include "ops/cost.h"
#include "ops/product_batch.h"
#include "tensor/broadcast.h"

enum { QUERY, KEY, VALUE, MASK, SCALE, SINK, N_INPUTS };
/* The operands of attention_state.batches, whose elements are matrices. */
enum { OUT_MATRIX, QUERY_MATRIX, KEY_MATRIX, VALUE_MATRIX, MASK_MATRIX, SINK_MATRIX, N_OPERANDS };
enum { ROWS, COLUMNS };
#define MIN_ROWS 16            /* queries per block, unless there are fewer */
#define SCORES_AT_A_TIME 65536 /* 256 KB of f32: half of an L2 cache */

struct attention_attrs {
    bool causal;
};

struct attention_state {
    size_t n_queries, n_keys, head_size, value_head_size;
    size_t n_rows; /* queries computed at a time */
    struct broadcast batches;
    enum attention_mask kind;
    size_t mask_elements, mask_row_stride, mask_stride; /* strides between rows and columns */
    size_t sink_elements, sink_row_stride;
    struct product qk, av; /* scores = query * key^T, and output = softmax(scores) * value */
    struct matrices key, value;
    size_t n_group_queries;     /* output matrices of one query each that are computed as one */
    size_t n_matrices, n_parts; /* matrices of the output; parts for the thread pool */
    size_t scores_bytes;        /* in scratch memory; packed keys and values follow */
    size_t part_bytes;          /* scratch memory per part */
    attention_fn *mask_and_softmax;
    softmax_f32_fn *softmax; /* used for f32 without a sink; otherwise NULL */
};

static const struct attr_def attr_table[] = {ATTR(struct attention_attrs, causal, NULL)};

static const struct op_input_def inputs[] = {
    {"query", .types = TYPES_FLOAT, .same = 1},
    {"key", .types = TYPES_FLOAT, .same = 1},
    {"value", .types = TYPES_FLOAT, .same = 1},
    {"attention_mask", .types = TYPES_FLOAT | TYPES_BOOLEAN, .is_optional = true},
    {"scale", .types = TYPES_FLOAT, .same = 1, .is_optional = true},
    {"sink", .types = TYPES_FLOAT, .same = 1, .is_optional = true},
};

/* ---- infer -------------------------------------------------------------------------------- */

/* Splits a shape into its batch dimensions, which it returns, and the rows and columns of a matrix.
 * Shapes of fewer than two dimensions get leading ones. */
static struct irrun_shape split_matrix(const struct irrun_shape *shape, int64_t *rows,
                                       int64_t *columns)
{
    *rows = shape->rank > 1 ? shape->dims[shape->rank - 2] : 1;
    *columns = shape->rank > 0 ? shape->dims[shape->rank - 1] : 1;
    return shape_of(shape->rank > 2 ? shape->rank - 2 : 0, shape->dims);
}

/* Broadcasts the batch dimensions of input i with those of the output. */
static bool add_batches(struct infer *infer, uint32_t i, const struct irrun_shape *batches,
                        struct irrun_shape *out)
{
    return shape_broadcast(out, batches, out) ||
           infer_fail_input(infer, i,
                            "leading dimensions that broadcast with those of the inputs before it");
}

static bool infer_products(struct infer *infer, struct irrun_shape batches[N_INPUTS])
{
    struct attention_state *state = infer->state;
    int64_t sizes[3][2];
    for (uint32_t i = QUERY; i <= VALUE; i++) {
        if (infer->in[i]->shape.rank < 2)
            return infer_fail_input(infer, i, "at least 2 dimensions");
        batches[i] = split_matrix(&infer->in[i]->shape, &sizes[i][ROWS], &sizes[i][COLUMNS]);
    }
    if (sizes[KEY][COLUMNS] != sizes[QUERY][COLUMNS])
        return infer_fail_input(infer, KEY, "a last dimension of %lld",
                                (long long)sizes[QUERY][COLUMNS]);
    if (sizes[VALUE][ROWS] != sizes[KEY][ROWS]) {
        infer_fail_input(infer, VALUE, "%lld rows", (long long)sizes[KEY][ROWS]);
        return infer_hint_input(infer, KEY);
    }
    state->n_queries = (size_t)sizes[QUERY][ROWS];
    state->n_keys = (size_t)sizes[KEY][ROWS];
    state->head_size = (size_t)sizes[QUERY][COLUMNS];
    state->value_head_size = (size_t)sizes[VALUE][COLUMNS];
    return true;
}

static bool infer_mask(struct infer *infer, struct irrun_shape *batches)
{
    struct attention_state *state = infer->state;
    bool causal = ((const struct attention_attrs *)infer->attrs)->causal;
    state->kind = causal ? ATTENTION_CAUSAL : ATTENTION_ALL;
    if (causal || infer->n_inputs <= MASK)
        return true;
    enum irrun_dtype dtype = infer->in[MASK]->dtype;
    if (dtype != IRRUN_BOOLEAN && dtype != infer->in[QUERY]->dtype)
        return infer_fail_input(infer, MASK, "boolean or %s",
                                irrun_dtype_name(infer->in[QUERY]->dtype));
    int64_t rows, columns, n_queries = (int64_t)state->n_queries, n_keys = (int64_t)state->n_keys;
    *batches = split_matrix(&infer->in[MASK]->shape, &rows, &columns);
    if ((rows != 1 && rows != n_queries) || (columns != 1 && columns != n_keys))
        return infer_fail_input(infer, MASK, "a shape that broadcasts to [...,%lld,%lld]",
                                (long long)n_queries, (long long)n_keys);
    state->kind = dtype == IRRUN_BOOLEAN ? ATTENTION_BOOLEAN : ATTENTION_ADDITIVE;
    state->mask_elements = (size_t)(rows * columns);
    state->mask_row_stride = rows == 1 ? 0 : (size_t)columns;
    state->mask_stride = columns == 1 ? 0 : 1;
    return true;
}

static bool infer_scalars(struct infer *infer, struct irrun_shape *sink_batches)
{
    struct attention_state *state = infer->state;
    if (infer->n_inputs > SCALE && shape_n_elements(&infer->in[SCALE]->shape) != 1)
        return infer_fail_input(infer, SCALE, "one number");
    if (infer->n_inputs <= SINK)
        return true;
    int64_t rows, columns;
    *sink_batches = split_matrix(&infer->in[SINK]->shape, &rows, &columns);
    if (columns != 1 || (rows != 1 && rows != (int64_t)state->n_queries))
        return infer_fail_input(infer, SINK, "a shape that broadcasts to [...,%zu,1]",
                                state->n_queries);
    state->sink_elements = (size_t)rows;
    state->sink_row_stride = rows != 1;
    return true;
}

static bool infer(struct infer *infer)
{
    struct attention_state *state = infer->state;
    struct irrun_shape batches[N_INPUTS] = {{0}}, all = {0};
    if (!infer_products(infer, batches) || !infer_mask(infer, &batches[MASK]) ||
        !infer_scalars(infer, &batches[SINK]))
        return false;
    for (uint32_t i = 0; i < infer->n_inputs && i < N_INPUTS; i++)
        if (!add_batches(infer, i, &batches[i], &all))
            return false;
    state->n_matrices = (size_t)shape_n_elements(&all);
    struct irrun_shape out = all;
    out.dims[out.rank++] = (int64_t)state->n_queries;
    out.dims[out.rank++] = (int64_t)state->value_head_size;
    if (!infer_output(infer, 0, infer->in[QUERY]->dtype, &out))
        return false;
    const struct irrun_shape *shapes[] = {
        &all, &batches[QUERY], &batches[KEY], &batches[VALUE], &batches[MASK], &batches[SINK]};
    return broadcast_plan(&state->batches, N_OPERANDS, shapes, infer->arena, infer->err);
}

/* ---- prepare and run ---------------------------------------------------------------------- */

/* Returns how many consecutive output matrices read the same keys, values and mask. If each has one
 * query, they are computed as rows of one product, which reads the keys and values once. */
static size_t count_group_queries(const struct attention_state *state)
{
    size_t n = state->key.repeats, matrix[BROADCAST_MAX_OPERANDS], mask = 0;
    if (state->n_queries != 1 || n != state->value.repeats || state->n_matrices % n != 0 ||
        state->kind == ATTENTION_CAUSAL || state->sink_elements)
        return 1;
    for (size_t i = 0; i < state->n_matrices; i++) {
        broadcast_offsets(&state->batches, i, matrix);
        if (i % n == 0)
            mask = matrix[MASK_MATRIX];
        if (matrix[QUERY_MATRIX] != i || matrix[KEY_MATRIX] != i || matrix[VALUE_MATRIX] != i ||
            matrix[MASK_MATRIX] != mask)
            return 1;
    }
    return n;
}

/* Returns whether the mask is constant and adds 0 to all scores. */
static bool mask_adds_nothing(const struct prepare *prepare)
{
    if (((const struct attention_state *)prepare->state)->kind != ATTENTION_ADDITIVE ||
        !prepare->in[MASK]->data)
        return false;
    size_t n = (size_t)shape_n_elements(&prepare->in[MASK]->shape), i = 0;
    while (i < n && element_as_f64(prepare->in[MASK]->dtype, prepare->in[MASK]->data, i) == 0)
        i++;
    return i == n;
}

/* Plans the products, divides the matrices among threads, and requests scratch memory for the
 * scores and products of each part. */
static bool prepare_products(struct prepare *prepare)
{
    struct attention_state *state = prepare->state;
    enum irrun_dtype dtype = prepare->in[QUERY]->dtype;
    size_t m = state->n_rows, n_keys = state->n_keys;
    size_t n_groups = state->n_matrices / state->n_group_queries;
    double n_row_blocks =
        (double)n_groups * (double)(state->n_queries * state->n_group_queries) / (double)m;
    if (!checked_mul(m * n_keys, dtype_size(dtype), &state->scores_bytes) ||
        state->scores_bytes > PTRDIFF_MAX)
        return fail_memory(prepare->err, SIZE_MAX);
    state->scores_bytes = align_to_line(state->scores_bytes);
    state->qk = (struct product){
        .m = m, .n = n_keys, .k = state->head_size, .b_transposed = true, .dtype = dtype};
    state->av = (struct product){.m = m, .n = state->value_head_size, .k = n_keys, .dtype = dtype};
    if (!product_plan(prepare, &state->qk) || !product_plan(prepare, &state->av))
        return false;
    state->n_parts = thread_pool_n_parts(
        prepare->pool, n_row_blocks * (product_work(&state->qk) + product_work(&state->av)),
        n_groups);
    state->part_bytes = state->scores_bytes + state->qk.b_bytes + state->av.b_bytes;
    return prepare_scratch(prepare, state->n_parts, state->part_bytes);
}

static bool prepare(struct prepare *prepare)
{
    struct attention_state *state = prepare->state;
    const struct kernels *kernels = prepare->kernels;
    enum irrun_dtype dtype = prepare->in[QUERY]->dtype;
    if (shape_n_elements(&prepare->out[0]->shape) == 0)
        return true;
    if (mask_adds_nothing(prepare))
        state->kind = ATTENTION_ALL;
    state->key = prepare_matrices(prepare, KEY, state->n_keys * state->head_size);
    state->value = prepare_matrices(prepare, VALUE, state->n_keys * state->value_head_size);
    state->n_group_queries = count_group_queries(state);
    size_t n_queries = state->n_queries * state->n_group_queries;
    size_t n = state->n_keys ? SCORES_AT_A_TIME / state->n_keys : n_queries;
    n = n < MIN_ROWS ? MIN_ROWS : n;
    state->n_rows = n < n_queries ? n : n_queries;
    state->mask_and_softmax = attention_scalar(dtype);
    state->softmax = dtype == IRRUN_F32 && !state->sink_elements ? kernels->softmax_f32 : NULL;
    return prepare_products(prepare);
}

static double find_scale(const struct step *step)
{
    const struct attention_state *state = step->state;
    if (step->n_inputs > SCALE)
        return element_as_f64(step->in[SCALE]->dtype, step->in[SCALE]->data, 0);
    return 1 / sqrt((double)state->head_size);
}

static void mask_and_softmax(const struct attention_state *state, const struct attention_rows *rows,
                             void *scores)
{
    if (!state->softmax) {
        state->mask_and_softmax(rows, scores);
        return;
    }
    float scale = (float)rows->scale;
    if (rows->kind != ATTENTION_ALL) {
        attention_mask_f32(rows, scores); /* also applies the scale */
        scale = 1;
    }
    state->softmax(&(struct softmax){rows->n_rows, rows->n, 1, false, scale}, scores, scores);
    attention_zero_hidden_rows_f32(rows, scores);
}

/* Computes one output matrix, or a group of output matrices that share keys and values. matrix[i]
 * is the index of the first matrix in operand i of `batches`. */
static void attend(const struct step *step, const size_t *matrix, char *memory)
{
    const struct attention_state *s = step->state;
    size_t size = dtype_size(step->in[QUERY]->dtype), n_queries = s->n_queries * s->n_group_queries;
    const char *query = step->in[QUERY]->data;
    const char *key = step->in[KEY]->data, *value = step->in[VALUE]->data;
    const char *mask = s->mask_elements ? step->in[MASK]->data : NULL;
    const char *sink = s->sink_elements ? step->in[SINK]->data : NULL;
    char *out = step->out[0]->data;
    size_t mask_size = s->kind == ATTENTION_BOOLEAN ? 1 : size;
    char *keys = memory + s->scores_bytes, *values = keys + s->qk.b_bytes;
    void *scores = memory;
    struct attention_rows rows = {
        .n = s->n_keys,
        .scale = find_scale(step),
        .kind = s->kind,
        .mask_row_stride = s->mask_row_stride,
        .mask_stride = s->mask_stride,
        .sink_row_stride = s->sink_row_stride,
    };
    out += matrix[OUT_MATRIX] * s->n_queries * s->value_head_size * size;
    query += matrix[QUERY_MATRIX] * s->n_queries * s->head_size * size;
    key += matrix[KEY_MATRIX] / s->key.repeats * s->key.stride * size;
    value += matrix[VALUE_MATRIX] / s->value.repeats * s->value.stride * size;
    struct panel_range qk_panels = product_all_panels(&s->qk);
    struct panel_range av_panels = product_all_panels(&s->av);
    product_pack_b(&s->qk, key, qk_panels, keys);
    product_pack_b(&s->av, value, av_panels, values);
    for (size_t first = 0; first < n_queries; first += s->n_rows) {
        size_t n = n_queries - first < s->n_rows ? n_queries - first : s->n_rows;
        const struct product_rows for_qk = {
            .m = n, .a = query + first * s->head_size * size, .b = key, .c = scores};
        const struct product_rows for_av = {
            .m = n, .a = scores, .b = value, .c = out + first * s->value_head_size * size};
        rows.first_row = first;
        rows.n_rows = n;
        if (mask)
            rows.mask =
                mask +
                (matrix[MASK_MATRIX] * s->mask_elements + first * s->mask_row_stride) * mask_size;
        if (sink)
            rows.sink =
                sink + (matrix[SINK_MATRIX] * s->sink_elements + first * s->sink_row_stride) * size;
        product_run(&s->qk, &for_qk, qk_panels, keys, NULL);
        mask_and_softmax(s, &rows, scores);
        product_run(&s->av, &for_av, av_panels, values, NULL);
    }
}

static void attend_part(void *context, size_t part, size_t n_parts)
{
    const struct step *step = context;
    const struct attention_state *state = step->state;
    size_t n = state->n_matrices / state->n_group_queries, matrix[BROADCAST_MAX_OPERANDS];
    for (size_t i = n * part / n_parts; i < n * (part + 1) / n_parts; i++) {
        broadcast_offsets(&state->batches, i * state->n_group_queries, matrix);
        attend(step, matrix, (char *)step->scratch + part * state->part_bytes);
    }
}

static void run(const struct step *step)
{
    const struct attention_state *state = step->state;
    if (shape_n_elements(&step->out[0]->shape) > 0)
        thread_pool_run(step->pool, attend_part, (void *)step, state->n_parts);
}

/* Counts the products by the keys and by the values. */
static double flops(const struct op *op, struct irrun_tensor *const *in,
                    struct irrun_tensor *const *out)
{
    const struct irrun_shape *key = &in[1]->shape;
    (void)op;
    return key->rank < 2 ? 0
                         : 2 * (double)key->dims[key->rank - 2] * (cost_n(in[0]) + cost_n(out[0]));
}

const struct op_def op_scaled_dot_product_attention = {
    .type = "ScaledDotProductAttention",
    .opset = 13,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct attention_attrs),
    .state_size = sizeof(struct attention_state),
    .strided_inputs = 1 << KEY | 1 << VALUE,
    .infer = infer,
    .prepare = prepare,
    .compute = run,
    .flops = flops,
};
